// Gram matrices: inner products of many lines (rows of numbers) with each other. Line k of a block begins at
// block + k * length.
#pragma once
#include "core/support/blas.hpp"
#include "core/support/helpers.hpp"
#include <cmath>

namespace southwell {

// Where part `part` of the lines from, ..., to - 1 of a triangle begins, if parts are to have the same area.
inline Index line_of_area(Index from, Index to, int part, int parts) {
  const Real share = Real(part) / parts, f = Real(from), t = Real(to);
  return part == parts ? to : std::max(from, Index(std::sqrt(f * f * (1 - share) + t * t * share)));
}

// matrix[a * stride + b] += <left_a, right_b> for from <= a < to and b <= a, and for some b > a beside the
// diagonal. Lines are divided among threads; the result does not depend on their number.
inline void add_products(const Real* left, const Real* right, Index length, Index from, Index to,
                         Real* matrix, Index stride) {
  divide(length * (to - from) * to / 32, [&](int part, int parts) {
    const auto line = [&](int k) { // blocks begin at the first line, so they do not depend on the thread
      const Index at = line_of_area(from, to, k, parts);
      return at == to ? to : from + (at - from) / blas::lines * blas::lines;
    };
    for (Index a = line(part), end = line(part + 1); a < end; a += blas::lines) {
      const Index rows = std::min(blas::lines, end - a);
      for (Index b = 0; b < a + rows; b += blas::lines)
        blas::add_block(left + a * length, length, rows, right + b * length, length,
                        std::min(blas::lines, a + rows - b), length, 1, matrix + a * stride + b, stride);
    }
  });
}

} // namespace southwell
