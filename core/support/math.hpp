// Scalar functions without branches or library calls where that lets loops over them vectorise.
#pragma once
#include "core/concepts.hpp"
#include "core/support/simd.hpp"
#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <type_traits>

namespace southwell {

inline constexpr Real infinity = std::numeric_limits<Real>::infinity();

SOUTHWELL_INLINE Real clip(Real v, Real lo, Real hi) { return std::min(std::max(v, lo), hi); }
SOUTHWELL_INLINE Real clip(Real v, Interval box) { return clip(v, box.lo, box.hi); }
SOUTHWELL_INLINE Real soft(Real v, Real threshold) { return v - clip(v, -threshold, threshold); }

// Whether all numbers are equal.
inline bool uniform(CVec v) {
  for (const Real value : v)
    if (value != v[0]) return false;
  return true;
}

// term(0) + ... + term(size - 1) in four partial sums, because additions to a single one would wait for each
// other.
template <class Term> SOUTHWELL_INLINE auto unrolled(Index size, Term&& term) {
  std::remove_cvref_t<decltype(term(Index(0)))> s0{}, s1{}, s2{}, s3{};
  Index k = 0;
  for (; k + 4 <= size; k += 4) {
    s0 += term(k);
    s1 += term(k + 1);
    s2 += term(k + 2);
    s3 += term(k + 3);
  }
  for (; k < size; ++k) s0 += term(k);
  return (s0 + s1) + (s2 + s3);
}

// Neumaier's compensated sum: the rounding errors of the additions are summed separately.
class CompensatedSum {
public:
  void add(Real term) {
    const Real next = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }
  Real value() const { return sum_ + lost_; }

private:
  Real sum_ = 0, lost_ = 0;
};

// e^x to about one unit in the last place on [-708, 709], clamped outside.
// x = k log 2 + r with |r| <= log(2)/2; a Taylor polynomial for e^r; 2^k through the exponent bits.
SOUTHWELL_INLINE Real exponential(Real x) {
  constexpr Real to_integer = 6755399441055744.0; // 1.5 * 2^52: adding it rounds, its low bits hold k
  x = clip(x, -708.0, 709.0);
  const Real shifted = x * 1.4426950408889634 + to_integer;
  const Real k = shifted - to_integer;
  const Real r = (x - k * 6.93147180369123816490e-01) - k * 1.90821492927058770002e-10;
  Real p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const auto bits = std::bit_cast<std::uint64_t>(p) + (std::bit_cast<std::uint64_t>(shifted) << 52);
  return std::bit_cast<Real>(bits);
}

// 1/3 + w/5 + ... + w^9/21 + w^10 rest, the series of (atanh(s) - s) / s^3 at w = s^2. Written out: a loop
// here would keep loops around it from vectorising.
SOUTHWELL_INLINE Real atanh_series(Real w, Real rest) {
  Real p = rest * w + 1.0 / 21.0;
  p = p * w + 1.0 / 19.0;
  p = p * w + 1.0 / 17.0;
  p = p * w + 1.0 / 15.0;
  p = p * w + 1.0 / 13.0;
  p = p * w + 1.0 / 11.0;
  p = p * w + 1.0 / 9.0;
  p = p * w + 1.0 / 7.0;
  p = p * w + 1.0 / 5.0;
  return p * w + 1.0 / 3.0;
}

// log x to about one unit in the last place for normal x > 0: x = 2^k f with f near 1, log f = 2
// atanh((f-1)/(f+1)).
SOUTHWELL_INLINE Real logarithm(Real x) {
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcd; // the bits of sqrt(1/2), where f begins
  const auto bits = std::bit_cast<std::uint64_t>(x) - root_half;
  const auto f = std::bit_cast<Real>((bits & 0x000fffffffffffff) + root_half);
  // k from the exponent bits without a conversion, which not every instruction set has for 64 bits
  constexpr Real to_integer = 6755399441055744.0;
  const Real k = std::bit_cast<Real>(std::bit_cast<std::uint64_t>(to_integer) +
                                     std::uint64_t(std::int64_t(bits) >> 52)) -
                 to_integer;
  const Real s = (f - 1.0) / (f + 1.0), w = s * s, p = atanh_series(w, 1.0 / 23.0);
  return k * 6.93147180369123816490e-01 + (k * 1.90821492927058770002e-10 + (2.0 * s + 2.0 * s * w * p));
}

// t log t, 0 at 0; arguments below 0 by rounding count as 0.
SOUTHWELL_INLINE Real xlogx(Real t) {
  const Real value = t * logarithm(std::max(t, 2.3e-308));
  return t > 0 ? value : 0;
}

// log(1 + u) for u in [0, 1], exact to rounding for tiny u too: 2 atanh(u / (2 + u)).
SOUTHWELL_INLINE Real log1p_unit(Real u) {
  const Real s = u / (2.0 + u), w = s * s;
  Real p = 1.0 / 35.0;
  p = p * w + 1.0 / 33.0;
  p = p * w + 1.0 / 31.0;
  p = p * w + 1.0 / 29.0;
  p = p * w + 1.0 / 27.0;
  p = p * w + 1.0 / 25.0;
  p = p * w + 1.0 / 23.0;
  return 2.0 * s * (atanh_series(w, p) * w + 1.0);
}

// log(1 + e^z) for any z.
SOUTHWELL_INLINE Real log1p_exp(Real z) { return std::max(z, 0.0) + log1p_unit(exponential(-std::abs(z))); }

// 1 / (1 + e^-z) for any z, with full relative accuracy where it is tiny.
SOUTHWELL_INLINE Real sigmoid(Real z) {
  const Real e = exponential(-std::abs(z));
  return (z < 0 ? e : 1.0) / (1.0 + e);
}

} // namespace southwell
