// Random grids for the Laplacian kernel (Rahimi and Recht, 2007). A grid has a pitch delta and an offset u
// for each feature; two points share a bin if floor((x_j - u_j) / delta_j) agree for all j. With delta of
// density gamma^2 delta e^(-gamma delta) and u uniform on [0, delta] that happens with probability exp(-gamma
// ||x - y||_1).
//
// Kept are scale = 1 / delta and shift = 1/2 - u / delta: the bin is scale x + shift rounded to the nearest
// integer. The bins are the same, but numbered so that zero is always in bin 0: zeros add nothing to a hash
// and need not be visited.
//
// The random numbers depend on (seed, grid, feature) only, not on the order of work or on other features.
#pragma once
#include "core/support/random.hpp"
#include <algorithm>
#include <cmath>
#include <limits>

namespace southwell {

struct Ruler {
  Real scale, shift;
};

class Grid {
public:
  Grid(std::uint64_t seed, Real gamma, Index grid)
      : stream_(Random(Random(seed).bits() + std::uint64_t(grid)).bits()), gamma_(gamma) {}

  Ruler operator[](Index feature) const {
    Random random(stream_ + std::uint64_t(feature));
    const Real first = 1 - random.unit(), second = 1 - random.unit(); // in (0, 1]
    const Real pitch = -std::log(first * second);                     // of Gamma(2), in units of 1 / gamma
    return {std::min(gamma_ / pitch, std::numeric_limits<Real>::max()), random.unit() - 0.5};
  }

private:
  std::uint64_t stream_;
  Real gamma_;
};

// The factors of the bins in a hash, one for each feature. Odd, so that different bins of one feature have
// different hashes.
class Multipliers {
public:
  explicit Multipliers(std::uint64_t seed) : stream_(Random(Random(seed).bits() - 1).bits()) {}
  std::uint64_t operator[](Index feature) const {
    return Random(stream_ + std::uint64_t(feature)).bits() | 1;
  }

private:
  std::uint64_t stream_;
};

} // namespace southwell
