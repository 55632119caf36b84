// Losses over k margins whose dual points are y = p - e_b, p a probability vector and b the class: what
// multinomial losses of one sample share. Vectors are k numbers in a row.
#pragma once
#include "core/support/math.hpp"
#include <functional>

namespace southwell {

namespace simplex {

// The nearest probability vector, in place (Held, Wolfe and Crowder 1974): v less a threshold, clipped at 0.
// Newton on the threshold, which only grows; it ends because each step drops entries.
inline void project(Real* v, Index k) {
  const Real top = *std::max_element(v, v + k); // which shifts nothing, and keeps rounding small
  for (Index c = 0; c < k; ++c) v[c] -= top;
  Real threshold = -infinity;
  for (Index round = 0; round <= k; ++round) {
    Real total = 0;
    Index count = 0;
    for (Index c = 0; c < k; ++c)
      if (v[c] > threshold) {
        total += v[c];
        ++count;
      }
    const Real next = (total - 1) / Real(count);
    if (!(next > threshold)) break;
    threshold = next;
  }
  for (Index c = 0; c < k; ++c) v[c] = std::max(v[c] - threshold, 0.0);
}

// Is it a probability vector, but for rounding?
inline bool contains(const Real* p, Index k) {
  Real total = 0, least = 0;
  for (Index c = 0; c < k; ++c) {
    total += p[c];
    least = std::min(least, p[c]);
  }
  return least >= -1e-12 && std::abs(total - 1) <= 1e-11;
}

} // namespace simplex

} // namespace southwell
