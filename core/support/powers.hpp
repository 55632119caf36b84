// The largest eigenvalue of a symmetric positive semi-definite matrix that is known by its products, about:
// by powers, from a start that is orthogonal to nothing in particular. Never too large.
#pragma once
#include "core/concepts.hpp"
#include <cmath>
#include <utility>
#include <vector>

namespace southwell {

// `product(v)` puts the image in the place of v.
template <class Product> Real largest_eigenvalue(Index size, int steps, Real precision, Product&& product) {
  std::vector<Real> v(static_cast<std::size_t>(size));
  for (Index t = 0; t < size; ++t) v[t] = std::sin(1 + 2.39996 * Real(t)) + 0.1;
  Real value = 0;
  for (int step = 0; step < steps; ++step) {
    Real square = 0, grown = 0;
    for (const Real u : v) square += u * u;
    product(v);
    for (const Real u : v) grown += u * u;
    if (!(grown > 0)) break;
    const Real before = std::exchange(value, std::sqrt(grown / square));
    for (Real& u : v) u /= value;
    if (std::abs(value - before) <= precision * value) break;
  }
  return value;
}

} // namespace southwell
