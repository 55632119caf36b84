// Dense fibers times tables, four fibers at a time, so that each number of the table is read once for four
// fibers, and 512 positions at a time, so that this part of the table stays in the cache.
#pragma once
#include "core/design/wide.hpp"
#include <type_traits>

namespace southwell {

namespace kernels {

// `a` are pointers to the numbers of four fibers; T columns of the table are in registers.
template <int T>
SOUTHWELL_INLINE void four_dots(const Real* const* a, Index size, const Real* V, Index width, Real* out) {
  Real s0[T] = {}, s1[T] = {}, s2[T] = {}, s3[T] = {};
  for (Index i = 0; i < size; ++i) {
    const Real* v = V + i * width;
    const Real x0 = a[0][i], x1 = a[1][i], x2 = a[2][i], x3 = a[3][i];
#pragma omp simd
    for (int t = 0; t < T; ++t) {
      s0[t] += x0 * v[t];
      s1[t] += x1 * v[t];
      s2[t] += x2 * v[t];
      s3[t] += x3 * v[t];
    }
  }
  for (int t = 0; t < T; ++t) {
    out[t] += s0[t];
    out[width + t] += s1[t];
    out[2 * width + t] += s2[t];
    out[3 * width + t] += s3[t];
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
// out_f += sum_i a_f[i] V_i for four fibers f, rows of `width` numbers
SOUTHWELL_CLONES inline void wide_dots(const Real* const* a, Index size, const Real* V, Index width,
                                       Real* out) {
  Index c = 0;
  for (; c + 8 <= width; c += 8) four_dots<8>(a, size, V + c, width, out + c);
  for (; c + 4 <= width; c += 4) four_dots<4>(a, size, V + c, width, out + c);
  for (; c + 2 <= width; c += 2) four_dots<2>(a, size, V + c, width, out + c);
  for (; c < width; ++c) four_dots<1>(a, size, V + c, width, out + c);
}
// V_i += sum_f a_f[i] c_f
SOUTHWELL_CLONES inline void wide_adds(const Real* const* a, Index size, const Real* by, Index width,
                                       Real* V) {
  Index c = 0;
  for (; c + 8 <= width; c += 8) four_adds<8>(a, size, by + c, width, V + c);
  for (; c + 4 <= width; c += 4) four_adds<4>(a, size, by + c, width, V + c);
  for (; c + 2 <= width; c += 2) four_adds<2>(a, size, by + c, width, V + c);
  for (; c < width; ++c) four_adds<1>(a, size, by + c, width, V + c);
}

} // namespace kernels

// Four fibers over a stretch of positions, as float64 with their shifts; copied only if they are not stored
// so.
class FourFibers {
public:
  static constexpr Index most = 512; // positions in a stretch

  template <class Store> const Real* const* read(const Store& store, Index k, Index from, Index count) {
    for (Index f = 0; f < 4; ++f) {
      const auto fiber = store[k + f];
      at_[f] = buffer_[f];
      if (fiber.size() == 0) { // it stores nothing
        std::fill_n(buffer_[f], count, 0.0);
        continue;
      }
      if (const Real* numbers = fiber.in_place(from))
        at_[f] = numbers;
      else
        fiber.copy_stretch(from, count, buffer_[f]);
    }
    return at_;
  }

private:
  Real buffer_[4][most];
  const Real* at_[4];
};

inline Index wide_stretch(Index width) { return std::clamp<Index>(4096 / width, 64, FourFibers::most); }

// Where part `part` of `parts` begins among `count` fibers: at a multiple of four, so that the
// groups of four, and hence the numbers, do not depend on the number of parts.
inline Index start_of_part(Index count, int part, int parts) {
  return part == parts ? count : count * part / parts / 4 * 4;
}

// out_k += fiber k' V for the fibers from, ..., to - 1 of a dense store, over positions 0, ..., length - 1.
template <class Store>
void dots_of_dense(const Store& store, Index from, Index to, Index length, const Real* V, Index width,
                   Real* out) {
  FourFibers four;
  const Index by = wide_stretch(width);
  for (Index start = 0; start < length; start += by) {
    const Index count = std::min(by, length - start);
    Index k = from;
    for (; k + 4 <= to; k += 4)
      kernels::wide_dots(four.read(store, k, start, count), count, V + start * width, width, out + k * width);
    for (; k < to; ++k) dot_between(store[k], start, start + count, V, width, out + k * width);
  }
}
// V += sum_k fiber k c_k', for positions in a stretch.
template <class Store>
void add_dense(const Store& store, Index fibers, Index from, Index to, const Real* c, Index width, Real* V) {
  FourFibers four;
  const Index by = wide_stretch(width);
  const auto zero = [&](Index k, Index count) {
    return std::all_of(c + k * width, c + (k + count) * width, [](Real v) { return v == 0; });
  };
  for (Index start = from; start < to; start += by) {
    const Index count = std::min(by, to - start);
    Index k = 0;
    for (; k + 4 <= fibers; k += 4)
      if (!zero(k, 4))
        kernels::wide_adds(four.read(store, k, start, count), count, c + k * width, width, V + start * width);
    for (; k < fibers; ++k)
      if (!zero(k, 1)) add_between(store[k], start, start + count, c + k * width, width, V);
  }
}

} // namespace southwell
