// Makes any dual point feasible; its value is then a lower bound of the optimum.
//
//  1. Unpenalised coordinates need z_j = 0. For the intercept alone, y is balanced; for others, it is
//  projected.
//  2. If l2 = 0, |z_j| <= l1 is required: y is scaled towards 0, which is in every dom phi*. If l2 is tiny, a
//  larger
//     |z_j| is allowed but makes the bound weak: y scaled as if l2 were 0 is tried too, and the better value
//     is taken.
#pragma once
#include "core/free_columns.hpp"
#include "core/projection.hpp"
#include <algorithm>
#include <optional>

namespace southwell {

class Feasible final : public Bound {
public:
  Feasible(const Problem& problem, std::function<bool()> hurry)
      : problem_(problem), project_(problem, std::move(hurry)),
        rounding_(1e-13 + 1e-16 * Real(problem.design.rows())) {
    const ElasticNet& g = problem.penalty;
    for (Index j = 0; j < (g.plain() ? 1 : g.penalised()); ++j)
      if (g[j].free()) first_free_ = std::min(first_free_, j);
    first_free_ = std::min(first_free_, g.penalised());
  }

  // Unpenalised coefficients may be so large that the margins, which are sums over them, have few accurate
  // digits.
  Real primal_rounding(const Point& point) override {
    if (first_free_ >= problem_.penalty.penalised()) return 0;
    y_ = point.y;
    Real total = 0;
    for (Index j = 0; j < problem_.penalty.penalised(); ++j)
      total += std::abs(point.x[j]) * (std::sqrt(norms()[j]) + std::abs(problem_.design.constant(j)));
    const Real error = 1e-15 * total;
    const Real bend = problem_.loss.smoothness(); // infinite for losses with kinks, whose pieces are linear
    return error * (weighted_norm() + (std::isfinite(bend) ? bend * error : 0));
  }

  Real dual_value(const Point& point) override {
    y_ = point.y;
    z_.assign(point.slopes.begin(), point.slopes.end());
    if (problem_.has_intercept() && std::abs(z_.back()) > 1e-15 * mean_size()) {
      balance(problem_.loss.weights(), own_y());
      problem_.slopes(y_, z_);
    }
    if (const Real off = violation(); off > rounding_ && off < 0.1 * last_failure_) {
      project_(
          own_y(), z_, norms(), [&](Index j, Real) { return unpenalised(j); },
          [&, size = weighted_norm()](Index j) {
            return (0.3 * rounding_ * std::sqrt(squared_norm(j)) + slope_error(j)) * size;
          });
      last_failure_ = violation() > rounding_ ? off : infinity; // tried again at a tenth of it
    }
    rounding_share_ = 0;
    const Real debt = forgive(point.margins);
    const ElasticNet& g = problem_.penalty;
    const auto value_at = [&](Real scale) {
      return -(g.conjugate(z_, scale, problem_.loss.conjugate(y_, scale)) + debt);
    };
    scale_ = g.feasible_scale(z_, true);
    Real best = value_at(scale_);
    if (const Real tighter = g.feasible_scale(z_, false); tighter < scale_)
      if (const Real value = value_at(tighter); value > best) {
        best = value;
        scale_ = tighter;
      }
    // After an overflow, if no scale is feasible, or if the debt is too large, D(0) is the bound; it always
    // holds.
    if (const bool lost = !std::isfinite(best); lost || debt > 0) {
      const Real trivial = problem_.dual_at_zero();
      if (lost || trivial > best) {
        scale_ = 0;
        std::fill(own_y().begin(), own_y().end(), 0.0); // y may hold NaN
        best = trivial;
      }
    }
    charge_ = scale_ > 0 ? rounding_share_ * debt : 0;
    return best;
  }
  CVec y() const override { return y_; }
  Real scale() const override { return scale_; }
  CVec slopes() const override { return z_; }
  Real charge() const override { return charge_; }

private:
  bool unpenalised(Index j) const { // scaling cannot help here: l1 = l2 = 0 and an unbounded side
    return problem_.penalty[j].feasible_scale(-z_[j]) == 0;
  }
  bool free(Index j) const { // the same for a slope of some sign
    const ScalarElasticNet g = problem_.penalty[j];
    return std::min(g.feasible_scale(1), g.feasible_scale(-1)) == 0;
  }
  Vec own_y() { // a copy of the point's y, made when it is first changed
    if (y_.data() != changed_y_.data()) changed_y_.assign(y_.begin(), y_.end());
    y_ = changed_y_;
    return changed_y_;
  }
  Real mean_size() const {
    const CVec s = problem_.loss.weights();
    Real total = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) total += s[i] * std::abs(y_[i]);
    return total;
  }
  Real weighted_norm() const { return weighted_norm(y_); }
  Real weighted_norm(CVec v) const {
    const CVec s = problem_.loss.weights();
    const auto square = [&](Real unit) {
      return unrolled(Index(v.size()), [&](Index i) { return s[i] * (v[i] / unit) * (v[i] / unit); });
    };
    if (const Real plain = square(1); plain > 1e-280 && plain < 1e280) return std::sqrt(plain);
    Real most = 0; // squares of its numbers may overflow or vanish
    for (const Real u : v) most = std::max(most, std::abs(u));
    return most > 0 && std::isfinite(most) ? most * std::sqrt(square(most)) : most;
  }
  Real squared_norm(Index j) { // of column j; the intercept's is known without a pass over the data
    return j >= problem_.penalty.penalised() ? 1 : norms()[j];
  }
  CVec norms() {
    if (norms_.empty()) {
      norms_.resize(std::size_t(problem_.design.cols()));
      const CVec weights = problem_.loss.weights();
      problem_.design.column_squared_norms(weights, norms_);
      std::vector<Index> names;
      for (Index j = first_free_; j < problem_.penalty.penalised(); ++j)
        if (free(j)) names.push_back(j);
      measure_small_columns(problem_.design, weights, problem_.has_intercept(), std::move(names), norms_);
    }
    return norms_;
  }

  Real slope_error(Index j) const { // relative to ||y||; the intercept's constant is its column
    return j < problem_.penalty.penalised() ? FreeColumns::slope_error(problem_.design, j) : 0;
  }
  // The largest slope of an unpenalised feature, relative to the norms of its column and of y.
  Real violation() {
    Real largest = 0, size = -1;
    for (Index j = first_free_; j < Index(z_.size()); ++j) {
      if (!unpenalised(j)) continue;
      if (size < 0) size = weighted_norm();
      const Real unit = std::sqrt(squared_norm(j)) * size;
      largest = std::max(largest, unit > 0 ? (std::abs(z_[j]) - slope_error(j) * size) / unit : 0);
    }
    return largest;
  }
  // If all those slopes are zero up to rounding, sets them to zero. A feasible point is within distance q of
  // y (see FreeColumns), and D there is lower by at most q times the norm of the margins plus a term for the
  // curvature of phi*. Returns this amount, the debt.
  Real forgive(CVec margins) {
    if (violation() > rounding_) return 0;
    if (!free_) find_free();
    std::vector<Real> off(z_.size());
    bool any = false;
    for (Index j = first_free_; j < Index(z_.size()); ++j)
      if (unpenalised(j)) {
        off[j] = std::exchange(z_[j], 0.0);
        any = any || off[j] != 0;
      }
    if (!any) return 0;
    if (inner_ > 0) { // use the slopes of the columns of U instead
      off.assign(std::size_t(inner_), 0.0);
      problem_.design.left()->adjoint(problem_.loss.weights(), y_, off);
    }
    const Real q = free_->part_in_span(off, weighted_norm());
    if (!(q <= 1e-4 * weighted_norm())) return infinity; // nearly dependent columns: no useful bound
    rounding_share_ = q > 0 ? std::min(8 * free_->rounding_part(weighted_norm()) / q, 1.0) : 0;
    const Real steepness = 1 / problem_.loss.smoothness(); // of the derivative of phi*
    if (first_free_ >= problem_.penalty.penalised())
      return q * (weighted_norm(margins) + q * steepness); // an intercept alone: y is that of the margins
    // A projection may have taken y far from the derivatives at the margins: those that belong to y are then
    // bounded by the targets and by y itself.
    return 2 * q *
           (weighted_norm(margins) + weighted_norm(problem_.loss.targets()) +
            (weighted_norm() + q) * steepness);
  }
  // Collects the unpenalised columns; or, if A = U V and they are more than the columns of U, those of U,
  // which span them.
  void find_free() {
    std::vector<Index> names;
    for (Index j = first_free_; j < Index(z_.size()); ++j)
      if (free(j)) names.push_back(j);
    const CVec weights = problem_.loss.weights();
    const std::vector<Index> inner = inner_columns(names);
    if (!inner.empty() && inner.size() < names.size()) {
      const Design& left = *problem_.design.left();
      inner_ = left.cols();
      lone_norms_.resize(std::size_t(inner_));
      left.column_squared_norms(weights, lone_norms_);
      free_.emplace(left, weights, problem_.has_intercept(), inner, lone_norms_);
    } else {
      free_.emplace(problem_.design, weights, problem_.has_intercept(), std::move(names), norms_of_free());
    }
  }
  std::vector<Index>
  inner_columns(const std::vector<Index>& names) const { // the columns of U that these columns combine
    const Design* right = problem_.design.right();
    if (!right) return {};
    std::vector<Real> those(z_.size()), sizes(std::size_t(right->rows()));
    for (const Index j : names) those[j] = 1;
    right->apply_sizes(those, 1, sizes);
    std::vector<Index> inner;
    for (std::size_t k = 0; k < sizes.size(); ++k)
      if (sizes[k] > 0) inner.push_back(Index(k));
    return inner;
  }
  CVec norms_of_free() { // that of an intercept is known without a pass over the data
    if (first_free_ < problem_.penalty.penalised()) return norms();
    lone_norms_.assign(z_.size(), 1.0);
    return lone_norms_;
  }

  const Problem& problem_;
  // The last debt as far as rounding accounts for it, and the share that this is.
  Real charge_ = 0, rounding_share_ = 0;
  Projection project_;
  CVec y_; // refers to the point's y, or to `changed_y_`
  std::optional<FreeColumns> free_;
  Index inner_ = 0; // the number of columns of U, if `free_` holds those
  std::vector<Real> changed_y_, z_, norms_, lone_norms_;
  Real rounding_; // relative to ||column|| ||y||: a slope below this counts as zero
  Real scale_ = 1, last_failure_ = infinity;
  Index first_free_ = std::numeric_limits<Index>::max(); // no coordinate before it can be unpenalised
};

} // namespace southwell
