// A lower bound of the least eigenvalue of a symmetric positive semidefinite matrix M with a unit diagonal,
// from products with M alone: Lanczos' method from a random vector v (Golub and Van Loan, Matrix
// Computations, 10.1).
//
// Its tridiagonal matrix T_k has Ritz values, which are never below the least eigenvalue lambda; so they
// alone bound nothing from below. But of all monic polynomials of degree k, the characteristic polynomial chi
// of T_k makes ||chi(M) v|| smallest, and that norm is the product of the k numbers beta beside the diagonal.
// Let c be the component of v along an eigenvector of lambda. If lambda <= L, and L is below all Ritz values,
// then
//
//     |c| |chi(L)|  <=  |c chi(lambda)|  <=  ||chi(M) v||  =  beta_1 ... beta_k,     |chi(L)| = d_1 ... d_k
//
// with the pivots d of T_k - L I. v is uniform on the sphere of R^m, so |c| <= t has a probability of at most
// t sqrt(2 m / pi). With t such that this is 1e-10, t d_1 ... d_k > beta_1 ... beta_k shows that lambda > L.
// Rounding errors act as if M had small clusters instead of eigenvalues (Greenbaum, Linear Algebra and its
// Applications 113, 1989): they matter for L near roundoff alone, which is not tried.
#pragma once
#include "core/support/math.hpp"
#include "core/support/random.hpp"
#include <numbers>
#include <vector>

namespace southwell {

inline std::vector<Real> random_direction(Index size, std::uint64_t seed) {
  Random random(seed);
  std::vector<Real> v(static_cast<std::size_t>(size));
  Real square = 0;
  for (Real& number : v) { // normally distributed (Box and Muller, 1958)
    const Real radius = std::sqrt(-2 * std::log(1 - random.unit()));
    number = radius * std::cos(2 * std::numbers::pi * random.unit());
    square += number * number;
  }
  for (Real& number : v) number /= std::sqrt(square);
  return v;
}

// `multiply(v, out)` writes M v. 0 if no bound was found after so many steps, or if `hurry` returned true.
template <class Multiply, class Hurry>
Real least_eigenvalue_above(Index size, Multiply&& multiply, Hurry&& hurry, Index steps = 1000) {
  struct Candidate {
    Real bound, pivot = 0, evidence; // log of t d_1 ... d_k / (beta_1 ... beta_k)
  };
  constexpr Real chance = 1e-10, ratio = 4, first = 0.25, last = 1e-7; // lambda <= 1
  std::vector<Candidate> candidates; // descending; those above a Ritz value are removed
  for (Real bound = first; bound > last; bound /= ratio)
    candidates.push_back({bound, 0, std::log(chance) - 0.5 * std::log(2 * Real(size) / std::numbers::pi)});
  std::vector<Real> v = random_direction(size, 0), before(v.size()), next(v.size());
  Real beta = 0;
  for (Index k = 0; k < steps && !hurry(); ++k) {
    multiply(CVec(v), Vec(next));
    Real alpha = 0, square = 0;
    for (std::size_t e = 0; e < v.size(); ++e) alpha += v[e] * (next[e] -= beta * before[e]);
    for (std::size_t e = 0; e < v.size(); ++e) {
      next[e] -= alpha * v[e];
      square += next[e] * next[e];
    }
    const Real following = std::sqrt(square);
    if (!std::isfinite(following)) return 0;
    for (Candidate& c : candidates) {
      c.pivot = alpha - c.bound - (k > 0 ? beta * beta / c.pivot : 0);
      c.evidence += std::log(c.pivot) - std::log(following); // NaN if the pivot is negative; it is removed
    }
    std::erase_if(candidates, [](const Candidate& c) { return !(c.pivot > 0); });
    if (candidates.empty()) return 0;
    // The largest may be close to a Ritz value, and then evidence for it takes many more steps.
    for (std::size_t c = 0; c < std::min<std::size_t>(2, candidates.size()); ++c)
      if (candidates[c].evidence > 0) return candidates[c].bound;
    if (following == 0) return 0; // cannot be: evidence would be infinite
    beta = following;
    before.swap(v);
    for (std::size_t e = 0; e < v.size(); ++e) v[e] = next[e] / beta;
  }
  return 0;
}

} // namespace southwell
