// phi(m) = 0, (1 - b m)^2 / (2 corner) or 1 - b m - corner/2: the hinge with a rounded corner.
#pragma once
#include "core/losses/piecewise.hpp"

namespace southwell {

struct SmoothHinge : PiecewiseQuadratic<SmoothHinge> {
  static constexpr std::string_view name = "smooth_hinge";
  static constexpr std::string_view targets = "signs";

  Real corner = 1;
  static constexpr Parameter<SmoothHinge> parameter{.name = "corner", .field = &SmoothHinge::corner};
  Real kappa() const { return corner; }
  Real eps() const { return 0; }
  Interval domain(Real b) const { return against(b, 1); }
};

} // namespace southwell
