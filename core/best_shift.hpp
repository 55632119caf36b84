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

// Newton inside a bracket on the derivative, from a guess. `sums` answers for all samples, wherever they are:
// slope(c), the derivatives of the loss in the shift, and largest(), the size of the numbers at play.
template <class Sums> Shift best_shift_of(const Sums& sums, Real guess) {
  const auto at_rest = [](Real c) { return Shift{.best = c, .lo = c, .hi = c, .found = true}; };
  Slope at = sums.slope(guess);
  if (!std::isfinite(at.first)) return guess == 0 ? Shift{} : best_shift_of(sums, 0);
  if (at.first == 0) return at_rest(guess);
  // A Newton step of length e leaves an error of e^2 where phi'' is smooth, and none where it is constant.
  const bool squares = sums.smooth() && !sums.piecewise();
  const auto tiny = [&](Real c) {
    return sums.quadratic() || (squares && std::abs(at.first / at.second) <= 1e-9 * (1 + std::abs(c)));
  };
  if (tiny(guess)) return at_rest(guess - at.first / at.second);
  Real size = sums.largest();
  const Real unit = size > 0 ? std::min(size, 1.0) : 1;
  size = std::max(size, 1.0);
  const Real direction = at.first > 0 ? -1 : 1, newton = std::abs(at.first / at.second);
  const Real most = std::min(1e15 * size, 1e300); // finite, or the search would not end
  Real step = newton < unit / 2 ? 2 * newton : unit, near = guess;
  while (sums.slope(guess + direction * step).first * direction < 0) { // until the derivative changes sign
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
    at = sums.slope(shift.best);
    if (at.first == 0) return at_rest(shift.best);
    (at.first > 0 ? shift.hi : shift.lo) = shift.best;
  }
  return shift;
}

inline Real largest_number(const SampleLoss& loss, CVec margins) {
  Real size = 0;
  for (std::size_t i = 0; i < margins.size(); ++i)
    size = std::max({size, std::abs(margins[i]), std::abs(loss.targets()[i])});
  for (const Real o : loss.offsets()) size = std::max(size, std::abs(o));
  return size;
}
inline Shift best_shift(const SampleLoss& loss, CVec margins, Real guess = 0) {
  struct Sums {
    const SampleLoss& loss;
    CVec margins;
    Slope slope(Real shift) const { return loss.slope(margins, shift); }
    Real largest() const { return largest_number(loss, margins); }
    bool smooth() const { return loss.smooth(); }
    bool piecewise() const { return loss.piecewise(); }
    bool quadratic() const { return loss.quadratic(); }
  };
  return best_shift_of(Sums{loss, margins}, guess);
}

// y in the subdifferential of the loss at the best intercept, with s-weighted sum zero. The derivatives sum
// to a number <= 0 on the left of the minimiser and >= 0 on its right; at kinks the wanted y is a convex
// combination of the two.
inline void balanced_derivative(const SampleLoss& loss, CVec margins, Vec y) {
  const CVec s = loss.weights();
  const Shift shift = best_shift(loss, margins);
  std::vector<Real> moved(margins.begin(), margins.end()), right(y.size());
  const auto derivative_at = [&](Real c, Vec out) {
    for (std::size_t i = 0; i < moved.size(); ++i) moved[i] = margins[i] + c;
    loss.derivative(moved, out);
    Real total = 0;
    for (std::size_t i = 0; i < out.size(); ++i) total += s[i] * out[i];
    return total;
  };
  const Real low = derivative_at(shift.lo, y), high = derivative_at(shift.hi, right);
  const Real part = high > low ? clip(-low / (high - low), 0, 1) : 0;
  for (std::size_t i = 0; i < y.size(); ++i) y[i] += part * (right[i] - y[i]);
  balance(s, y);
}

} // namespace southwell
