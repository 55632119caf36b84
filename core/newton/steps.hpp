// Steps on a quadratic model: of one coordinate, and of all in the support.
#pragma once
#include "core/newton/hessian.hpp"
#include "core/newton/ledger.hpp"
#include <utility>

namespace southwell {

inline constexpr Real damping = 1e-12;

// The step on a column without curvature, such as an empty one: to the minimiser of the penalty, if it has
// one.
inline Real step_without_curvature(Coordinate& c, Real slope, Real& largest) {
  const Real over = std::max(std::abs(slope) - c.g.l1, 0.0);
  if (c.g.l2 == 0 && (c.g.l1 == 0 || over > 0)) return 0;
  const Real best = c.g.l2 > 0 ? -std::copysign(over / c.g.l2, slope) : 0, to = clip(best, c.g.lo, c.g.hi),
             by = to - std::exchange(c.x, to);
  largest = std::max(largest, by != 0 ? c.g.l1 + c.g.l2 * std::abs(by) : 0);
  return by;
}
// Moves x to its minimiser given this slope; returns the change. `largest` is the largest change of a slope
// so far.
SOUTHWELL_INLINE Real coordinate_step(Coordinate& c, Real curvature, Real slope, Real& largest) {
  curvature *= 1 + damping;
  if (!(curvature > 0)) return step_without_curvature(c, slope, largest);
  const Real to = c.g.prox(c.x - slope / curvature, 1 / curvature), by = to - std::exchange(c.x, to);
  largest = std::max(largest, std::abs(by) * curvature);
  return by;
}

// The Newton direction, with the signs held, and the part of it to the first sign change or bound.
inline std::pair<std::vector<Real>, Real> newton_direction(const Weighted& weighted, Hessian& hessian,
                                                           Hessian::Slots support, CVec slopes,
                                                           Ledger& ledger) {
  std::vector<Real> direction(support.size()), ridge(support.size());
  for (std::size_t t = 0; t < support.size(); ++t) {
    const Coordinate& c = weighted.coordinates[support[t]];
    direction[t] = -(slopes[t] + c.pull());
    ridge[t] = std::max(c.g.l2, damping * c.curvature);
  }
  hessian.solve(support, ridge, direction, ledger);
  Real first = 1;
  for (std::size_t t = 0; t < support.size(); ++t) {
    const Coordinate& c = weighted.coordinates[support[t]];
    const Real end = c.x + direction[t], stop = c.held(end);
    if (stop != end) first = std::min(first, (stop - c.x) / direction[t]);
  }
  return {std::move(direction), first};
}

} // namespace southwell
