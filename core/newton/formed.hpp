// H = A_K' diag(h) A_K, formed on the slots K that were asked for so far; or about, from a sample of the
// rows: far from a solution a rough H is as good as any (sub-sampled Newton methods: Byrd, Chin, Neveitt and
// Nocedal 2011).
#pragma once
#include "core/newton/coordinate.hpp"
#include "core/support/products.hpp"
#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

namespace southwell {

class FormedHessian {
public:
  using Slots = std::span<const std::int32_t>;

  explicit FormedHessian(const Weighted& weighted) : weighted_(weighted) {}

  // From now on, until h changes, from about one row in so many.
  void thin(Index every) {
    forget();
    const CVec h = weighted_.h;
    const Index together = columns().sparse() ? 1 : block; // rows that stay or go
    Real kept = 0;
    thinned_.resize(h.size());
    for (Index i = 0; i < Index(h.size()); ++i) {
      const auto mixed = std::uint64_t(i / together + 1) * 0x9e3779b97f4a7c15u; // as good as random
      thinned_[i] = (mixed >> 32) % std::uint64_t(every) == 0 ? h[i] : 0;
      kept += thinned_[i];
    }
    if (!(kept > 0)) return thinned_.clear();
    for (Real& value : thinned_) value *= weighted_.total_h / kept;
  }
  void forget() { // h has changed
    thinned_.clear();
    known_.clear();
    place_.clear();
    ordered_ = true;
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
        ordered_ = ordered_ && (known_.empty() || known_.back() < k);
        place_[k] = std::int32_t(known_.size());
        known_.push_back(std::int32_t(k));
      }
    const Index size = Index(known_.size());
    if (size == before) return;
    make_room(before, size);
    if (columns().visit([&](const auto& store) { return add_products(store, before, spend); }))
      return forget();
    add_frame(before, size);
    if (!thinned_.empty()) // the diagonal is known, also of columns that the sample has missed
      for (Index a = before; a < size; ++a) {
        Real& own = matrix_[a * stride_ + a];
        own = std::max(own, weighted_.coordinates[known_[a]].curvature);
      }
  }

private:
  struct Entry {
    std::int32_t at; // a slot, or its place in H
    Real value;
  };
  static constexpr Index block = 256; // rows of dense columns that stay in the cache
  CVec h() const { return thinned_.empty() ? CVec(weighted_.h) : CVec(thinned_); }
  const Columns& columns() const { return weighted_.columns; }

  void add_frame(Index before, Index size) { // gamma_a 1 beside what is stored
    std::vector<Real> sums, gammas;
    for (const Index k : known_) gammas.push_back(weighted_.gamma(k));
    if (std::all_of(gammas.begin(), gammas.end(), [](Real g) { return g == 0; })) return;
    const auto sum = [&](Index k) {
      return columns().visit([&](const auto& store) { return store[k].dot(thinned_); });
    };
    for (const Index k : known_)
      sums.push_back(thinned_.empty() ? weighted_.coordinates[k].weighted : sum(k));
    for (Index a = before; a < size; ++a)
      for (Index b = 0; b <= a; ++b)
        matrix_[a * stride_ + b] +=
            gammas[a] * sums[b] + gammas[b] * sums[a] + gammas[a] * gammas[b] * weighted_.total_h;
  }
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

  // Sparse: row by row, all pairs that meet there. Threads divide the lines of H: no number depends on how
  // many there are.
  template <class Spend> bool add_products(const SparseColumns& store, Index before, Spend&& spend) {
    const Index n = Index(weighted_.h.size()), size = Index(known_.size());
    if (spend(rows_.gather(store, known_, columns().count(), n))) return true;
    for (Index from = 0, to = 0; from < n; from = to) {
      Index work = 0;
      for (; to < n && work < 500'000; ++to) work += 1 + rows_.size(to) * rows_.size(to) / 2;
      std::vector<Index> pairs(std::size_t(parts_of(work)));
      divide(work, [&](int part, int parts) {
        const auto line = [&](int k) { return line_of_area(before, size, k, parts); };
        pairs[part] = add_rows(from, to, line(part), line(part + 1));
      });
      if (spend(std::reduce(pairs.begin(), pairs.end()))) return true;
    }
    return false;
  }
  // Of some rows, to some lines; returns how many pairs were met.
  Index add_rows(Index from, Index to, Index first, Index last) {
    std::vector<Entry> met(known_.size() + 1); // and one that is written over
    Index pairs = 0;
    for (Index i = from; i < to; ++i) {
      const Real weight_of_row = h()[i];
      if (weight_of_row == 0) continue;
      Entry* end = met.data();
      for (Index k = rows_.starts[i]; k < rows_.starts[i + 1]; ++k) {
        *end = {place_[rows_.entries[k].at], rows_.entries[k].value};
        end += end->at >= 0;
      }
      for (const Entry* a = met.data(); a != end; ++a) {
        if (a->at < first || a->at >= last) continue;
        Real* line = matrix_.data() + a->at * stride_;
        const Real weight = weight_of_row * a->value;
        if (ordered_) // then those before it in the row are those before it in H
          for (const Entry* b = met.data(); b <= a; ++b) line[b->at] += weight * b->value;
        else
          for (const Entry* b = met.data(); b != end; ++b)
            if (b->at <= a->at) line[b->at] += weight * b->value;
        pairs += a - met.data() + 1;
      }
    }
    return pairs;
  }
  // Dense: in blocks of rows.
  template <class Value, class Spend>
  bool add_products(const DenseColumns<Value>& store, Index before, Spend&& spend) {
    const CVec h = this->h();
    const Index n = Index(h.size()), size = Index(known_.size());
    std::vector<Real> plain(std::size_t(size * block)), weighed(plain.size());
    for (Index from = 0; from < n; from += block) {
      const Index length = std::min(block, n - from);
      if (std::all_of(&h[from], &h[from] + length, [](Real weight) { return weight == 0; })) continue;
      for (Index a = 0; a < size; ++a) {
        Real *to = plain.data() + a * length, *with = weighed.data() + a * length;
        store[known_[a]].copy_between(from, from + length, to);
        for (Index i = 0; i < length; ++i) with[i] = h[from + i] * to[i];
      }
      southwell::add_products(weighed.data(), plain.data(), length, before, size, matrix_.data(), stride_);
      if (spend(length * size * (size - before) / 8)) return true;
    }
    return false;
  }

  // The rows of sparse columns, kept until others are asked for; of all columns if those asked for hold
  // most of them, so that it will be long until then.
  struct Rows {
    std::vector<char> has; // by slot
    std::vector<Index> starts;
    std::vector<Entry> entries; // by slot

    Index size(Index i) const { return starts[i + 1] - starts[i]; }
    Index gather(const SparseColumns& store, Slots slots, Index count, Index n) {
      has.resize(count);
      if (!starts.empty() && std::all_of(slots.begin(), slots.end(), [&](Index k) { return has[k]; }))
        return 0;
      Index stored = 0;
      for (const Index k : slots) stored += store.size(k);
      has.assign(count, 3 * stored >= 2 * store.entries());
      for (const Index k : slots) has[k] = true;
      starts.assign(n + 1, 0);
      for (Index k = 0; k < count; ++k)
        if (has[k]) store[k].visit([&](Index i, Real) { ++starts[i + 1]; });
      for (Index i = 0; i < n; ++i) starts[i + 1] += starts[i];
      entries.resize(starts[n]);
      std::vector<Index> next(starts.begin(), starts.end() - 1);
      for (Index k = 0; k < count; ++k)
        if (has[k])
          store[k].visit([&](Index i, Real value) { entries[next[i]++] = {std::int32_t(k), value}; });
      return 2 * starts[n];
    }
  };

  const Weighted& weighted_;
  std::vector<std::int32_t> known_, place_; // slots in H, and where each slot is in it, or -1
  std::vector<Real> matrix_;                // its lower triangle
  Index stride_ = 0;
  std::vector<Real> thinned_; // h of the rows in the sample, or empty
  bool ordered_ = true;       // is the order of places that of slots?
  Rows rows_;
};

} // namespace southwell
