// The best common shift of all margins, as an intercept adds it.
#pragma once
#include "core/sample_loss.hpp"
#include <cmath>

namespace southwell {

// The shift c that minimises sum_i s_i phi_i(m_i + c), to rounding, and the bracket it was found in: the
// derivative is <= 0 at lo and >= 0 at hi.
struct Shift {
  Real best = 0, lo = 0, hi = 0;
  bool found = false;
};

// Newton inside a bracket on the derivative, from a guess.
inline Shift best_shift(const SampleLoss& loss, CVec margins, Real guess = 0) {
  const auto at_rest = [](Real c) { return Shift{.best = c, .lo = c, .hi = c, .found = true}; };
  Slope at = loss.slope(margins, guess);
  if (!std::isfinite(at.first)) return guess == 0 ? Shift{} : best_shift(loss, margins);
  if (at.first == 0) return at_rest(guess);
  // A Newton step of length e leaves an error of e^2 where phi'' is smooth, and none where it is constant.
  const bool squares = loss.smooth() && !loss.piecewise();
  const auto tiny = [&](Real c) {
    return loss.quadratic() || (squares && std::abs(at.first / at.second) <= 1e-9 * (1 + std::abs(c)));
  };
  if (tiny(guess)) return at_rest(guess - at.first / at.second);
  Real size = 0; // of the numbers at play
  for (std::size_t i = 0; i < margins.size(); ++i)
    size = std::max({size, std::abs(margins[i]), std::abs(loss.targets()[i])});
  const Real unit = size > 0 ? std::min(size, 1.0) : 1;
  size = std::max(size, 1.0);
  const Real direction = at.first > 0 ? -1 : 1, newton = std::abs(at.first / at.second);
  const Real most = std::min(1e15 * size, 1e300); // finite, or the search would not end
  Real step = newton < unit / 2 ? 2 * newton : unit, near = guess;
  while (loss.slope(margins, guess + direction * step).first * direction <
         0) {                   // until the derivative changes sign
    if (step > most) return {}; // it never does: there is no finite minimiser
    near = guess + direction * step;
    step *= 4;
  }
  const Real far = guess + direction * step;
  Shift shift{.best = guess, .lo = std::min(near, far), .hi = std::max(near, far), .found = true};
  for (int k = 0; k < 200; ++k) {
    const Real newton = shift.best - at.first / at.second; // curvature 0 gives infinity or NaN: bisect
    const bool inside = newton > shift.lo && newton < shift.hi;
    const Real next = inside ? newton : shift.lo + (shift.hi - shift.lo) / 2;
    if (next == shift.best || next == shift.lo || next == shift.hi) break; // down to rounding
    if (inside && tiny(shift.best)) return at_rest(next);
    shift.best = next;
    at = loss.slope(margins, shift.best);
    if (at.first == 0) return at_rest(shift.best);
    (at.first > 0 ? shift.hi : shift.lo) = shift.best;
  }
  return shift;
}

} // namespace southwell
