// Random Fourier features from random projections: v <- factor cos(v + phase), in place, each column with its
// phase.
#pragma once
#include "core/concepts.hpp"
#include "core/support/math.hpp"
#include "core/support/simd.hpp"

namespace southwell {

namespace kernels {

// cos(z) for any finite z, off by no more than a few units of rounding of 1 and of z: a product of many
// terms, as z is here, is no better known. With y turns from the nearest whole one, cos z = sin(2 pi (1/4 -
// |y|)); a Taylor series on a quarter turn each way.
SOUTHWELL_INLINE Real cosine(Real z) {
  constexpr Real to_integer = 6755399441055744.0; // 1.5 * 2^52: adding it rounds
  const Real turns = z * 0.15915494309189535;
  const Real y =
      clip(turns - ((turns + to_integer) - to_integer), -0.5, 0.5); // clipped where no digit is left
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

// Were all numbers finite? Of those that were not the result is NaN.
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
