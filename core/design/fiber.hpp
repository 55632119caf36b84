// One row or one column: contiguous numbers, or (position, value) pairs.
#pragma once
#include "core/concepts.hpp"
#include "core/design/kernels.hpp"
#include "core/support/rounding.hpp"
#include "core/support/simd.hpp"
#include <algorithm>

namespace southwell {

// Entries value_k + shift_k, the shift being one number (a column less its mean) or one for each position (a
// row less the means). It is added as the values are read: subtracting two long sums afterwards would lose
// digits.
template <class Value> class DenseFiber {
public:
  DenseFiber(const Value* values, Index length, Real shift = 0, const Real* shifts = nullptr)
      : values_(values), shifts_(shifts), shift_(shift), length_(length) {}
  static DenseFiber empty() { return {nullptr, 0}; }

  Index size() const { return length_; }
  Real dot(CVec u) const {
    if (shifts_) return kernels::dot(values_, shifts_, u.data(), length_);
    return shift_ == 0 ? kernels::dot(values_, u.data(), length_)
                       : kernels::dot(values_, shift_, u.data(), length_);
  }
  rounding::Sum terms(CVec u) const {
    if (plain()) return kernels::terms(values_, u.data(), length_);
    return sum([&](Index k, Real a) { return rounding::Sum{a * u[k], std::abs(a * u[k])}; });
  }
  void add_to(Vec v, Real a) const {
    if (shifts_) return kernels::add(values_, shifts_, a, v.data(), length_);
    shift_ == 0 ? kernels::add(values_, a, v.data(), length_)
                : kernels::add(values_, shift_, a, v.data(), length_);
  }
  void add_between(Index from, Index to, Vec v, Real a) const {
    to = std::min(to, length_);
    if (from >= to) return;
    DenseFiber(values_ + from, to - from, shift_, shifts_ ? shifts_ + from : nullptr)
        .add_to(v.subspan(from), a);
  }
  template <class H> void visit(H&& h) const {
    if (shifts_)
      for (Index k = 0; k < length_; ++k) h(k, Real(values_[k]) + shifts_[k]);
    else
      for (Index k = 0; k < length_; ++k) h(k, Real(values_[k]) + shift_);
  }
  template <class H> void visit_between(Index from, Index to, H&& h) const { // positions from, ..., to - 1
    for (Index k = from; k < std::min(to, length_); ++k)
      h(k, Real(values_[k]) + (shifts_ ? shifts_[k] : shift_));
  }
  void copy_at(std::span<const Index> positions, Real* out) const { // increasing positions, of a column
    const Index size = Index(positions.size());
    if (length_ == 0 || size == 0) return void(std::fill_n(out, size, 0.0));
    if (positions.back() - positions.front() + 1 == size) // consecutive
      for (Index k = 0; k < size; ++k) out[k] = Real(values_[positions[0] + k]) + shift_;
    else
      for (Index k = 0; k < size; ++k) out[k] = Real(values_[positions[k]]) + shift_;
  }
  void copy_stretch(Index from, Index count, Real* out) const { // positions from, ..., from + count - 1
    for (Index k = 0; k < count; ++k)
      out[k] = Real(values_[from + k]) + (shifts_ ? shifts_[from + k] : shift_);
  }
  const Value* values() const { return values_; }
  // A pointer to the numbers from a position on if they are float64 without a shift; else null.
  const Real* in_place(Index from) const {
    if constexpr (std::is_same_v<Value, Real>)
      if (plain()) return values_ + from;
    return nullptr;
  }
  Real shift() const { return shift_; } // of a column
  bool plain() const { return shift_ == 0 && !shifts_; }
  template <class H> auto sum(H&& h) const {
    return shifts_ ? unrolled(length_, [&](Index k) { return h(k, Real(values_[k]) + shifts_[k]); })
                   : unrolled(length_, [&](Index k) { return h(k, Real(values_[k]) + shift_); });
  }

private:
  const Value* values_;
  const Real* shifts_;
  Real shift_;
  Index length_;
};

template <class Value, class Position> class SparseFiber {
public:
  SparseFiber(const Value* values, const Position* positions, Index size)
      : values_(values), positions_(positions), size_(size) {}
  static SparseFiber empty() { return {nullptr, nullptr, 0}; }

  Index size() const { return size_; }
  const Value* values() const { return values_; }
  const Position* positions() const { return positions_; }
  void prefetch() const {
    SOUTHWELL_PREFETCH(values_);
    SOUTHWELL_PREFETCH(positions_);
  }

  // These two run once for a sample: a call that is not inlined costs a tenth of a product with short rows.
  SOUTHWELL_INLINE Real dot(CVec u) const {
    const Real* v = u.data();
    return unrolled(size_, [&](Index k) { return Real(values_[k]) * v[positions_[k]]; });
  }
  SOUTHWELL_INLINE void add_to(Vec v, Real a) const {
    Real* out = v.data();
    for (Index k = 0; k < size_; ++k) out[positions_[k]] += a * Real(values_[k]);
  }
  rounding::Sum terms(CVec u) const {
    return sum([v = u.data()](Index k, Real a) { return rounding::Sum{a * v[k], std::abs(a * v[k])}; });
  }
  template <class H> void visit(H&& h) const {
    for (Index k = 0; k < size_; ++k) h(Index(positions_[k]), Real(values_[k]));
  }
  template <class H> void visit_between(Index from, Index to, H&& h) const {
    Index k = std::lower_bound(positions_, positions_ + size_, from) - positions_;
    for (; k < size_ && positions_[k] < to; ++k) h(Index(positions_[k]), Real(values_[k]));
  }
  template <class H> auto sum(H&& h) const {
    return unrolled(size_, [&](Index k) { return h(Index(positions_[k]), Real(values_[k])); });
  }

private:
  const Value* values_;
  const Position* positions_;
  Index size_;
};

static_assert(Fiber<DenseFiber<float>> && Fiber<DenseFiber<double>> &&
              Fiber<SparseFiber<float, std::int32_t>>);

} // namespace southwell
