// Sums with several partial sums.
#pragma once
#include "core/concepts.hpp"
#include "core/support/simd.hpp"
#include <type_traits>

namespace southwell {

// term(0) + ... + term(size - 1) in four partial sums, because additions to a single one would wait for each
// other.
template <class Term> SOUTHWELL_INLINE auto unrolled(Index size, Term&& term) {
  std::remove_cvref_t<decltype(term(Index(0)))> s0{}, s1{}, s2{}, s3{};
  Index k = 0;
  for (; k + 4 <= size; k += 4) {
    s0 += term(k);
    s1 += term(k + 1);
    s2 += term(k + 2);
    s3 += term(k + 3);
  }
  for (; k < size; ++k) s0 += term(k);
  return (s0 + s1) + (s2 + s3);
}

} // namespace southwell
