// Projects y on { A_U'(s o y) = 0 } within dom phi*, for the unpenalised columns U:
//
//     min sum_i s_i (y'_i - y_i)^2 / 2    gives    y' = clip(y - A_U v)
//
// with v from Newton's method; conjugate gradients solve its linear systems.
//
// 0 is feasible, so the projection exists. The number of products is limited; near the optimum few are
// needed, because phi'(A x) already has small slopes there.
#pragma once
#include "core/problem.hpp"
#include <functional>

namespace southwell {

class Projection {
public:
  // `hurry` is called between products; true ends the work early.
  Projection(const Problem& problem, std::function<bool()> hurry)
      : problem_(problem), hurry_(std::move(hurry)) {}

  // Moves y and its slopes z; `unpenalised(j, z_j)` says whether slope j must still vanish, `norms` are the
  // columns' squared norms, and a slope counts as zero within `tolerance(j)`.
  template <class Unpenalised, class Tolerance>
  void operator()(Vec y, Vec z, CVec norms, Unpenalised&& unpenalised, Tolerance&& tolerance) {
    const std::size_t d = z.size();
    start_.assign(y.begin(), y.end());
    shift_.assign(d, 0.0);
    member_.assign(d, 0);
    along_.resize(y.size());
    inside_.resize(y.size());
    refresh(y, z);
    Index members = 0, left = most_products;
    for (int newton = 0; newton < 10 && left > 0; ++newton) {
      bool done = true;
      for (std::size_t j = 0; j < d; ++j) { // the set only grows, or features could alternate
        if (!member_[j] && unpenalised(Index(j), z[j])) member_[j] = ++members > 0;
        done = done && !(member_[j] && std::abs(z[j]) > tolerance(Index(j)));
      }
      if (done || hurry_()) return;
      left -= solve(z, norms, std::min(left, 3 * members + 10));
      refresh(y, z);
    }
  }

private:
  static constexpr Index most_products = 100;

  // Computes y = clip(start - A shift), which entries are strictly inside, and the slopes.
  void refresh(Vec y, Vec z) {
    problem_.design.apply(shift_, along_);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Interval dom = problem_.loss.domain(Index(i));
      const Real value = start_[i] - along_[i];
      inside_[i] = value > dom.lo && value < dom.hi;
      y[i] = clip(value, dom);
    }
    problem_.slopes(y, z);
  }

  // shift += (A_U' diag(s inside) A_U)^-1 z_U, by conjugate gradients scaled with the norms. Returns the
  // steps taken.
  Index solve(CVec z, CVec norms, Index most) {
    const std::size_t d = z.size();
    const CVec s = problem_.loss.weights();
    std::vector<Real> residual(d), direction(d), image(d);
    const auto scaled = [&](std::size_t j) { return residual[j] / std::max(norms[j], 1e-300); };
    Real rho = 0;
    for (std::size_t j = 0; j < d; ++j) {
      residual[j] = member_[j] ? z[j] : 0;
      rho += residual[j] * (direction[j] = scaled(j));
    }
    const Real goal = rho * 1e-28;
    Index steps = 0;
    for (; steps < most && rho > goal && rho > 0 && !hurry_(); ++steps) {
      problem_.design.apply(direction, along_);
      for (std::size_t i = 0; i < along_.size(); ++i) along_[i] *= inside_[i] ? s[i] : 0;
      problem_.design.adjoint(along_, image);
      Real bend = 0, next = 0;
      for (std::size_t j = 0; j < d; ++j) bend += direction[j] * image[j];
      if (!(bend > 0)) break;
      for (std::size_t j = 0; j < d; ++j) {
        if (!member_[j]) continue;
        shift_[j] += rho / bend * direction[j];
        residual[j] -= rho / bend * image[j];
        next += residual[j] * scaled(j);
      }
      for (std::size_t j = 0; j < d; ++j)
        direction[j] = member_[j] ? scaled(j) + next / rho * direction[j] : 0;
      rho = next;
    }
    return std::max<Index>(steps, 1);
  }

  const Problem& problem_;
  std::function<bool()> hurry_;
  std::vector<Real> start_, shift_, along_;
  std::vector<char> inside_, member_;
};

} // namespace southwell
