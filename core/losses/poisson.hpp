// phi(m) = exp(m) - b m, b >= 0 (log link). With u = y + b >= 0: phi*(y) = u log u - u.
#pragma once
#include "core/losses/loss.hpp"
#include "core/support/rounding.hpp"

namespace southwell {

struct Poisson : OneMargin {
  static constexpr std::string_view name = "poisson";
  static constexpr std::string_view targets = "counts";
  static constexpr bool may_overflow = true; // e^m
  static constexpr bool log_link = true;
  static constexpr Real self_concordance = 1; // phi''' = phi''

  SOUTHWELL_INLINE Real value(Real m, Real b) const { return m > 709 ? infinity : exponential(m) - b * m; }
  SOUTHWELL_INLINE Real derivative(Real m, Real b) const { return bounded_exp(m) - b; }
  SOUTHWELL_INLINE Real curvature(Real y, Real b) const { return std::max(y + b, 0.0); }
  Real conjugate(Real y, Real b) const {
    const Real u = y + b;
    return u >= -1e-12 * (1 + b) ? xlogx(u) - std::max(u, 0.0) : infinity;
  }
  Real value_rounding(Real m, Real b, Real value) const { // e^m is the value and b m
    return 16 * rounding::unit * (std::abs(value) + 2 * b * std::abs(m)) + rounding::tiny;
  }
  Real conjugate_rounding(Real y, Real b,
                          Real) const { // y + b is off by u of itself, and phi* by as much of log u
    const Real u = std::max(y + b, 0.0);
    return 32 * rounding::unit * (std::abs(xlogx(u)) + u) + rounding::tiny;
  }
  Interval conjugate_subdifferential(Real y, Real b) const { // vertical at u = 0, as far as rounding can tell
    const Real slope = std::log(std::max(y + b, 1e-300));
    return {y + b <= 1e-300 ? -infinity : slope, slope};
  }
  Real conjugate_bregman(Real y, Real u, Real r, Real b) const { // close together it is a square
    const Real d = u - y;
    if (std::abs(d) < 1e-4 * (u + b)) return d * d / (2 * (u + b));
    return std::max(conjugate(y, b) - conjugate(u, b) + r * d, 0.0);
  }
  Interval domain(Real b) const { return {-b, infinity}; }

  // v = log u solves v + q e^v = c with c = m + q (y0 + b). The left side is convex and increasing, so Newton
  // from the right of the root, min(c, log(c/q)), falls to it without overshooting.
  Real maximise(Real m, Real y0, Real q, Real b) const {
    const Real c = m + q * (y0 + b);
    Real v = q > 0 && c > 0 ? std::min(c, std::log(c / q)) : c;
    for (int step = 0; step < 100 && q > 0; ++step) {
      const Real e = q * bounded_exp(v), move = (v + e - c) / (1 + e);
      v -= move;
      if (std::abs(move) <= 4e-16 * (1 + std::abs(v))) break;
    }
    return bounded_exp(v) - b;
  }
  Real smoothness() const { return infinity; }

  // Beyond e^600 sums of derivatives would overflow; a minimiser is never there, and any descent direction
  // will do.
  SOUTHWELL_INLINE static Real bounded_exp(Real m) { return exponential(std::min(m, 600.0)); }
};

} // namespace southwell
