// H = A_K' diag(h) A_K, formed on the slots K that were asked for so far.
#pragma once
#include "core/newton/coordinate.hpp"
#include "core/support/products.hpp"
#include <algorithm>
#include <span>
#include <utility>

namespace southwell {

class FormedHessian {
public:
  using Slots = std::span<const std::int32_t>;

  explicit FormedHessian(const Weighted& weighted) : weighted_(weighted) {}

  void forget() { // h has changed
    known_.clear();
    place_.clear();
  }
  bool knows(Index slot) const { return slot < Index(place_.size()) && place_[slot] >= 0; }
  Real operator()(Index k, Index l) const { // of two slots it knows
    const Index a = place_[k], b = place_[l];
    return matrix_[std::max(a, b) * stride_ + std::min(a, b)];
  }

  // About how many entries will be touched: all pairs that meet in a row, those of dense columns at the speed
  // of vectors.
  Real cost(Slots slots) const {
    Index fresh = 0;
    Real stored = 0;
    for (const Index k : slots) {
      fresh += !knows(k);
      stored += Real(columns().size(k));
    }
    if (fresh == 0) return 0;
    const Real pairs = stored * stored / Real(weighted_.h.size()) * Real(fresh) / Real(slots.size());
    return pairs / (columns().sparse() ? 2 : 16);
  }

  // `spend(entries)` is told of the work; true: leave it, and know nothing.
  template <class Spend> void form(Slots slots, Spend&& spend) {
    place_.resize(columns().count(), -1);
    const Index before = Index(known_.size());
    for (const Index k : slots)
      if (place_[k] < 0) {
        place_[k] = std::int32_t(known_.size());
        known_.push_back(std::int32_t(k));
      }
    const Index size = Index(known_.size());
    if (size == before) return;
    make_room(before, size);
    if (columns().visit([&](const auto& store) { return add_products(store, before, spend); }))
      return forget();
    for (Index a = before; a < size; ++a) // the frame: gamma_a 1 beside what is stored
      for (Index b = 0; b <= a; ++b) {
        const Real ga = columns().gamma(known_[a]), gb = columns().gamma(known_[b]);
        if (ga == 0 && gb == 0) continue;
        const auto sum = [&](Index k) { return weighted_.coordinates[known_[k]].weighted; };
        matrix_[a * stride_ + b] += ga * sum(b) + gb * sum(a) + ga * gb * weighted_.total_h;
      }
  }

private:
  const Columns& columns() const { return weighted_.columns; }

  void make_room(Index before, Index size) {
    if (size > stride_) {
      const Index wide = std::max(size, 2 * stride_);
      std::vector<Real> wider(std::size_t(wide * wide));
      for (Index a = 0; a < before; ++a)
        std::copy_n(matrix_.data() + a * stride_, a + 1, wider.data() + a * wide);
      matrix_ = std::move(wider);
      stride_ = wide;
    }
    for (Index a = before; a < size; ++a) std::fill_n(matrix_.data() + a * stride_, a + 1, 0.0);
  }

  // Sparse: row by row, all pairs that meet there.
  template <class Spend> bool add_products(const SparseColumns& store, Index before, Spend&& spend) {
    const CVec h = weighted_.h;
    if (spend(rows_.gather(store, known_, Index(h.size())))) return true;
    for (Index i = 0; i < Index(h.size()); ++i) {
      if (h[i] == 0) continue;
      const auto *begin = rows_.entries.data() + rows_.starts[i],
                 *end = rows_.entries.data() + rows_.starts[i + 1];
      Index pairs = 0;
      for (const auto* a = end; a-- != begin && a->first >= before;) {
        Real* line = matrix_.data() + a->first * stride_;
        const Real weight = h[i] * a->second;
        for (const auto* b = begin; b <= a; ++b) line[b->first] += weight * b->second;
        pairs += a - begin + 1;
      }
      if (spend(pairs)) return true;
    }
    return false;
  }
  // Dense: in blocks of rows that stay in the cache.
  template <class Value, class Spend>
  bool add_products(const DenseColumns<Value>& store, Index before, Spend&& spend) {
    constexpr Index block = 256;
    const CVec h = weighted_.h;
    const Index n = Index(h.size()), size = Index(known_.size());
    std::vector<Real> plain(std::size_t(size * block)), weighed(plain.size());
    for (Index from = 0; from < n; from += block) {
      const Index length = std::min(block, n - from);
      for (Index a = 0; a < size; ++a) {
        Real *to = plain.data() + a * length, *with = weighed.data() + a * length;
        store[known_[a]].copy_between(from, from + length, to);
        for (Index i = 0; i < length; ++i) with[i] = h[from + i] * to[i];
      }
      add_products_together(weighed.data(), plain.data(), length, before, size, matrix_.data(), stride_);
      if (spend(length * size * (size - before) / 8)) return true;
    }
    return false;
  }

  // The rows of sparse columns, kept while those stay the same.
  struct Rows {
    std::vector<std::int32_t> of;
    std::vector<Index> starts;
    std::vector<std::pair<std::int32_t, Real>> entries; // place in H, value

    Index gather(const SparseColumns& store, const std::vector<std::int32_t>& slots, Index n) {
      if (of == slots && !starts.empty()) return 0;
      of = slots;
      starts.assign(n + 1, 0);
      for (const Index k : slots) store[k].visit([&](Index i, Real) { ++starts[i + 1]; });
      for (Index i = 0; i < n; ++i) starts[i + 1] += starts[i];
      entries.resize(starts[n]);
      std::vector<Index> next(starts.begin(), starts.end() - 1);
      for (std::size_t a = 0; a < slots.size(); ++a)
        store[slots[a]].visit([&](Index i, Real value) { entries[next[i]++] = {std::int32_t(a), value}; });
      return 2 * starts[n];
    }
  };

  const Weighted& weighted_;
  std::vector<std::int32_t> known_, place_; // slots in H, and where each slot is in it, or -1
  std::vector<Real> matrix_;                // its lower triangle
  Index stride_ = 0;
  Rows rows_;
};

} // namespace southwell
