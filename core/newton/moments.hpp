// Sums of a column with the first and second derivatives of the loss.
#pragma once
#include "core/design/design.hpp"

namespace southwell {

namespace kernels {

template <class Value>
SOUTHWELL_CLONES Design::Moments moments(const Value* a, Real shift, const Real* r, const Real* h, Index n) {
  Real slope = 0, weighted = 0, square = 0;
#pragma omp simd reduction(+ : slope, weighted, square)
  for (Index k = 0; k < n; ++k) {
    const Real value = Real(a[k]) + shift, with = h[k] * value;
    slope += r[k] * value;
    weighted += with;
    square += with * value;
  }
  return {slope, weighted, square};
}

} // namespace kernels

// Of what is stored of a column, without the frame.
template <class Value> Design::Moments moments_of(const DenseFiber<Value>& fiber, CVec r, CVec h) {
  if (fiber.size() == 0) return {};
  return kernels::moments(fiber.values(), fiber.shift(), r.data(), h.data(), fiber.size());
}
template <class F> Design::Moments moments_of(const F& fiber, CVec r, CVec h) {
  Design::Moments out;
  fiber.visit([&](Index i, Real a) {
    const Real with = h[i] * a;
    out += {r[i] * a, with, with * a};
  });
  return out;
}

} // namespace southwell
