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
  const bool strong = c.g.strong_convexity() > 0;
  if (!strong && (c.g.kink() == 0 || std::abs(slope) > c.g.kink())) return 0;
  const Real to = strong ? c.g.conjugate_gradient(-slope) : c.g.minimiser(0),
             by = to - std::exchange(c.x, to);
  largest = std::max(largest, by != 0 ? c.g.kink() + c.g.strong_convexity() * std::abs(by) : 0);
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

// The Newton direction, with the signs held, and the part of it to the first sign change or bound. Of `at`
// only the coordinates are read; wherever their columns are, `hessian` solves.
template <class At, class H>
std::pair<std::vector<Real>, Real> newton_direction(const At& at, H& hessian,
                                                    std::span<const std::int32_t> support, CVec slopes,
                                                    Ledger& ledger) {
  std::vector<Real> direction(support.size()), ridge(support.size());
  for (std::size_t t = 0; t < support.size(); ++t) {
    const Coordinate& c = at.coordinates[support[t]];
    direction[t] = -(slopes[t] + c.g.gradient(c.x));
    ridge[t] = std::max(c.g.curvature(c.x), damping * c.curvature);
  }
  hessian.solve(support, ridge, direction, ledger);
  Real first = 1;
  for (std::size_t t = 0; t < support.size(); ++t) {
    const Coordinate& c = at.coordinates[support[t]];
    const Real end = c.x + direction[t], stop = c.g.held(c.x, end);
    if (stop != end) first = std::min(first, (stop - c.x) / direction[t]);
  }
  return {std::move(direction), first};
}

} // namespace southwell
