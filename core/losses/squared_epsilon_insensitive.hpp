// phi(m) = max(0, |m - b| - epsilon)^2 / 2.
#pragma once
#include "core/losses/piecewise.hpp"

namespace southwell {

struct SquaredEpsilonInsensitive : PiecewiseQuadratic<SquaredEpsilonInsensitive> {
  static constexpr std::string_view name = "squared_epsilon_insensitive";
  static constexpr bool smooth = true;

  Real epsilon = 0.1;
  Real kappa() const { return 1; }
  Real eps() const { return epsilon; }
  Interval domain(Real) const { return {-infinity, infinity}; }
  std::string_view targets() const { return "real"; }
};

} // namespace southwell
