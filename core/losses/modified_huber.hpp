// phi(m) = max(0, 1 - b m)^2 for b m >= -1, -4 b m beyond: the squared hinge, linear far on the wrong side.
#pragma once
#include "core/losses/piecewise.hpp"

namespace southwell {

struct ModifiedHuber : PiecewiseQuadratic<ModifiedHuber> {
  static constexpr std::string_view name = "modified_huber";
  static constexpr std::string_view targets = "signs";

  Real kappa() const { return 0.5; }
  Real eps() const { return 0; }
  Interval domain(Real b) const { return against(b, 4); }
};

} // namespace southwell
