// The one place that knows optimality. P(x) - D(y) bounds the error of x for any x and any feasible y, so the
// best primal and the best dual value seen are kept apart, whichever part of the program they came from.
#pragma once
#include "core/feasible.hpp"

namespace southwell {

struct Certificate {
  Real primal = infinity, dual = -infinity;
  // Rounding may put the difference a little below zero; only so much is forgiven.
  Real gap() const {
    const Real difference = primal - dual;
    return difference < 0 && difference > -1e-12 * (std::abs(primal) + std::abs(dual)) ? 0 : difference;
  }
};

class Certifier {
public:
  explicit Certifier(const Problem& problem)
      : problem_(problem), feasible_(problem), x_(problem.design.cols()), y_(problem.design.rows()) {}

  const Certificate& operator()(const Point& point) {
    const Real primal = problem_.loss.value(point.margins) + problem_.penalty_value(point.x);
    // Among points that rounding cannot tell apart, the newest is nearest to the optimum.
    if (primal <= best_.primal || primal - best_.primal <= 1e-15 * std::abs(primal)) {
      best_.primal = std::min(primal, best_.primal);
      x_ = point.x;
    }
    const Real dual = feasible_.dual_value(point);
    if (dual > best_.dual) {
      best_.dual = dual;
      for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = feasible_.scale() * feasible_.y()[i];
    }
    return best_;
  }
  const Certificate& best() const { return best_; }
  const std::vector<Real>& x() const { return x_; }
  const std::vector<Real>& y() const { return y_; }

private:
  const Problem& problem_;
  Feasible feasible_;
  Certificate best_;
  std::vector<Real> x_, y_;
};

// P of the zero model, or of the box's point nearest to it: the unit in which gaps are judged.
inline Real objective_scale(const Problem& problem) {
  std::vector<Real> x(problem.design.cols()), margins(problem.design.rows());
  bool zero = true;
  for (Index j = 0; j < Index(x.size()); ++j)
    zero = (x[j] = clip(0, problem.penalty[j].lo, problem.penalty[j].hi)) == 0 && zero;
  if (!zero) problem.design.apply(x, margins);
  return problem.loss.value(margins) + problem.penalty_value(x);
}

} // namespace southwell
