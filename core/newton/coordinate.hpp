// The features of a working set, and how the samples weigh on them.
#pragma once
#include "core/newton/expansion.hpp"
#include "core/newton/working_columns.hpp"
#include "core/penalties/elastic_net.hpp"
#include "core/policy.hpp"
#include <vector>

namespace southwell {

struct Coordinate {
  Real x;
  ScalarElasticNet g;
  Real curvature = 0; // sum_i h_i a_i^2, with the frame
  Real weighted = 0;  // sum_i h_i a_i, of what is stored
  // The column is what is stored plus gamma 1: the frame's, or, where an intercept follows every move, such
  // that sum_i h_i a_i = 0.
  Real gamma = 0;
  Real slope = 0; // where the model begins

  // Is it where the penalty is smooth: off its kink and its bounds?
  bool supports() const { return x > g.lo && x < g.hi && (x != 0 || g.l1 == 0); }
  // The derivative of the penalty there.
  Real pull() const { return g.l2 * x + (x > 0 ? g.l1 : x < 0 ? -g.l1 : 0); }
  // Where a step may end: with the sign it has, within its bounds.
  Real held(Real end) const {
    if (g.l1 > 0 && x > 0) end = std::max(end, 0.0);
    if (g.l1 > 0 && x < 0) end = std::min(end, 0.0);
    return clip(end, g.lo, g.hi);
  }
  void put(Real end) { // zero, where it was meant to be but for rounding
    x = clip(g.l1 > 0 && std::abs(end) <= 1e-14 * std::abs(x) ? 0 : end, g.lo, g.hi);
  }
};

// The columns of a working set, its coordinates, and the curvatures of the samples.
struct Weighted {
  const WorkingColumns& columns;
  const Expansion& at;
  const Policy& policy;
  std::vector<Coordinate> coordinates{};

  Real gamma(Index slot) const { return coordinates[slot].gamma; }
};

} // namespace southwell
