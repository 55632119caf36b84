// The optimisation problem, and functions that complete a point (x, y) with its products.
//
//   P(x) = sum_i s_i phi_i(m_i) + sum_j g_j(x_j),                 m = A x            (margins)
//   D(y) = - sum_i s_i phi_i*(y_i) - sum_j g_j*(-z_j),            z = A'(s o y)      (slopes)
#pragma once
#include "core/best_shift.hpp"
#include "core/linear_problem.hpp"
#include "core/penalties/all.hpp"
#include <utility>
#include <vector>

namespace southwell {

struct Problem final : LinearProblem {
  const SampleLoss& loss;
  const ElasticNet& penalty;

  Problem(const Design& design, const SampleLoss& loss, const ElasticNet& penalty)
      : LinearProblem(design), loss(loss), penalty(penalty) {}

  const LossSum& losses() const override { return loss; }
  bool has_intercept() const override { return penalty.penalised() < design.cols(); } // it is the last column
  void settle_intercept(Vec intercept, Vec margins) const override;
  Real value(const Point& point) const override { return loss.value(point.margins) + penalty.value(point.x); }
  Index nonzeros(CVec x) const override {
    return penalty.penalised() - std::count(x.begin(), x.begin() + penalty.penalised(), 0.0);
  }
  Unit unit(Point& scratch) const override; // see bindings/problem.cpp
  std::unique_ptr<Bound> bound(std::function<bool()> hurry) const override;

  bool open(Index j, Real v) const override { return penalty[j].feasible_scale(v) == 0; }
  std::vector<Index> open_features() const override {
    const bool none = penalty.plain() && penalty.penalised() > 0 && !open(0, 1); // then all are as the first
    return none ? std::vector<Index>() : LinearProblem::open_features();
  }
  Real end(Index j) const override {
    const Interval box = penalty[j].domain();
    return std::isfinite(box.lo) ? box.lo : box.hi;
  }
  Real dual_at_zero() const override {
    Real least = 0; // min g = -g*(0)
    for (Index j = 0; j < (penalty.bounded() ? design.cols() : 0); ++j) least -= penalty[j].conjugate(0);
    return least - loss.conjugate(std::vector<Real>(design.rows()), 0);
  }
  // Iterations of so many rows and columns in which each could have moved once.
  Index rounds(Index rows, Index columns) const {
    return std::max((design.rows() + rows - 1) / rows, (design.cols() + columns - 1) / columns);
  }
};

// x clipped to its bounds, y clipped to dom phi*.
inline std::vector<Real> within_bounds(const Problem& problem, CVec x) {
  std::vector<Real> inside(x.begin(), x.end());
  for (Index j = 0; j < Index(x.size()); ++j) inside[j] = clip(x[j], problem.penalty[j].domain());
  return inside;
}
inline std::vector<Real> within_domain(const Problem& problem, CVec y) {
  std::vector<Real> inside(y.begin(), y.end());
  for (Index i = 0; i < Index(y.size()); ++i) inside[i] = clip(y[i], problem.loss.domain(i));
  return inside;
}

// m = A x. The unpenalised intercept has a one-dimensional problem of its own, and certificates are weak
// unless it is solved: here x gets its best one. The margins are computed without the intercept it came with,
// which might be so large that theirs drown in its rounding; it stays only where it is better, as where there
// is no best one.
inline void Problem::settle_intercept(Vec intercept, Vec margins) const {
  Real& own = intercept[0];
  const Shift shift = best_shift(loss, margins, own);
  if (shift.found || loss.value(margins, shift.best) < loss.value(margins, own)) own = shift.best;
  for (Real& m : margins) m += own;
}
inline void solve_intercept(const Problem& problem, Point& point) { // with margins without an intercept
  problem.settle_intercept(Vec(point.x).last(1), point.margins);
}
inline void compute_margins(const Problem& problem, Point& point) {
  const auto zero = [](Real v) { return v == 0; };
  if (std::all_of(point.x.begin(), point.x.end() - problem.has_intercept(), zero)) { // as at the start
    std::fill(point.margins.begin(), point.margins.end(), 0.0);
    if (problem.has_intercept()) solve_intercept(problem, point);
    return;
  }
  if (!problem.has_intercept()) return problem.design.apply(point.x, point.margins);
  const Real own = std::exchange(point.x.back(), 0.0);
  problem.design.apply(point.x, point.margins);
  point.x.back() = own;
  solve_intercept(problem, point);
}
// The margins of a point with another intercept.
inline std::vector<Real> margins_with(const Point& point, Real intercept) {
  std::vector<Real> margins = point.margins;
  for (Real& m : margins) m += intercept - point.x.back();
  return margins;
}

inline void balanced_derivative(const Problem& problem, CVec margins, Vec y) {
  if (!problem.has_intercept()) return problem.loss.derivative(margins, y);
  balanced_derivative(problem.loss, margins, y);
}

// Complete a point from its primal half: m = A x, y = phi'(m), z = A'(s o y).
inline void complete_from_primal(const Problem& problem, Point& point) {
  compute_margins(problem, point);
  problem.loss.derivative(point.margins, point.y);
  if (problem.has_intercept()) balance(problem.loss.weights(), point.y);
  problem.slopes(point.y, point.slopes);
}

// Complete a point from both halves, for the methods that have them: m = A x, z = A'(s o y).
inline void complete(const Problem& problem, Point& point) {
  compute_margins(problem, point);
  problem.slopes(point.y, point.slopes);
}

// Complete a point from its dual half: z = A'(s o y), x_j = map(z_j), m = A x.
template <class Map> void complete_from_dual(const Problem& problem, Point& point, const Map& map) {
  problem.slopes(point.y, point.slopes);
  for (Index j = 0; j < Index(point.x.size()); ++j) point.x[j] = map.at(j, point.slopes[j]);
  compute_margins(problem, point);
}

} // namespace southwell
