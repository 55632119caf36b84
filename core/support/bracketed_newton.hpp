// Newton's method for an increasing function whose second derivative is not larger than its first: after a
// step of length e the error is less than e^2 / 2.
#pragma once
#include "core/support/math.hpp"

namespace southwell {

struct Slanted {
  Real value, slope;
};

// The root of `f(u)`, a Slanted, between lo and hi, from u. Where the function is flat, or an exponential,
// Newton would jump from end to end, or creep: a step must stay inside and shrink, or the bracket is
// bisected.
template <class Function> SOUTHWELL_INLINE Real bracketed_newton(Real lo, Real hi, Real u, Function&& f) {
  Real last = hi - lo;
  for (int step = 0; step < 100; ++step) {
    const Slanted at = f(u);
    if (at.value == 0) break;
    (at.value > 0 ? hi : lo) = u;
    Real next = u - at.value / at.slope;
    const bool newton = next > lo && next < hi && std::abs(next - u) <= 0.75 * last;
    if (!newton) next = lo + (hi - lo) / 2;
    last = std::abs(next - u);
    u = next;
    if (last <= (newton ? 1.5e-8 : 4e-16 * (1 + std::abs(u)))) break;
  }
  return u;
}

} // namespace southwell
