// phi(m) = max(0, |m - b| - epsilon).
#pragma once
#include "core/losses/piecewise.hpp"

namespace southwell {

struct EpsilonInsensitive : PiecewiseQuadratic<EpsilonInsensitive> {
  static constexpr std::string_view name = "epsilon_insensitive";
  static constexpr bool smooth = false;

  Real epsilon = 0.1;
  static constexpr Parameter<EpsilonInsensitive> parameter{
      .name = "epsilon", .field = &EpsilonInsensitive::epsilon, .zero = true};
  Real kappa() const { return 0; }
  Real eps() const { return epsilon; }
  Interval domain(Real) const { return {-1, 1}; }
};

} // namespace southwell
