// What is asked, and a point that may answer it.
//
//   P(x) = sum_i s_i phi_i(m_i) + sum_j g_j(x_j),                 m = A x            (margins)
//   D(y) = - sum_i s_i phi_i*(y_i) - sum_j g_j*(-z_j),            z = A'(s o y)      (slopes)
#pragma once
#include "core/design/design.hpp"
#include "core/penalties/all.hpp"
#include "core/sample_loss.hpp"
#include <vector>

namespace southwell {

struct Problem {
  const Design& design;
  const SampleLoss& loss;
  const ElasticNet& penalty;

  bool has_intercept() const { return penalty.penalised() < design.cols(); } // it is the last column

  Real penalty_value(CVec x) const {
    Real total = 0;
    for (Index j = 0; j < Index(x.size()); ++j) total += penalty[j].value(x[j]);
    return total;
  }
  void slopes(CVec y, Vec z) const { design.adjoint(loss.weights(), y, z); } // z = A'(s o y)
};

// A pair (x, y) with both of its products freshly computed.
struct Point {
  std::vector<Real> x, y, margins, slopes;

  explicit Point(const Problem& problem)
      : x(problem.design.cols()), y(problem.design.rows()), margins(y.size()), slopes(x.size()) {}
};

// The shift c that minimises sum_i s_i phi_i(m_i + c), to rounding: Newton inside a bracket on the
// derivative.
inline Real best_shift(const SampleLoss& loss, CVec margins) {
  Real lo = 0, hi = 0, reach = 1;
  Slope at = loss.slope(margins, 0);
  if (at.first == 0 || !std::isfinite(at.first)) return 0;
  const Real direction = at.first > 0 ? -1 : 1;
  for (int k = 0; k < 60; ++k, reach *= 4) { // until the derivative changes sign; separable data never does
    (direction > 0 ? hi : lo) = direction * reach;
    if (loss.slope(margins, direction * reach).first * direction >= 0) break;
    (direction > 0 ? lo : hi) = direction * reach;
    if (k == 59 || reach > 1e12) return 0;
  }
  Real c = 0;
  for (int k = 0; k < 200; ++k) {
    const Real newton = c - at.first / at.second; // curvature 0 gives infinity or NaN: bisect
    c = newton > lo && newton < hi ? newton : lo + (hi - lo) / 2;
    at = loss.slope(margins, c);
    if (at.first == 0) break;
    (at.first > 0 ? hi : lo) = c;
    if (hi - lo <= 2e-16 * std::abs(c) ||
        (at.second > 0 && std::abs(at.first / at.second) <= 1e-16 * std::abs(c)))
      break;
  }
  return c;
}

// The unpenalised intercept has a one-dimensional problem of its own; certificates are weak unless it is
// solved.
inline void solve_intercept(const Problem& problem, Point& point) {
  if (!problem.has_intercept()) return;
  const Real shift = best_shift(problem.loss, point.margins);
  if (shift == 0 || problem.loss.value(point.margins, shift) > problem.loss.value(point.margins)) return;
  point.x.back() += shift;
  for (Real& m : point.margins) m += shift;
}

// y sums to zero, s-weighted, after its positive or its negative part is scaled towards 0.
inline void balance(CVec weights, Vec y) {
  Real up = 0, down = 0;
  for (std::size_t i = 0; i < y.size(); ++i) (y[i] > 0 ? up : down) += weights[i] * std::abs(y[i]);
  if (up == down) return;
  const Real scale = std::min(up, down) / std::max(up, down);
  for (Real& v : y)
    if ((v > 0) == (up > down)) v *= scale;
}

// Complete a point from its primal half: m = A x, y = phi'(m), z = A'(s o y).
inline void complete_from_primal(const Problem& problem, Point& point) {
  problem.design.apply(point.x, point.margins);
  solve_intercept(problem, point);
  problem.loss.derivative(point.margins, point.y);
  if (problem.has_intercept()) balance(problem.loss.weights(), point.y);
  problem.slopes(point.y, point.slopes);
}

// Complete a point from its dual half: z = A'(s o y), x as `primal_of(z, x)` gives it, m = A x.
template <class PrimalOf>
void complete_from_dual(const Problem& problem, Point& point, PrimalOf&& primal_of) {
  problem.slopes(point.y, point.slopes);
  primal_of(point.slopes, point.x);
  problem.design.apply(point.x, point.margins);
  solve_intercept(problem, point);
}

} // namespace southwell
