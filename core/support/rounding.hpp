// Bounds of rounding errors. They hold for any order of additions, with and without fused multiply-adds.
//
// With the unit roundoff u, a sum of k products is off by at most k u / (1 - k u) times the sum of their
// sizes (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, section 3.1), and what underflows by
// far less than `tiny` each. Bounds are themselves computed with rounding; a factor of 1.01 covers that.
#pragma once
#include "core/support/math.hpp"

namespace southwell::rounding {

inline constexpr Real unit = 0x1p-53;
inline constexpr Real tiny = 1e-300;

// Of a sum of `terms` products whose sizes add up to `size`, as computed.
inline Real of_sum(Index terms, Real size) { return 1.01 * (Real(terms) + 4) * unit * size + tiny; }

// An upper bound of a sum of terms, each rounded once. Neumaier's sum errs by two units of the sum, and by
// the squares of as many units as there are terms.
class SumAbove {
public:
  void add(Real term) {
    sum_.add(term);
    size_ += std::abs(term);
    ++count_;
  }
  Real size() const { return 1.01 * size_; } // of the terms, from above
  Real above() const { return sum_.value() + error(); }
  Real below() const { return sum_.value() - error(); }

private:
  Real error() const {
    const Real n = Real(count_) * unit;
    return 1.01 * (4 * unit * std::abs(sum_.value()) + (2 * unit + 2 * n * n) * size_) + tiny;
  }
  CompensatedSum sum_;
  Real size_ = 0;
  Index count_ = 0;
};

} // namespace southwell::rounding
