// Bounds of rounding errors. They hold for any order of additions, with and without fused multiply-adds.
//
// With the unit roundoff u, the error of a sum of k products is at most k u / (1 - k u) times the sum of
// their absolute values, its size (Higham, "Accuracy and Stability of Numerical Algorithms", 2002,
// section 3.1), plus far less than `tiny` for each product that underflows. Bounds are themselves computed
// with rounding; a factor of 1.01 covers that.
#pragma once
#include "core/support/math.hpp"

namespace southwell::rounding {

inline constexpr Real unit = 0x1p-53;
inline constexpr Real tiny = 1e-300;

// A bound of the error of a sum of `terms` products with sum of absolute values `size`, as computed.
inline Real of_sum(Index terms, Real size) { return 1.01 * (Real(terms) + 4) * unit * size + tiny; }

// A sum of terms, added in any order, and the sum of their absolute values.
struct Sum {
  Real value = 0, size = 0;

  Sum& operator+=(const Sum& other) {
    value += other.value;
    size += other.size;
    return *this;
  }
  friend Sum operator+(Sum a, const Sum& b) { return a += b; }
};

// An upper bound of a sum of terms, each rounded once. The error of Neumaier's sum is at
// most 2 u |sum| + O(k^2 u^2) times the size. Chunks of terms may be added as plain sums, which are faster.
class SumAbove {
public:
  static constexpr Index chunk = 64;

  void add(Real term) {
    sum_.add(term);
    size_ += std::abs(term);
    ++count_;
  }
  void add(Sum of_chunk) {
    sum_.add(of_chunk.value);
    size_ += of_chunk.size;
    in_chunks_ += of_chunk.size;
    ++count_;
  }
  Real size() const { return 1.01 * size_; } // an upper bound
  Real above() const { return sum_.value() + error(); }
  Real below() const { return sum_.value() - error(); }

private:
  Real error() const {
    const Real n = Real(count_) * unit;
    return 1.01 * (4 * unit * std::abs(sum_.value()) + (2 * unit + 2 * n * n) * size_) +
           of_sum(chunk, in_chunks_);
  }
  CompensatedSum sum_;
  Real size_ = 0, in_chunks_ = 0;
  Index count_ = 0;
};

// `terms(from, size)` is the Sum of the terms from, ..., from + size - 1.
template <class Terms> SumAbove sum_of_chunks(Index count, Terms&& terms) {
  SumAbove sum;
  for (Index from = 0; from < count; from += SumAbove::chunk)
    sum.add(terms(from, std::min(SumAbove::chunk, count - from)));
  return sum;
}

} // namespace southwell::rounding
