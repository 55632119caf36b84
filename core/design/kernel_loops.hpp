// The definitions of kernels.hpp, and the list of types they are compiled for.
#pragma once
#include "core/design/kernels.hpp"
#include "core/support/math.hpp"
#include "core/support/simd.hpp"
#include <array>
#include <cmath>

namespace southwell::kernels {

template <class Value> SOUTHWELL_CLONES Real dot(const Value* a, const Real* v, Index n) {
  Real s = 0;
#pragma omp simd reduction(+ : s)
  for (Index k = 0; k < n; ++k) s += Real(a[k]) * v[k];
  return s;
}

template <class Value> SOUTHWELL_CLONES void add(const Value* a, Real c, Real* v, Index n) {
#pragma omp simd
  for (Index k = 0; k < n; ++k) v[k] += c * Real(a[k]);
}

template <class Value> SOUTHWELL_CLONES Real dot(const Value* a, Real shift, const Real* v, Index n) {
  Real s = 0;
#pragma omp simd reduction(+ : s)
  for (Index k = 0; k < n; ++k) s += (Real(a[k]) + shift) * v[k];
  return s;
}

template <class Value> SOUTHWELL_CLONES void add(const Value* a, Real shift, Real c, Real* v, Index n) {
#pragma omp simd
  for (Index k = 0; k < n; ++k) v[k] += c * (Real(a[k]) + shift);
}

template <class Value> SOUTHWELL_CLONES Real dot(const Value* a, const Real* shifts, const Real* v, Index n) {
  Real s = 0;
#pragma omp simd reduction(+ : s)
  for (Index k = 0; k < n; ++k) s += (Real(a[k]) + shifts[k]) * v[k];
  return s;
}

template <class Value>
SOUTHWELL_CLONES void add(const Value* a, const Real* shifts, Real c, Real* v, Index n) {
#pragma omp simd
  for (Index k = 0; k < n; ++k) v[k] += c * (Real(a[k]) + shifts[k]);
}

template <class Value> SOUTHWELL_CLONES rounding::Sum terms(const Value* a, const Real* v, Index n) {
  Real value = 0, size = 0;
#pragma omp simd reduction(+ : value, size)
  for (Index k = 0; k < n; ++k) {
    const Real term = Real(a[k]) * v[k];
    value += term;
    size += std::abs(term);
  }
  return {value, size};
}

// out += sum_k a_k V[at(k)], eight columns of V at a time: the sums stay in registers.
template <class Value, class At>
SOUTHWELL_INLINE void wide_dot(const Value* a, Index size, At&& at, const Real* V, Index width, Real* out) {
  Index c = 0;
  for (; c + 8 <= width; c += 8) {
    std::array<Real, 8> s{};
    for (Index k = 0; k < size; ++k) {
      const Real factor = Real(a[k]);
      const Real* v = V + at(k) * width + c;
#pragma omp simd
      for (int t = 0; t < 8; ++t) s[t] += factor * v[t];
    }
    for (int t = 0; t < 8; ++t) out[c + t] += s[t];
  }
  for (; c + 2 <= width; c += 2) {
    Real s0 = 0, s1 = 0;
    for (Index k = 0; k < size; ++k) {
      const Real* v = V + at(k) * width + c;
      s0 += Real(a[k]) * v[0];
      s1 += Real(a[k]) * v[1];
    }
    out[c] += s0;
    out[c + 1] += s1;
  }
  if (c < width) out[c] += unrolled(size, [&](Index k) { return Real(a[k]) * V[at(k) * width + c]; });
}
// V[at(k)] += a_k coefficients
template <class Value, class At>
SOUTHWELL_INLINE void wide_add(const Value* a, Index size, At&& at, const Real* coefficients, Index width,
                               Real* V) {
  for (Index k = 0; k < size; ++k) {
    const Real factor = Real(a[k]);
    Real* v = V + at(k) * width;
#pragma omp simd
    for (Index c = 0; c < width; ++c) v[c] += factor * coefficients[c];
  }
}

template <class Value>
SOUTHWELL_CLONES void wide_dot_in_row(const Value* a, Index size, const Real* V, Index width, Real* out) {
  wide_dot(a, size, [](Index k) { return k; }, V, width, out);
}
template <class Value>
SOUTHWELL_CLONES void wide_add_in_row(const Value* a, Index size, const Real* c, Index width, Real* V) {
  wide_add(a, size, [](Index k) { return k; }, c, width, V);
}
template <class Value, class Position>
SOUTHWELL_CLONES void wide_dot_at(const Value* a, const Position* p, Index size, const Real* V, Index width,
                                  Real* out) {
  wide_dot(a, size, [p](Index k) { return Index(p[k]); }, V, width, out);
}
template <class Value, class Position>
SOUTHWELL_CLONES void wide_add_at(const Value* a, const Position* p, Index size, const Real* c, Index width,
                                  Real* V) {
  wide_add(a, size, [p](Index k) { return Index(p[k]); }, c, width, V);
}

// `a` are pointers to the numbers of four fibers; T columns of the table are in registers, as are sums over
// even and over odd positions: one sum alone would wait for its last addition.
template <int T>
SOUTHWELL_INLINE void four_dots(const Real* const* a, Index size, const Real* V, Index width, Real* out) {
  constexpr int sums = T > 1 ? 2 : 1; // compilers see to that of single numbers
  Real s0[sums * T] = {}, s1[sums * T] = {}, s2[sums * T] = {}, s3[sums * T] = {};
  for (Index i = 0; i < size; i += sums)
    for (int part = 0; part < sums && i + part < size; ++part) {
      const Real* v = V + (i + part) * width;
      const Real x0 = a[0][i + part], x1 = a[1][i + part], x2 = a[2][i + part], x3 = a[3][i + part];
#pragma omp simd
      for (int t = 0; t < T; ++t) {
        s0[part * T + t] += x0 * v[t];
        s1[part * T + t] += x1 * v[t];
        s2[part * T + t] += x2 * v[t];
        s3[part * T + t] += x3 * v[t];
      }
    }
  for (int from = 0; from < sums * T; from += T)
    for (int t = 0; t < T; ++t) {
      out[t] += s0[from + t];
      out[width + t] += s1[from + t];
      out[2 * width + t] += s2[from + t];
      out[3 * width + t] += s3[from + t];
    }
}
template <int T>
SOUTHWELL_INLINE void four_adds(const Real* const* a, Index size, const Real* c, Index width, Real* V) {
  Real c0[T], c1[T], c2[T], c3[T];
  for (int t = 0; t < T; ++t) {
    c0[t] = c[t];
    c1[t] = c[width + t];
    c2[t] = c[2 * width + t];
    c3[t] = c[3 * width + t];
  }
  for (Index i = 0; i < size; ++i) {
    Real* v = V + i * width;
    const Real x0 = a[0][i], x1 = a[1][i], x2 = a[2][i], x3 = a[3][i];
#pragma omp simd
    for (int t = 0; t < T; ++t) v[t] += (x0 * c0[t] + x1 * c1[t]) + (x2 * c2[t] + x3 * c3[t]);
  }
}
SOUTHWELL_CLONES void wide_dots(const Real* const* a, Index size, const Real* V, Index width, Real* out) {
  Index c = 0;
  for (; c + 8 <= width; c += 8) four_dots<8>(a, size, V + c, width, out + c);
  for (; c + 4 <= width; c += 4) four_dots<4>(a, size, V + c, width, out + c);
  for (; c + 2 <= width; c += 2) four_dots<2>(a, size, V + c, width, out + c);
  for (; c < width; ++c) four_dots<1>(a, size, V + c, width, out + c);
}
SOUTHWELL_CLONES void wide_adds(const Real* const* a, Index size, const Real* by, Index width, Real* V) {
  Index c = 0;
  for (; c + 8 <= width; c += 8) four_adds<8>(a, size, by + c, width, V + c);
  for (; c + 4 <= width; c += 4) four_adds<4>(a, size, by + c, width, V + c);
  for (; c + 2 <= width; c += 2) four_adds<2>(a, size, by + c, width, V + c);
  for (; c < width; ++c) four_adds<1>(a, size, by + c, width, V + c);
}

#define SOUTHWELL_FOR_VALUES(Value)                                                                          \
  template Real dot(const Value*, const Real*, Index);                                                       \
  template void add(const Value*, Real, Real*, Index);                                                       \
  template Real dot(const Value*, Real, const Real*, Index);                                                 \
  template void add(const Value*, Real, Real, Real*, Index);                                                 \
  template Real dot(const Value*, const Real*, const Real*, Index);                                          \
  template void add(const Value*, const Real*, Real, Real*, Index);                                          \
  template rounding::Sum terms(const Value*, const Real*, Index);                                            \
  template void wide_dot_in_row(const Value*, Index, const Real*, Index, Real*);                             \
  template void wide_add_in_row(const Value*, Index, const Real*, Index, Real*);                             \
  template void wide_dot_at(const Value*, const std::int32_t*, Index, const Real*, Index, Real*);            \
  template void wide_add_at(const Value*, const std::int32_t*, Index, const Real*, Index, Real*);            \
  template void wide_dot_at(const Value*, const std::int64_t*, Index, const Real*, Index, Real*);            \
  template void wide_add_at(const Value*, const std::int64_t*, Index, const Real*, Index, Real*);

SOUTHWELL_FOR_VALUES(float)
SOUTHWELL_FOR_VALUES(double)
#undef SOUTHWELL_FOR_VALUES

} // namespace southwell::kernels
