// phi(m) = (m - b)^2 / 2.
#pragma once
#include "core/losses/piecewise.hpp"

namespace southwell {

struct Squared : PiecewiseQuadratic<Squared> {
  static constexpr std::string_view name = "squared";
  static constexpr bool quadratic = true;

  Real kappa() const { return 1; }
  Real eps() const { return 0; }
  Interval domain(Real) const { return {-infinity, infinity}; }
};

} // namespace southwell
