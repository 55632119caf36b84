// phi(m) = (b + theta) log(1 + e^m / theta) - b m, b >= 0 (log link): counts with mean e^m and variance
// e^m + e^2m / theta, theta known.
//
// With N = b + theta it is N times the logistic loss of target -1 at the margin m - log theta, less b m. With
// u = y + b and v = theta - y, both >= 0 and N together:
// phi*(y) = u log(u / N) + v log(v / N) + u log theta.
#pragma once
#include "core/losses/logistic.hpp"

namespace southwell {

struct NegativeBinomial : OneMargin {
  static constexpr std::string_view name = "negative_binomial";
  static constexpr std::string_view targets = "counts";
  static constexpr bool log_link = true;
  static constexpr Real self_concordance = 1; // as that of the logistic loss

  Real theta = 1;
  static constexpr Parameter<NegativeBinomial> parameter{.name = "theta", .field = &NegativeBinomial::theta};

  SOUTHWELL_INLINE Real value(Real m, Real b) const {
    return (b + theta) * log1p_exp(m - logarithm(theta)) - b * m;
  }
  SOUTHWELL_INLINE Real derivative(Real m, Real b) const { // exact to rounding near both ends
    const Real z = m - logarithm(theta), n = b + theta;
    return z > 0 ? theta - n * sigmoid(-z) : n * sigmoid(z) - b;
  }
  SOUTHWELL_INLINE Real curvature(Real y, Real b) const {
    return std::max(y + b, 0.0) * (std::max(theta - y, 0.0) / (b + theta));
  }
  Real conjugate(Real y, Real b) const {
    const Real n = b + theta, u = y + b, v = theta - y, slack = -1e-12 * (1 + n);
    return u >= slack && v >= slack ? n * (xlogx(u / n) + xlogx(v / n)) + u * logarithm(theta) : infinity;
  }
  // The logarithm of theta and the difference from m are rounded, and the slope of the first term is at most
  // N.
  Real value_rounding(Real m, Real b, Real value) const {
    const Real off = std::abs(m) + std::abs(logarithm(theta));
    return 16 * rounding::unit * (std::abs(value) + 2 * b * std::abs(m) + (b + theta) * off) + rounding::tiny;
  }
  // u / N and v / N are off by a few units of themselves, and the terms with them; those are <= 0.
  Real conjugate_rounding(Real y, Real b, Real) const {
    const Real n = b + theta, u = y + b, entropy = -(xlogx(u / n) + xlogx((theta - y) / n));
    return 32 * rounding::unit * (n * (1 + entropy) + std::abs(u * logarithm(theta))) + rounding::tiny;
  }
  Interval conjugate_subdifferential(Real y, Real b) const {
    const Interval slopes = Logistic{}.conjugate_subdifferential(part(y, b), -1);
    return {slopes.lo + logarithm(theta), slopes.hi + logarithm(theta)};
  }
  Real conjugate_bregman(Real y, Real u, Real r, Real b) const {
    return (b + theta) * Logistic{}.conjugate_bregman(part(y, b), part(u, b), r - logarithm(theta), -1);
  }
  Interval domain(Real b) const { return {-b, theta}; }
  Real maximise(Real m, Real y0, Real q, Real b) const {
    if (q == 0) return derivative(m, b);
    const Real n = b + theta; // y0 may be outside the domain
    return clip(n * Logistic{}.maximise(m - logarithm(theta), (y0 + b) / n, q * n, -1) - b, domain(b));
  }
  Real smoothness() const { return infinity; } // (b + theta) / 4: without a bound over all targets

private:
  Real part(Real y, Real b) const { return clip((y + b) / (b + theta), 0, 1); }
};

} // namespace southwell
