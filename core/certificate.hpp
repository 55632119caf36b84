// The one place that knows optimality. P(x) - D(y) bounds the error of x for any x and any feasible y, so the
// best primal and the best dual value seen are kept apart, whichever part of the program they came from.
#pragma once
#include "core/feasible.hpp"

namespace southwell {

struct Certificate {
  Real primal = infinity, dual = -infinity;
  Real terms = 0; // the size of the numbers that cancel in them
  // Rounding may put the difference a little below zero; only so much is forgiven.
  Real gap() const {
    const Real difference = primal - dual;
    return difference < 0 && difference > -1e-12 * (std::abs(primal) + std::abs(dual) + terms) ? 0
                                                                                               : difference;
  }
};

class Certifier {
public:
  Certifier(
      const Question& question, std::function<bool()> hurry = [] { return false; })
      : question_(question), bound_(question.bound(std::move(hurry))), x_(question.primal_size()),
        y_(question.dual_size()) {}

  const Certificate& operator()(const Point& point) {
    const Real primal = latest_ = question_.value(point);
    const Real terms = question_.terms(point);
    // Among points that rounding cannot tell apart, the newest is nearest to the optimum.
    if (std::isfinite(primal) &&
        (primal <= best_.primal || primal - best_.primal <= 1e-15 * std::abs(primal))) {
      best_.primal = std::min(primal, best_.primal);
      primal_terms_ = terms;
      x_ = point.x;
    }
    const Real dual = latest_dual_ = bound_->dual_value(point);
    if (dual > best_.dual) {
      best_.dual = dual;
      dual_terms_ = terms;
      for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = bound_->scale() * bound_->y()[i];
    }
    best_.terms = std::max(primal_terms_, dual_terms_);
    return best_;
  }
  const Certificate& best() const { return best_; }
  Real latest() const { return latest_; }           // P at the last point,
  Real latest_dual() const { return latest_dual_; } // D at its y, made feasible,
  Real scale() const { return bound_->scale(); }    // by this factor,
  CVec slopes() const { return bound_->slopes(); }  // from slopes as they were before that
  CVec x() const { return x_; }                     // the best of each
  CVec y() const { return y_; }
  std::pair<std::vector<Real>, std::vector<Real>> release() { return {std::move(x_), std::move(y_)}; }

private:
  const Question& question_;
  std::unique_ptr<Bound> bound_;
  Certificate best_;
  Real latest_ = infinity, latest_dual_ = -infinity, primal_terms_ = 0, dual_terms_ = 0;
  std::vector<Real> x_, y_;
};

inline Unit Problem::unit(Point& point) const {
  bool zero = true;
  for (Index j = 0; j < (penalty.bounded() ? Index(point.x.size()) : 0); ++j) {
    point.x[j] = clip(0, penalty[j].lo, penalty[j].hi);
    zero = zero && point.x[j] == 0;
  }
  const Real plain = loss.value(point.margins); // at margins of zero: the size of the numbers at play
  if (!zero) design.apply(point.x, point.margins);
  if (has_intercept()) solve_intercept(*this, point);
  const Real trivial = dual_at_zero();
  const bool moved = !zero || has_intercept();
  const Real null = (moved ? loss.value(point.margins) : plain) + penalty_value(point.x);
  return {std::max(null - trivial, 0.0), 1e-15 * (std::abs(plain) + std::abs(trivial))};
}

inline std::unique_ptr<Bound> Problem::bound(std::function<bool()> hurry) const {
  return std::make_unique<Feasible>(*this, std::move(hurry));
}

} // namespace southwell
