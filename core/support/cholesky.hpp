// The Cholesky factor L L' = H of a symmetric positive definite matrix that grows and shrinks by one row and
// column. Appending costs a triangular solve, removing a row of rotations: k^2 each, where factoring anew
// costs k^3 / 3.
#pragma once
#include "core/design/fiber.hpp"
#include <cmath>
#include <vector>

namespace southwell {

class Cholesky {
public:
  Index size() const { return size_; }
  void clear() { size_ = 0; }

  // The next row of H, `row[0..size]` with its diagonal last. False, and nothing changes, if H would not be
  // positive definite beyond rounding: if less than a part `least` of the diagonal is left.
  bool append(const Real* row, Real least = 1e-13) {
    reserve(size_ + 1);
    Real* own = line(size_);
    for (Index k = 0; k < size_; ++k) {
      const Real* other = line(k);
      own[k] = (row[k] - kernels::dot(own, other, k)) / other[k];
    }
    const Real rest = row[size_] - kernels::dot(own, own, size_);
    if (!(rest > least * row[size_])) return false;
    own[size_++] = std::sqrt(rest);
    return true;
  }
  // Without row and column k: Givens rotations bring the rows below back to a triangle.
  void remove(Index k) {
    for (Index i = k; i + 1 < size_; ++i) std::copy_n(line(i + 1), i + 2, line(i));
    --size_;
    for (Index c = k; c < size_; ++c) {
      const Real a = line(c)[c], b = line(c)[c + 1], r = std::hypot(a, b), cosine = a / r, sine = b / r;
      line(c)[c] = r;
      for (Index i = c + 1; i < size_; ++i) {
        Real *row = line(i), u = row[c], v = row[c + 1];
        row[c] = cosine * u + sine * v;
        row[c + 1] = cosine * v - sine * u;
      }
    }
  }
  // v = H^-1 v
  void solve(Real* v) const {
    for (Index i = 0; i < size_; ++i) v[i] = (v[i] - kernels::dot(line(i), v, i)) / line(i)[i];
    for (Index i = size_; i-- > 0;) {
      v[i] /= line(i)[i];
      kernels::add(line(i), -v[i], v, i);
    }
  }

private:
  Real* line(Index i) { return rows_.data() + i * stride_; }
  const Real* line(Index i) const { return rows_.data() + i * stride_; }
  void reserve(Index size) {
    if (size <= stride_) return;
    const Index wide = std::max<Index>(2 * stride_, std::max<Index>(size, 32));
    std::vector<Real> rows(std::size_t(wide * wide));
    for (Index i = 0; i < size_; ++i) std::copy_n(line(i), i + 1, rows.data() + i * wide);
    rows_ = std::move(rows);
    stride_ = wide;
  }

  Index size_ = 0, stride_ = 0;
  std::vector<Real> rows_;
};

} // namespace southwell
