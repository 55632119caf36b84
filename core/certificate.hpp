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
      const Problem& problem, std::function<bool()> hurry = [] { return false; })
      : problem_(problem), feasible_(problem, std::move(hurry)), x_(problem.design.cols()),
        y_(problem.design.rows()) {}

  const Certificate& operator()(const Point& point) {
    const Real primal = latest_ = problem_.loss.value(point.margins) + problem_.penalty_value(point.x);
    const Real terms = problem_.loss.size(point.margins, point.y);
    // Among points that rounding cannot tell apart, the newest is nearest to the optimum.
    if (std::isfinite(primal) &&
        (primal <= best_.primal || primal - best_.primal <= 1e-15 * std::abs(primal))) {
      best_.primal = std::min(primal, best_.primal);
      primal_terms_ = terms;
      x_ = point.x;
    }
    const Real dual = latest_dual_ = feasible_.dual_value(point);
    if (dual > best_.dual) {
      best_.dual = dual;
      dual_terms_ = terms;
      for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = feasible_.scale() * feasible_.y()[i];
    }
    best_.terms = std::max(primal_terms_, dual_terms_);
    return best_;
  }
  const Certificate& best() const { return best_; }
  Real latest() const { return latest_; }            // P at the last point,
  Real latest_dual() const { return latest_dual_; }  // D at its y, made feasible,
  Real scale() const { return feasible_.scale(); }   // by this factor,
  CVec slopes() const { return feasible_.slopes(); } // from slopes as they were before that
  CVec x() const { return x_; }                      // the best of each
  CVec y() const { return y_; }
  std::pair<std::vector<Real>, std::vector<Real>> release() { return {std::move(x_), std::move(y_)}; }

private:
  const Problem& problem_;
  Feasible feasible_;
  Certificate best_;
  Real latest_ = infinity, latest_dual_ = -infinity, primal_terms_ = 0, dual_terms_ = 0;
  std::vector<Real> x_, y_;
};

// The unit in which gaps are judged: P(0) - D(0), the zero model against the trivial bound. For every loss
// that is zero at best, D(0) = 0 and this is P(0); for Poisson it is half the null deviance. With an
// intercept the zero model has its best one, so that adding a constant to the targets changes nothing. If the
// box excludes 0, its nearest point stands in.
struct Unit {
  Real scale;
  Real rounding; // below this a gap cannot be told from zero
  Real goal = 0; // where it is small enough
};

// `point` is scratch, all zero.
inline Unit gap_unit(const Problem& problem, Point& point) {
  bool zero = true;
  for (Index j = 0; j < (problem.penalty.bounded() ? Index(point.x.size()) : 0); ++j) {
    point.x[j] = clip(0, problem.penalty[j].lo, problem.penalty[j].hi);
    zero = zero && point.x[j] == 0;
  }
  const Real plain = problem.loss.value(point.margins); // at margins of zero: the size of the numbers at play
  if (!zero) problem.design.apply(point.x, point.margins);
  if (problem.has_intercept()) solve_intercept(problem, point);
  const Real trivial = problem.dual_at_zero();
  const bool moved = !zero || problem.has_intercept();
  const Real null = (moved ? problem.loss.value(point.margins) : plain) + problem.penalty_value(point.x);
  return {std::max(null - trivial, 0.0), 1e-15 * (std::abs(plain) + std::abs(trivial))};
}

} // namespace southwell
