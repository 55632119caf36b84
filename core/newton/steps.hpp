// Steps on a quadratic model: of one coordinate, and of all in the support.
#pragma once
#include "core/newton/hessian.hpp"
#include "core/newton/ledger.hpp"
#include <utility>

namespace southwell {

inline constexpr Real damping = 1e-12;

// Moves x to its best with this slope, by what is returned; empty columns stay. `largest` is of the changes
// of slopes asked for.
SOUTHWELL_INLINE Real coordinate_step(Coordinate& c, Real curvature, Real slope, Real& largest) {
  curvature *= 1 + damping;
  if (!(curvature > 0)) return 0;
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
