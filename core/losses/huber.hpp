// phi(m) = r^2/2 for |r| <= delta, delta |r| - delta^2/2 beyond, with r = m - b.
#pragma once
#include "core/losses/piecewise.hpp"

namespace southwell {

struct Huber : PiecewiseQuadratic<Huber> {
  static constexpr std::string_view name = "huber";

  Real delta = 1;
  static constexpr Parameter<Huber> parameter{.name = "delta", .field = &Huber::delta};
  Real kappa() const { return 1; }
  Real eps() const { return 0; }
  Interval domain(Real) const { return {-delta, delta}; }
};

} // namespace southwell
