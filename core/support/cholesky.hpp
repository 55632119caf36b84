// The Cholesky factor L L' = H of a symmetric positive definite matrix that grows and shrinks by one row and
// column. Appending costs a triangular solve, removing a row of rotations: k^2 each, where factoring anew
// costs k^3 / 3. Many rows at once are appended in blocks, by matrix products.
#pragma once
#include "core/support/blas.hpp"
#include <cmath>
#include <memory>

namespace southwell {

class Cholesky {
public:
  Index size() const { return size_; }
  // The cost of factoring `size` rows, in visits of an entry of a sparse column. Measured: 0.4 ms for 200
  // rows, 18 ms for 1,000 and 120 ms for 2,000, at 1.7 ns an entry.
  static Real cost(Index size) { return Real(size) * Real(size) * (4 + Real(size) / 100); }
  void clear() { size_ = 0; }

  // The next row of H, `row[0..size]` with its diagonal last. False, and nothing changes, if H would not be
  // positive definite up to rounding, that is, if the pivot is smaller than `least` times the diagonal entry.
  bool append(const Real* row, Real least = 1e-13) {
    reserve(size_ + 1);
    std::copy_n(row, size_ + 1, line(size_));
    return factor(1, least);
  }
  // The next `count` rows: `fill(k, row)` writes row k of H, up to its diagonal. False if H would not be
  // positive definite, or if `spend(entries)`, which counts the work, returns true.
  template <class Fill, class Spend>
  bool extend(Index count, Fill&& fill, Spend&& spend, Real least = 1e-13) {
    const Index before = size_, to = size_ + count;
    reserve(to);
    while (size_ < to) {
      const Index rows = std::min(blas::lines, to - size_);
      for (Index k = size_; k < size_ + rows; ++k) fill(k, line(k));
      if (!factor(rows, least) || spend(Index(cost(size_) - cost(size_ - rows)))) {
        size_ = before;
        return false;
      }
    }
    return true;
  }
  // Removes row and column k: Givens rotations make the rows below triangular again.
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
  Real smallest_pivot() const { // |L^-1| is about its inverse
    Real least = infinity;
    for (Index i = 0; i < size_; ++i) least = std::min(least, line(i)[i]);
    return least;
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
  // Factors `rows` new rows of H in place, in blocks of rows and columns:
  //
  //     L_rc = (H_rc - sum_(k < c) L_rk L_ck') L_cc^-T.
  bool factor(Index rows, Real least) {
    Real diagonal[blas::lines];
    for (Index r = 0; r < rows; ++r) diagonal[r] = line(size_ + r)[size_ + r];
    for (Index c = 0; c < size_; c += blas::lines) {
      const Index columns = std::min(blas::lines, size_ - c);
      subtract(rows, c, columns);
      for (Index r = size_; r < size_ + rows; ++r) {
        Real* own = line(r) + c;
        for (Index k = 0; k < columns; ++k) {
          const Real* other = line(c + k) + c;
          own[k] = (own[k] - kernels::dot(own, other, k)) / other[k];
        }
      }
    }
    subtract(rows, size_, rows);
    for (Index r = 0; r < rows; ++r) {
      Real* own = line(size_ + r) + size_;
      for (Index k = 0; k < r; ++k) {
        const Real* other = line(size_ + k) + size_;
        own[k] = (own[k] - kernels::dot(own, other, k)) / other[k];
      }
      const Real rest = own[r] - kernels::dot(own, own, r);
      if (!(rest > least * diagonal[r])) return false;
      own[r] = std::sqrt(rest);
    }
    size_ += rows;
    return true;
  }
  // Subtracts the products of the columns before c from these columns of the new rows.
  void subtract(Index rows, Index c, Index columns) {
    if (c > 0)
      blas::add_block(line(size_), stride_, rows, line(c), stride_, columns, c, -1, line(size_) + c, stride_);
  }
  Real* line(Index i) { return rows_.get() + i * stride_; }
  const Real* line(Index i) const { return rows_.get() + i * stride_; }
  void reserve(Index size) {
    if (size <= stride_) return;
    const Index wide = std::max({3 * stride_ / 2, size, Index(32)}) + blas::lines; // for blocks at the end
    auto rows = std::make_unique_for_overwrite<Real[]>(std::size_t(wide * wide));  // upper half unused
    for (Index i = 0; i < size_; ++i) std::copy_n(line(i), i + 1, rows.get() + i * wide);
    rows_ = std::move(rows);
    stride_ = wide;
  }

  Index size_ = 0, stride_ = 0;
  std::unique_ptr<Real[]> rows_;
};

} // namespace southwell
