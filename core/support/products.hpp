// Inner products of many lines of numbers with each other, what Gram matrices are made of. Line k of a block
// begins at block + k * length.
#pragma once
#include "core/design/fiber.hpp"
#include "core/support/helpers.hpp"
#include <cmath>

namespace southwell {

namespace kernels {

// to[r * stride + c] += <a_r, b_c> for two lines a and four lines b: eight sums share six loads.
template <class Number>
SOUTHWELL_CLONES void add_products(const Number* a, const Number* b, Index length, Number* to, Index stride) {
  const Number *a0 = a, *a1 = a + length, *b0 = b, *b1 = b0 + length, *b2 = b1 + length, *b3 = b2 + length;
  Number s00 = 0, s01 = 0, s02 = 0, s03 = 0, s10 = 0, s11 = 0, s12 = 0, s13 = 0;
#pragma omp simd reduction(+ : s00, s01, s02, s03, s10, s11, s12, s13)
  for (Index k = 0; k < length; ++k) {
    s00 += a0[k] * b0[k];
    s01 += a0[k] * b1[k];
    s02 += a0[k] * b2[k];
    s03 += a0[k] * b3[k];
    s10 += a1[k] * b0[k];
    s11 += a1[k] * b1[k];
    s12 += a1[k] * b2[k];
    s13 += a1[k] * b3[k];
  }
  Number *first = to, *second = to + stride;
  first[0] += s00, first[1] += s01, first[2] += s02, first[3] += s03;
  second[0] += s10, second[1] += s11, second[2] += s12, second[3] += s13;
}

} // namespace kernels

// Where part `part` of the lines from, ..., to - 1 of a triangle begins, if parts are to have the same area.
inline Index line_of_area(Index from, Index to, int part, int parts) {
  const Real share = Real(part) / parts, f = Real(from), t = Real(to);
  return part == parts ? to : std::max(from, Index(std::sqrt(f * f * (1 - share) + t * t * share)));
}

// matrix[a * stride + b] += <left_a, right_b> for from <= a < to and b <= a, lines divided among threads; no
// number depends on how many there are.
inline void add_products(const Real* left, const Real* right, Index length, Index from, Index to,
                         Real* matrix, Index stride) {
  const auto add_lines = [&](Index first, Index last) { // two at a time
    for (Index a = first; a < last; a += 2) {
      Index b = 0;
      if (a + 1 < last)
        for (; b + 4 <= a + 1; b += 4)
          kernels::add_products(left + a * length, right + b * length, length, matrix + a * stride + b,
                                stride);
      for (Index line = a; line < std::min(a + 2, last); ++line)
        for (Index c = b; c <= line; ++c)
          matrix[line * stride + c] += kernels::dot(left + line * length, right + c * length, length);
    }
  };
  divide(length * (to - from) * to / 8, [&](int part, int parts) {
    const auto line = [&](int k) { // pairs are counted from the first line, whichever thread adds them
      const Index at = line_of_area(from, to, k, parts);
      return at == to ? to : from + (at - from) / 2 * 2;
    };
    add_lines(line(part), line(part + 1));
  });
}

} // namespace southwell
