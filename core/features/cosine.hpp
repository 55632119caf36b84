// Random Fourier features from random projections: v <- factor cos(v + phase), in place, each column with its
// phase.
#pragma once
#include "core/concepts.hpp"
#include "core/support/math.hpp"
#include "core/support/simd.hpp"

namespace southwell {

namespace kernels {

// cos(z) for any finite z. The error is a few units of rounding of 1 and of z, which is enough because z is a
// sum with rounding errors of its own. With y = z / (2 pi) minus the nearest integer, cos z = sin(2 pi (1/4 -
// |y|)), computed by a Taylor series on [-pi/2, pi/2].
SOUTHWELL_INLINE Real cosine(Real z) {
  constexpr Real to_integer = 6755399441055744.0; // 1.5 * 2^52: adding it rounds
  const Real turns = z * 0.15915494309189535;
  const Real y =
      clip(turns - ((turns + to_integer) - to_integer), -0.5, 0.5); // z so large that y has no accurate digit
  const Real s = (0.25 - std::abs(y)) * 6.283185307179586, w = s * s;
  Real p = -1.0 / 121645100408832000.0;
  p = p * w + 1.0 / 355687428096000.0;
  p = p * w - 1.0 / 1307674368000.0;
  p = p * w + 1.0 / 6227020800.0;
  p = p * w - 1.0 / 39916800.0;
  p = p * w + 1.0 / 362880.0;
  p = p * w - 1.0 / 5040.0;
  p = p * w + 1.0 / 120.0;
  p = p * w - 1.0 / 6.0;
  return s + s * w * p;
}

// Returns whether all numbers were finite; the result of one that was not is NaN.
template <class Value>
SOUTHWELL_CLONES bool cosines(Value* values, Index rows, Index cols, const Value* phases, Real factor) {
  Value sum = 0; // a number is not finite exactly when its product with zero is not zero
  for (Index i = 0; i < rows; ++i, values += cols) {
#pragma omp simd reduction(+ : sum)
    for (Index j = 0; j < cols; ++j) {
      sum += values[j] * Value(0);
      values[j] = Value(factor * cosine(Real(values[j]) + Real(phases[j])));
    }
  }
  return sum == Value(0);
}

} // namespace kernels

} // namespace southwell
