// What a norm of a block of numbers supplies to the penalties on blocks (block_penalty.hpp), which do the
// rest. Norms are absolute: they depend on the sizes |x_e| and rise with each. So thresholds and signs act
// before the norm,
//
//     prox of strength N + l1 ||.||_1 + (l2/2)||.||^2  =  prox of strength N after soft thresholding, shrunk,
//
// and whatever is asked of a slope v is asked of w = soft(v, l1), that is of numbers of(v_e) >= 0. The dual
// norm is N*(w) = max <w, x> over N(x) <= 1, and by Moreau's identity the distance of w from the dual ball of
// a radius is the length of the prox of radius N at w.
#pragma once
#include "core/support/rounding.hpp"
#include <span>
#include <string_view>

namespace southwell {

// The Euclidean length of of(v_1), of(v_2), ...; in units of the largest where squares would overflow or
// vanish.
template <class Of> Real length(CVec v, Of&& of) {
  Real square = 0;
  for (const Real u : v) {
    const Real at = of(u);
    square += at * at;
  }
  if (square > 1e-280 && square < 1e280) return std::sqrt(square);
  Real most = 0;
  for (const Real u : v) most = std::max(most, std::abs(of(u)));
  if (!(most > 0) || !std::isfinite(most)) return most;
  square = 0;
  for (const Real u : v) {
    const Real at = of(u) / most;
    square += at * at;
  }
  return most * std::sqrt(square);
}

// strength N around a block u with size = N(u) > 0. Newton's method moves the entries `inside` alone, and
// these so that the norm stays smooth: on its manifold through u.
struct Around {
  CVec u;
  std::span<const char> inside;
  Real strength, size;
};

template <class N>
concept BlockNorm = requires(const N n, CVec x, Vec v, Real radius, Real factor, Index size, const Around& at,
                             bool exact, Real (*of)(Real)) {
  { N::name } -> std::convertible_to<std::string_view>;
  { n.value(x) } -> std::same_as<Real>;
  { n.dual(x, of) } -> std::same_as<Real>; // N* of of(x_1), of(x_2), ...
  // by how much that grows, if each of(x_e) > 0 grows by |x_e|
  { n.dual_growth(x, of) } -> std::same_as<Real>;
  { n.distance(x, radius, of) } -> std::same_as<Real>;   // from the dual ball of this radius
  { n.distance_above(x, radius) } -> std::same_as<Real>; // of x >= 0, with every rounding error
  { N::lipschitz(size) } -> std::same_as<Real>;          // N*(w) <= this times ||w||, on blocks of this size
  { n.prox(v, radius, factor) };                         // in place: factor times the prox of radius N
  { n.balance(v) }; // in place: less one number for all, that for which N is least

  // strength N on its manifold; outputs are of the whole block
  { n.add_gradient(at, v) };     // v += the gradient, or any subgradient at u
  { n.add_curvature(at, x, v) }; // v += the curvature times x, which is tangent
  // For S the diagonal `v` plus the curvature, in place: the inverse of S on tangent vectors is about
  // diag(v) + c `along` along', and c is returned. `exact`: S is not only locally right.
  { n.invert(at, exact, v, v) } -> std::same_as<Real>;
  // Of a tangent step v only what stays on the manifold, or at its ends: a block that would pass zero
  // stops there. True if that is all of it.
  { n.keep(at, v) } -> std::same_as<bool>;
};

// An upper bound of N*(w) for w >= 0. As computed, values of norms and their duals have relative errors of at
// most 2 (k + 8) u on blocks of k numbers.
template <class N> Real dual_above(const N& norm, CVec w) {
  return (1 + 2 * Real(w.size() + 8) * rounding::unit) * norm.dual(w, [](Real u) { return u; });
}

} // namespace southwell
