// phi(m) = e^(a m) / a + b e^(-c m) / c with a = 2 - power, c = power - 1 and b >= 0 (log link): half the
// Tweedie deviance for a power between 1 (Poisson) and 2 (gamma), but for a constant. a + c = 1, without
// rounding.
//
// The conjugate has no closed form: phi*(y) = y m - phi(m) at the margin m with phi'(m) = y, found by Newton.
// At another margin this is too small, by at most r^2 / phi'' for a residual r = phi' - y that is small
// beside phi''; `conjugate_rounding` counts that.
#pragma once
#include "core/losses/poisson.hpp"
#include "core/support/bracketed_newton.hpp"

namespace southwell {

struct Tweedie : OneMargin {
  static constexpr std::string_view name = "tweedie";
  static constexpr std::string_view targets = "counts";
  static constexpr bool may_overflow = true;
  static constexpr bool log_link = true;
  static constexpr Real self_concordance = 1; // |phi'''| <= max(a, c) phi''

  Real power = 1.5;
  static constexpr Parameter<Tweedie> parameter{
      .name = "power", .field = &Tweedie::power, .above = 1, .below = 2};

  SOUTHWELL_INLINE Real value(Real m, Real b) const {
    const Real up = a() * m, down = -c() * m;
    const bool over = up > 709 || (b > 0 && down > 709);
    return over ? infinity : exponential(up) / a() + b * exponential(down) / c();
  }
  SOUTHWELL_INLINE Real derivative(Real m, Real b) const {
    return Poisson::bounded_exp(a() * m) - b * Poisson::bounded_exp(-c() * m);
  }
  Real curvature(Real y, Real b) const { return b > 0 ? bend(margin(y, b), b) : a() * std::max(y, 0.0); }
  Real conjugate(Real y, Real b) const {
    if (b > 0) {
      const Real m = margin(y, b);
      return y * m - value(m, b);
    }
    return y >= -1e-12 ? (xlogx(y) - std::max(y, 0.0)) / a() : infinity;
  }
  // The arguments of the exponentials are rounded, and the error of an exponential grows with its argument.
  Real value_rounding(Real m, Real b, Real value) const {
    return 8 * rounding::unit * value * (2 + std::max(a() * m, b > 0 ? -c() * m : 0.0)) + rounding::tiny;
  }
  Real conjugate_rounding(Real y, Real b, Real) const {
    if (!(b > 0)) return 32 * rounding::unit * (std::abs(xlogx(y)) + std::abs(y)) / a() + rounding::tiny;
    const Real m = margin(y, b), phi = value(m, b), h = bend(m, b);
    const Real off =
        std::abs(derivative(m, b) - y) + 8 * rounding::unit * ((1 + std::abs(m)) * phi + std::abs(y));
    return value_rounding(m, b, phi) + 8 * rounding::unit * std::abs(y * m) + (h > 0 ? off * (off / h) : 0);
  }
  Interval conjugate_subdifferential(Real y, Real b) const { // for b = 0 vertical at 0
    const Real m = margin(y, b);
    return {b > 0 || y > 1e-300 ? m : -infinity, m};
  }
  Real conjugate_bregman(Real y, Real u, Real r, Real b) const { // close together it is a square
    const Real d = u - y, h = curvature(u, b);
    if (std::abs(d) < 1e-4 * h) return d * d / (2 * h);
    return std::max(conjugate(y, b) - conjugate(u, b) + r * d, 0.0);
  }
  Interval domain(Real b) const { return {b > 0 ? -infinity : 0, infinity}; }

  // The margin v of the maximiser solves v + q phi'(v) = m + q y0: it lies between m and the margin of y0.
  // For b = 0 this is Poisson's equation for a v.
  Real maximise(Real m, Real y0, Real q, Real b) const {
    if (q == 0) return derivative(m, b);
    if (!(b > 0)) return Poisson{}.maximise(a() * m, y0, a() * q, 0);
    const Real own = margin(y0, b);
    const auto f = [&](Real v) {
      const Real up = Poisson::bounded_exp(a() * v), down = b * Poisson::bounded_exp(-c() * v);
      return Slanted{(v - m) + q * (up - down - y0), 1 + q * (a() * up + c() * down)};
    };
    return derivative(bracketed_newton(std::min(m, own), std::max(m, own), own, f), b);
  }
  Real smoothness() const { return infinity; }

private:
  Real a() const { return 2 - power; }
  Real c() const { return power - 1; }
  Real bend(Real m, Real b) const { // phi''
    return a() * Poisson::bounded_exp(a() * m) + c() * b * Poisson::bounded_exp(-c() * m);
  }

  // The margin with the derivative y. For y >= 0 it solves a m = log(y + b e^(-c m)); for y < 0 the same
  // holds of -m with a and c exchanged, -y / b for y and 1 / b for b.
  Real margin(Real y, Real b) const {
    if (!(b > 0)) return std::log(std::max(y, 1e-300)) / a();
    const Real own = logarithm(b);
    if (y == 0) return own;
    return y > 0 ? root(a(), c(), std::log(y), own) : -root(c(), a(), std::log(-y) - own, -own);
  }
  // The left side less the right side is increasing and concave with a slope between a and 1: Newton from the
  // left of the root rises to it without overshooting.
  static Real root(Real a, Real c, Real log_y, Real log_b) {
    Real m = std::max(log_y / a, log_b);
    for (int step = 0; step < 100; ++step) {
      const Real other = log_b - c * m, apart = other - log_y;
      const Real off = a * m - (log_y + log1p_exp(apart)), move = off / (a + c * sigmoid(apart));
      m -= move;
      if (std::abs(move) <= 4e-16 * (1 + std::abs(m))) break;
    }
    return m;
  }
};

} // namespace southwell
