// phi(m) = max(0, 1 - b m), b = -1 or +1.
#pragma once
#include "core/losses/piecewise.hpp"

namespace southwell {

struct Hinge : PiecewiseQuadratic<Hinge> {
  static constexpr std::string_view name = "hinge";
  static constexpr std::string_view targets = "signs";
  static constexpr bool smooth = false;

  Real kappa() const { return 0; }
  Real eps() const { return 0; }
  Interval domain(Real b) const { return against(b, 1); }
};

} // namespace southwell
