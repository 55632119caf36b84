// phi(m) = m + b exp(-m), b > 0 (log link): half the deviance of the gamma distribution, but for a constant.
//
// It is the Poisson loss with target 1 at the margin log b - m, plus log b. With u = 1 - y >= 0:
// phi*(y) = u log u - u - u log b.
#pragma once
#include "core/losses/poisson.hpp"

namespace southwell {

struct Gamma : OneMargin {
  static constexpr std::string_view name = "gamma";
  static constexpr std::string_view targets = "positive";
  static constexpr bool may_overflow = true; // e^-m
  static constexpr bool log_link = true;
  static constexpr Real self_concordance = 1; // phi''' = -phi''

  SOUTHWELL_INLINE Real value(Real m, Real b) const { return m < -709 ? infinity : m + b * exponential(-m); }
  SOUTHWELL_INLINE Real derivative(Real m, Real b) const { return 1 - b * Poisson::bounded_exp(-m); }
  SOUTHWELL_INLINE Real curvature(Real y, Real) const { return std::max(1 - y, 0.0); }
  Real conjugate(Real y, Real b) const {
    return Poisson{}.conjugate(-y, 1) - std::max(1 - y, 0.0) * logarithm(b);
  }
  Real value_rounding(Real m, Real, Real value) const { // b e^-m is the value less m
    return 16 * rounding::unit * (std::abs(value) + 2 * std::abs(m)) + rounding::tiny;
  }
  Real conjugate_rounding(Real y, Real b, Real value) const {
    const Real u = std::max(1 - y, 0.0);
    return Poisson{}.conjugate_rounding(-y, 1, value) + 32 * rounding::unit * u * std::abs(logarithm(b));
  }
  Interval conjugate_subdifferential(Real y, Real b) const {
    const Interval mirrored = Poisson{}.conjugate_subdifferential(-y, 1);
    return {logarithm(b) - mirrored.hi, logarithm(b) - mirrored.lo};
  }
  Real conjugate_bregman(Real y, Real u, Real r, Real b) const {
    return Poisson{}.conjugate_bregman(-y, -u, logarithm(b) - r, 1);
  }
  Interval domain(Real) const { return {-infinity, 1}; }
  Real maximise(Real m, Real y0, Real q, Real b) const {
    return q > 0 ? -Poisson{}.maximise(logarithm(b) - m, -y0, q, 1) : derivative(m, b);
  }
  Real smoothness() const { return infinity; }
};

} // namespace southwell
