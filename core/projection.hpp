// Projects y on { A_U'(s o y) = 0 } within dom phi*, for the unpenalised columns U:
//
//     min sum_i s_i ||y'_i - y_i||^2 / 2    gives    y' = proj(y - A_U V),    proj on dom phi*,
//
// with V, k numbers for each column, from Newton's method; conjugate gradients solve its linear systems. The
// derivative of proj has the form of a curvature (see LossSum::inside).
//
// 0 is feasible, so the projection exists. The number of products is limited; near the optimum few are
// needed, because phi'(A x) already has small slopes there.
#pragma once
#include "core/open_columns.hpp"
#include <functional>

namespace southwell {

class Projection {
public:
  // `hurry` is called between products; true ends the work early.
  Projection(const LinearProblem& problem, std::function<bool()> hurry)
      : problem_(problem), hurry_(std::move(hurry)), k_(std::size_t(problem.width())) {}

  // Moves y. `columns` are those that may be among U; vectors over them have k numbers each.
  // `precondition(r, out)` is about (A'diag(s) A)^-1 r for these columns, `unpenalised(j, z)` says whether a
  // slope of column j must still vanish, and it counts as zero within `tolerance(j)`.
  template <class Precondition, class Unpenalised, class Tolerance>
  void operator()(Vec y, const OpenColumns& columns, Precondition&& precondition, Unpenalised&& unpenalised,
                  Tolerance&& tolerance) {
    columns_ = &columns;
    const std::size_t d = columns.names().size() * k_;
    std::vector<Real> z(d);
    start_.assign(y.begin(), y.end());
    shift_.assign(d, 0.0);
    member_.assign(d, 0);
    along_.resize(y.size());
    inside_.resize(y.size());
    refresh(y, z);
    Index members = 0, left = most_products;
    for (int newton = 0; newton < 10 && left > 0; ++newton) {
      bool done = true;
      for (std::size_t e = 0; e < d; ++e) { // the set only grows, or features could alternate
        const Index j = columns.names()[e / k_];
        if (!member_[e] && unpenalised(j, z[e])) member_[e] = ++members > 0;
        done = done && !(member_[e] && std::abs(z[e]) > tolerance(j));
      }
      if (done || hurry_()) return;
      left -= solve(z, precondition, std::min(left, 3 * members + 10));
      refresh(y, z);
    }
  }

private:
  static constexpr Index most_products = 100;

  // Computes y = proj(start - A shift), how proj moves there, and the slopes.
  void refresh(Vec y, Vec z) {
    columns_->apply(shift_, along_);
    for (std::size_t e = 0; e < y.size(); ++e) y[e] = start_[e] - along_[e];
    problem_.losses().into_domain(y);
    problem_.losses().inside(y, inside_);
    std::copy(y.begin(), y.end(), along_.begin());
    problem_.weigh(along_);
    columns_->adjoint(along_, z);
  }

  // shift += (A_U' diag(inside) A_U)^-1 z_U, by preconditioned conjugate gradients. Returns the steps taken.
  template <class Precondition> Index solve(CVec z, Precondition&& precondition, Index most) {
    const std::size_t d = z.size();
    std::vector<Real> residual(d), direction(d), image(d), scaled(d);
    const auto scale = [&] { // returns <residual, scaled>
      precondition(residual, scaled);
      Real total = 0;
      for (std::size_t e = 0; e < d; ++e) total += residual[e] * (scaled[e] *= member_[e]);
      return total;
    };
    for (std::size_t e = 0; e < d; ++e) residual[e] = member_[e] ? z[e] : 0;
    if (problem_.losses().coupled()) centre(residual);
    Real rho = scale();
    direction = scaled;
    const Real goal = rho * 1e-28;
    Index steps = 0;
    for (; steps < most && rho > goal && rho > 0 && !hurry_(); ++steps) {
      columns_->apply(direction, along_);
      problem_.losses().bend(inside_, along_, along_);
      columns_->adjoint(along_, image);
      Real bend = 0;
      for (std::size_t e = 0; e < d; ++e) bend += direction[e] * image[e];
      if (!(bend > 0)) break;
      for (std::size_t e = 0; e < d; ++e) {
        if (!member_[e]) continue;
        shift_[e] += rho / bend * direction[e];
        residual[e] -= rho / bend * image[e];
      }
      const Real next = scale();
      for (std::size_t e = 0; e < d; ++e) direction[e] = scaled[e] + next / rho * direction[e];
      rho = next;
    }
    return std::max<Index>(steps, 1);
  }

  // Where margins compete, slopes of a column sum to zero; what rounding leaves of the sum no step can
  // change.
  void centre(Vec slopes) const {
    for (std::size_t e = 0; e < slopes.size(); e += k_) {
      const Vec own = slopes.subspan(e, k_);
      const Real mean = std::reduce(own.begin(), own.end()) / Real(k_);
      for (Real& v : own) v -= member_[e] ? mean : 0;
    }
  }

  const LinearProblem& problem_;
  const OpenColumns* columns_ = nullptr;
  std::function<bool()> hurry_;
  std::size_t k_; // numbers for each column
  std::vector<Real> start_, shift_, along_, inside_;
  std::vector<char> member_;
};

} // namespace southwell
