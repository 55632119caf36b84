// phi(m) = q max(b - m, 0) + (1 - q) max(m - b, 0): its minimiser is the q-quantile.
#pragma once
#include "core/losses/piecewise.hpp"

namespace southwell {

struct Quantile : PiecewiseQuadratic<Quantile> {
  static constexpr std::string_view name = "quantile";
  static constexpr bool smooth = false;

  Real q = 0.5;
  static constexpr Parameter<Quantile> parameter{.name = "q", .field = &Quantile::q, .below = 1};
  Real kappa() const { return 0; }
  Real eps() const { return 0; }
  Interval domain(Real) const { return {-q, 1 - q}; }
};

} // namespace southwell
