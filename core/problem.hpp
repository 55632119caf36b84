// The optimisation problem, and functions that complete a point (x, y) with its products.
//
//   P(x) = sum_i s_i phi_i(m_i) + sum_j g_j(x_j),                 m = A x            (margins)
//   D(y) = - sum_i s_i phi_i*(y_i) - sum_j g_j*(-z_j),            z = A'(s o y)      (slopes)
#pragma once
#include "core/design/design.hpp"
#include "core/penalties/all.hpp"
#include "core/question.hpp"
#include "core/sample_loss.hpp"
#include <utility>
#include <vector>

namespace southwell {

struct Problem final : Question {
  const Design& design;
  const SampleLoss& loss;
  const ElasticNet& penalty;

  Problem(const Design& design, const SampleLoss& loss, const ElasticNet& penalty)
      : design(design), loss(loss), penalty(penalty) {}

  Index primal_size() const override { return design.cols(); }
  Index dual_size() const override { return design.rows(); }
  Index stored() const override { return design.stored(); }
  Real value(const Point& point) const override { return loss.value(point.margins) + penalty_value(point.x); }
  Real terms(const Point& point) const override { return loss.size(point.margins, point.y); }
  Index nonzeros(CVec x) const override {
    return penalty.penalised() - std::count(x.begin(), x.begin() + penalty.penalised(), 0.0);
  }
  Unit unit(Point& scratch) const override; // see bindings/problem.cpp
  std::unique_ptr<Bound> bound(std::function<bool()> hurry) const override;

  Index width() const { return 1; }
  bool has_intercept() const { return penalty.penalised() < design.cols(); } // the last column

  Real penalty_value(CVec x) const {
    if (penalty.plain() && penalty.penalised() > 0) { // the same formula for all: the loop vectorises
      const auto [l1, l2, lo, hi] = penalty[0];
      return unrolled(penalty.penalised(), [&, l1 = l1, l2 = l2](Index j) {
        return (l1 + l2 / 2 * std::abs(x[j])) * std::abs(x[j]);
      });
    }
    Real total = 0;
    for (Index j = 0; j < Index(x.size()); ++j) total += penalty[j].value(x[j]);
    return total;
  }
  Real dual_at_zero() const { // D(0), a lower bound that needs no product
    Real least = 0;           // min g = -g*(0)
    for (Index j = 0; j < (penalty.plain() ? 0 : design.cols()); ++j) least -= penalty[j].conjugate(0);
    return least - loss.conjugate(std::vector<Real>(design.rows()), 0);
  }
  void slopes(CVec y, Vec z) const { design.adjoint(loss.weights(), y, z); } // z = A'(s o y)
  // The number of iterations, on so many rows and columns each, in which every one could move once.
  Index rounds(Index rows, Index columns) const {
    return std::max((design.rows() + rows - 1) / rows, (design.cols() + columns - 1) / columns);
  }
};

// x clipped to its bounds, y clipped to dom phi*.
inline std::vector<Real> within_bounds(const Problem& problem, CVec x) {
  std::vector<Real> inside(x.begin(), x.end());
  for (Index j = 0; j < Index(x.size()); ++j)
    inside[j] = clip(x[j], problem.penalty[j].lo, problem.penalty[j].hi);
  return inside;
}
inline std::vector<Real> within_domain(const Problem& problem, CVec y) {
  std::vector<Real> inside(y.begin(), y.end());
  for (Index i = 0; i < Index(y.size()); ++i) inside[i] = clip(y[i], problem.loss.domain(i));
  return inside;
}

// The shift c that minimises sum_i s_i phi_i(m_i + c), up to rounding, and an interval that contains it: the
// derivative is <= 0 at lo and >= 0 at hi.
struct Shift {
  Real best = 0, lo = 0, hi = 0;
  bool found = false;
};

// Newton's method on the derivative, safeguarded by bisection, from a guess.
inline Shift best_shift(const SampleLoss& loss, CVec margins, Real guess = 0) {
  const auto at_rest = [](Real c) { return Shift{c, c, c, true}; };
  Slope at = loss.slope(margins, guess);
  if (!std::isfinite(at.first)) return guess == 0 ? Shift{} : best_shift(loss, margins);
  if (at.first == 0) return at_rest(guess);
  // A Newton step of length e leaves an error of e^2 where phi'' is smooth, and none where it is constant.
  const bool squares = loss.smooth() && !loss.piecewise();
  const auto tiny = [&](Real c) {
    return loss.quadratic() || (squares && std::abs(at.first / at.second) <= 1e-9 * (1 + std::abs(c)));
  };
  if (tiny(guess)) return at_rest(guess - at.first / at.second);
  Real size = 0; // the largest absolute margin or target
  for (std::size_t i = 0; i < margins.size(); ++i)
    size = std::max({size, std::abs(margins[i]), std::abs(loss.targets()[i])});
  const Real unit = size > 0 ? std::min(size, 1.0) : 1;
  size = std::max(size, 1.0);
  const Real direction = at.first > 0 ? -1 : 1, newton = std::abs(at.first / at.second);
  Real step = newton < unit / 2 ? 2 * newton : unit, near = guess;
  while (loss.slope(margins, guess + direction * step).first * direction <
         0) {                          // until the derivative changes sign
    if (step > 1e15 * size) return {}; // it does not: there is no finite minimiser
    near = guess + direction * step;
    step *= 4;
  }
  const Real far = guess + direction * step;
  Shift shift{guess, std::min(near, far), std::max(near, far), true};
  for (int k = 0; k < 200; ++k) {
    const Real newton = shift.best - at.first / at.second; // curvature 0 gives infinity or NaN: bisect
    const bool inside = newton > shift.lo && newton < shift.hi;
    const Real next = inside ? newton : shift.lo + (shift.hi - shift.lo) / 2;
    if (next == shift.best || next == shift.lo || next == shift.hi) break; // converged up to rounding
    if (inside && tiny(shift.best)) return at_rest(next);
    shift.best = next;
    at = loss.slope(margins, shift.best);
    if (at.first == 0) return at_rest(shift.best);
    (at.first > 0 ? shift.hi : shift.lo) = shift.best;
  }
  return shift;
}

// m = A x, with the intercept of x replaced by the best one, because certificates are weak unless the
// one-dimensional problem of the intercept is solved. The margins are computed without the old intercept,
// which may be so large that adding it would round them off. The old one is kept only if it is better, as
// when no finite minimiser exists.
inline void solve_intercept(const Problem& problem, Point& point) { // given margins without the intercept
  const Real own = point.x.back();
  const Shift shift = best_shift(problem.loss, point.margins, own);
  if (shift.found || problem.loss.value(point.margins, shift.best) < problem.loss.value(point.margins, own))
    point.x.back() = shift.best;
  for (Real& m : point.margins) m += point.x.back();
}
inline void compute_margins(const Problem& problem, Point& point) {
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

// y in the subdifferential of the loss at the best intercept, with s-weighted sum zero. The derivatives sum
// to a number
// <= 0 on the left of the minimiser and >= 0 on its right; at kinks the wanted y is a convex combination of
// the two.
inline void balanced_derivative(const Problem& problem, CVec margins, Vec y) {
  if (!problem.has_intercept()) return problem.loss.derivative(margins, y);
  const CVec s = problem.loss.weights();
  const Shift shift = best_shift(problem.loss, margins);
  std::vector<Real> moved(margins.begin(), margins.end()), right(y.size());
  const auto derivative_at = [&](Real c, Vec out) {
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = margins[i] + c;
    problem.loss.derivative(moved, out);
    Real total = 0;
    for (std::size_t i = 0; i < out.size(); ++i) total += s[i] * out[i];
    return total;
  };
  const Real low = derivative_at(shift.lo, y), high = derivative_at(shift.hi, right);
  const Real part = high > low ? clip(-low / (high - low), 0, 1) : 0;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += part * (right[i] - y[i]);
  balance(s, y);
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

// Complete a point from its dual half: z = A'(s o y), x as `primal_of(z, x)` gives it, m = A x.
template <class PrimalOf>
void complete_from_dual(const Problem& problem, Point& point, PrimalOf&& primal_of) {
  problem.slopes(point.y, point.slopes);
  primal_of(point.slopes, point.x);
  compute_margins(problem, point);
}

} // namespace southwell
