// phi(m) = max(0, |m - b| - epsilon)^2 / 2.
#pragma once
#include "core/losses/piecewise.hpp"

namespace southwell {

struct SquaredEpsilonInsensitive : PiecewiseQuadratic<SquaredEpsilonInsensitive> {
  static constexpr std::string_view name = "squared_epsilon_insensitive";

  Real epsilon = 0.1;
  static constexpr Parameter<SquaredEpsilonInsensitive> parameter{
      .name = "epsilon", .field = &SquaredEpsilonInsensitive::epsilon, .zero = true};
  Real kappa() const { return 1; }
  Real eps() const { return epsilon; }
  Interval domain(Real) const { return {-infinity, infinity}; }
};

} // namespace southwell
