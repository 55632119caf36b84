// The features of a working set, and how the samples weigh on them.
#pragma once
#include "core/newton/expansion.hpp"
#include "core/newton/working_columns.hpp"
#include "core/penalties/all.hpp"
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

  bool supports() const { return g.smooth_at(x); }
  void put(Real end) { // zero, where it was meant to be but for rounding
    x = clip(g.kink() > 0 && std::abs(end) <= 1e-14 * std::abs(x) ? 0 : end, g.domain());
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
