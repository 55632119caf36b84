// phi(m) = log(1 + exp(-b m)), b = -1 or +1. With t = -b y in [0, 1]: phi*(y) = t log t + (1-t) log(1-t).
#pragma once
#include "core/losses/loss.hpp"
#include "core/support/bracketed_newton.hpp"
#include "core/support/rounding.hpp"

namespace southwell {

struct Logistic : OneMargin {
  static constexpr std::string_view name = "logistic";
  static constexpr std::string_view targets = "signs";
  static constexpr bool log_odds = true;
  static constexpr Real self_concordance = 1; // |phi'''| = phi'' |1 - 2t| <= phi''

  SOUTHWELL_INLINE Real value(Real m, Real b) const { return log1p_exp(-b * m); }
  SOUTHWELL_INLINE Real derivative(Real m, Real b) const { return -b * sigmoid(-b * m); }
  SOUTHWELL_INLINE Real curvature(Real y, Real b) const { return -b * y * (1 + b * y); }
  SOUTHWELL_INLINE Real conjugate(Real y, Real b) const {
    // What 1 - t loses by rounding counts where t is tiny: to first order it is u times that.
    const Real t = -b * y, u = 1 - t, lost = (1 - u) - t, value = xlogx(t) + (xlogx(u) + u * lost);
    return t >= -1e-12 && t <= 1 + 1e-12 ? value : infinity;
  }
  // exp and log1p err by a few units each (see docs/mathematics.md, "Rounding"), and nothing cancels.
  Real value_rounding(Real, Real, Real value) const { return 16 * rounding::unit * value + rounding::tiny; }
  // Two logarithms; and 1 - t, whose rounding is corrected but for a part of the order of u min(t, 1).
  Real conjugate_rounding(Real y, Real b, Real value) const { // both of its terms are <= 0
    return 32 * rounding::unit * (std::abs(value) - b * y) + rounding::tiny;
  }
  // Vertical at both ends: what t cannot tell from its end for rounding counts as the end.
  Interval conjugate_subdifferential(Real y, Real b) const {
    const Real t = -b * y, within = clip(t, 1e-300, 1 - 1e-16), slope = std::log(within / (1 - within));
    const Interval in_t{t <= 1e-300 ? -infinity : slope, t >= 1 - 1e-16 ? infinity : slope};
    return b > 0 ? Interval{-in_t.hi, -in_t.lo} : in_t;
  }
  Real conjugate_bregman(Real y, Real u, Real r, Real b) const { // close together it is a square
    const Real t = -b * u, d = u - y, room = std::min(t, 1 - t);
    if (std::abs(d) < 1e-4 * room) return d * d / (2 * t * (1 - t));
    return std::max(conjugate(y, b) - conjugate(u, b) + r * d, 0.0);
  }
  Interval domain(Real b) const { return b > 0 ? Interval{-1, 0} : Interval{0, 1}; }

  static constexpr Real exactly = newton_settled;
  static constexpr Real expandable = 0.5; // steps in u up to this keep t within (0, 1) by two terms

  // t solves u + q (t - t0) = -b m with u = logit t. In u the equation is increasing with slope between 1 and
  // 1 + q/4, so Newton inside a shrinking bracket ends after a few steps, with t exact to rounding near 0.
  // Its second derivative is smaller than its first: after a step of length e the error is less than e^2 / 2.
  // `settled`: the step after which no other is taken. From y0, the way itself is at least as long as the
  // last step e, so t is wrong by at most about e / 2 of its way.
  Real maximise(Real m, Real y0, Real q, Real b, Real settled = exactly) const {
    const Real c = -b * m, t0 = -b * y0;
    if (!(q > 0)) return -b * sigmoid(c);
    const Real lo = c - q * (1 - t0), hi = c + q * t0;
    const bool inside = t0 > 0 && t0 < 1;
    const Real start = inside ? std::log(t0 / (1 - t0)) : c;
    const auto f = [&](Real u) {
      const Real t = inside && u == start ? t0 : sigmoid(u);
      return Slanted{u + q * (t - t0) - c, 1 + q * t * (1 - t)};
    };
    const Real u = bracketed_newton(lo, hi, clip(start, lo, hi), f, settled), e = u - start;
    // A short way needs no exponential: what its second order leaves out is less than e^2 / 6 of it.
    if (inside && settled > exactly && std::abs(e) <= settled && settled <= expandable)
      return y0 - b * t0 * (1 - t0) * e * (1 + (0.5 - t0) * e);
    return -b * sigmoid(u);
  }
  Real smoothness() const { return 0.25; }
};

} // namespace southwell
