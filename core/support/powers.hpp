// The largest eigenvalue of a symmetric positive semi-definite matrix, by the power method, from products
// with vectors. An estimate that is never too large. The start is fixed, and unlikely to be orthogonal to the
// eigenvector.
#pragma once
#include "core/concepts.hpp"
#include <cmath>
#include <utility>
#include <vector>

namespace southwell {

// `product(v)` replaces v by the product.
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
