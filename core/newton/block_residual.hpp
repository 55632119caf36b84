// The residual R_i + H_i (A (X - X0))_i of a quadratic model over blocks, H_i = diag(h_i) or, where margins
// compete, diag(h_i) - h_i h_i'/sum h_i, kept true as rows of X move. Like that of numbers (residual.hpp) it
// is in two parts, what is stored and H_i t with the k numbers t that the frame has added to all margins: a
// move costs the stored entries of its column, and k^2 for the sum over all samples.
#pragma once
#include "core/design/columns.hpp"
#include "core/design/wide.hpp"
#include "core/loss_sum.hpp"
#include "core/newton/expansion.hpp"
#include "core/support/simd.hpp"
#include "core/support/table_rows.hpp"

namespace southwell {

namespace kernels {

// R_i += a_i H_i by along a fiber; `inverse_totals` is null where margins do not compete. If `framed`,
// `total` rises by the sum of all changes.
template <bool framed, class Value, class At>
SOUTHWELL_INLINE void bent_add(const Value* a, Index size, At&& at, const Real* by, const Real* h,
                               const Real* inverse_totals, Index k, Real* r, Real* total) {
  for (Index e = 0; e < size; ++e) {
    const Index i = at(e);
    const Real *own = h + i * k, factor = Real(a[e]);
    Real* row = r + i * k;
    Real mean = 0;
    if (inverse_totals) {
#pragma omp simd reduction(+ : mean)
      for (Index c = 0; c < k; ++c) mean += own[c] * by[c];
      mean *= inverse_totals[i];
    }
#pragma omp simd
    for (Index c = 0; c < k; ++c) {
      const Real change = factor * own[c] * (by[c] - mean);
      row[c] += change;
      if constexpr (framed) total[c] += change;
    }
  }
}
template <bool framed>
SOUTHWELL_CLONES void bent_add_in_row(const Real* a, Index size, const Real* by, const Real* h,
                                      const Real* inverse_totals, Index k, Real* r, Real* total) {
  bent_add<framed>(a, size, [](Index e) { return e; }, by, h, inverse_totals, k, r, total);
}
template <bool framed>
SOUTHWELL_CLONES void bent_add_at(const Real* a, const std::int32_t* p, Index size, const Real* by,
                                  const Real* h, const Real* inverse_totals, Index k, Real* r, Real* total) {
  bent_add<framed>(a, size, [p](Index e) { return Index(p[e]); }, by, h, inverse_totals, k, r, total);
}

} // namespace kernels

class BlockResidual {
public:
  BlockResidual(const LossSum& loss, const Expansion& at) : loss_(loss), at_(at), k_(loss.width()) {}

  void begin(CVec r) {
    stored_.assign(r.begin(), r.end());
    t_.assign(std::size_t(k_), 0.0);
  }
  // Before sweeps; `framed`: has any column a constant?
  void begin_sweeps(bool framed) {
    framed_ = framed;
    inverse_totals_.assign(loss_.coupled() ? stored_.size() / t_.size() : 0, 0.0);
    for (std::size_t i = 0; i < inverse_totals_.size(); ++i) {
      const Real* h = at_.h.data() + i * t_.size();
      const Real total = std::reduce(h, h + k_);
      if (total > 0) inverse_totals_[i] = 1 / total;
    }
    if (!framed) return;
    total_.assign(std::size_t(k_), 0.0);
    diagonal_.assign(std::size_t(k_), 0.0);
    add_rows(stored_, total_);
    add_rows(at_.h, diagonal_);
    competition_ = loss_.competition(at_.h);
    for (Index a = 0; a < (competition_.empty() ? 0 : k_); ++a) // the whole of a symmetric matrix
      for (Index b = a + 1; b < k_; ++b) competition_[a * k_ + b] = competition_[b * k_ + a];
  }

  // Of a column that is `column` plus gamma, as it is now.
  template <class F> void slope(const F& column, Real gamma, Real* out) const {
    if (!framed_) return dot_wide(column, stored_.data(), k_, out);
    column.visit([&](Index i, Real a) {
      const Real *r = stored_.data() + i * k_, *h = at_.h.data() + i * k_;
      const Real mean = centre(i, h, t_.data());
      for (Index c = 0; c < k_; ++c) out[c] += a * (r[c] + h[c] * (t_[c] - mean));
    });
    for (Index c = 0; c < k_; ++c) out[c] += gamma * total_[c];
  }
  template <class F> void move(const F& column, Real gamma, const Real* by) {
    if (k_ == 1 && !framed_) return column.visit([&](Index i, Real a) { stored_[i] += at_.h[i] * a * *by; });
    framed_ ? move_stored<true>(column, by) : move_stored<false>(column, by);
    if (gamma == 0) return;
    for (Index c = 0; c < k_; ++c) {
      t_[c] += gamma * by[c];
      total_[c] += gamma * diagonal_[c] * by[c];
      if (loss_.coupled()) total_[c] += gamma * kernels::dot(competition_.data() + c * k_, by, k_);
    }
  }
  // All of it as one table.
  CVec whole() {
    if (std::any_of(t_.begin(), t_.end(), [](Real v) { return v != 0; }))
      for (std::size_t i = 0; i < stored_.size() / t_.size(); ++i) {
        const Real* h = at_.h.data() + i * t_.size();
        const Real mean = loss_.coupled() ? loss_.centre(h, t_.data()) : 0;
        for (std::size_t c = 0; c < t_.size(); ++c) stored_[i * t_.size() + c] += h[c] * (t_[c] - mean);
      }
    std::fill(t_.begin(), t_.end(), 0.0);
    return stored_;
  }

private:
  template <bool framed, class Value> void move_stored(const DenseFiber<Value>& column, const Real* by) {
    in_stretches(column, 0, column.size(), [&](Index start, const Real* a, Index count) {
      const Real* inverse = inverse_totals_.empty() ? nullptr : inverse_totals_.data() + start;
      kernels::bent_add_in_row<framed>(a, count, by, at_.h.data() + start * k_, inverse, k_,
                                       stored_.data() + start * k_, total_.data());
    });
  }
  template <bool framed> void move_stored(const SparseColumns::Fiber& column, const Real* by) {
    const Real* inverse = inverse_totals_.empty() ? nullptr : inverse_totals_.data();
    kernels::bent_add_at<framed>(column.values(), column.positions(), column.size(), by, at_.h.data(),
                                 inverse, k_, stored_.data(), total_.data());
  }
  // LossSum::centre of sample i, whose h have a known sum.
  Real centre(Index i, const Real* h, const Real* v) const {
    if (inverse_totals_.empty()) return 0;
    Real with = 0;
#pragma omp simd reduction(+ : with)
    for (Index c = 0; c < k_; ++c) with += h[c] * v[c];
    return with * inverse_totals_[std::size_t(i)];
  }

  const LossSum& loss_;
  const Expansion& at_;
  Index k_;
  bool framed_ = false;
  std::vector<Real> stored_, t_;
  std::vector<Real> total_;                  // over the samples, of all of it
  std::vector<Real> diagonal_, competition_; // of sum_i H_i
  std::vector<Real> inverse_totals_;         // 1 / sum_c h_ic, where margins compete
};

} // namespace southwell
