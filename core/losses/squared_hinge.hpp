// phi(m) = max(0, 1 - b m)^2 / 2, b = -1 or +1.
#pragma once
#include "core/losses/piecewise.hpp"

namespace southwell {

struct SquaredHinge : PiecewiseQuadratic<SquaredHinge> {
  static constexpr std::string_view name = "squared_hinge";
  static constexpr std::string_view targets = "signs";

  Real kappa() const { return 1; }
  Real eps() const { return 0; }
  Interval domain(Real b) const { return against(b, infinity); }
};

} // namespace southwell
