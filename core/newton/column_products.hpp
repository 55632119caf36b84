// A_K' diag(w) A_K on the slots K that were asked for so far, with the frame, under weights that may change:
// then only the rows whose weight has changed are added anew.
#pragma once
#include "core/newton/coordinate.hpp"
#include "core/newton/rows.hpp"
#include "core/support/products.hpp"
#include <algorithm>
#include <memory>
#include <numeric>
#include <span>
#include <utility>

namespace southwell {

class ColumnProducts {
public:
  using Slots = std::span<const std::int32_t>;

  ColumnProducts(const Weighted& weighted, Rows& rows) : weighted_(weighted), rows_(rows) {}

  // Starts anew with these weights.
  void begin(CVec w) {
    weights_.assign(w.begin(), w.end());
    total_ = std::reduce(w.begin(), w.end());
    forget();
  }
  void forget() {
    known_.clear();
    place_.clear();
    sums_.clear();
  }
  bool empty() const { return known_.empty(); }
  Index size() const { return Index(known_.size()); }
  bool knows(Index slot) const { return slot < Index(place_.size()) && place_[slot] >= 0; }
  Real operator()(Index k, Index l) const { // of two slots it knows
    const Index a = place_[k], b = place_[l];
    const Real stored = matrix_[std::max(a, b) * stride_ + std::min(a, b)];
    const Real g = weighted_.gamma(k), h = weighted_.gamma(l);
    if (g == 0 && h == 0) return stored;
    return stored + g * sums_[b] + h * sums_[a] + g * h * total_;
  }

  // How many of the rows have a weight that differs from this by more than a part of it.
  Real changed_share(CVec w, Real part) const {
    Index count = 0;
    for (std::size_t i = 0; i < w.size(); ++i) count += differs(weights_[i], w[i], part);
    return Real(count) / Real(w.size());
  }
  // Updates to these weights where they differ by more than that. `spend(entries)` counts the work; if it
  // returns true, the update is abandoned and everything forgotten.
  template <class Spend> bool mend(CVec w, Real part, Spend&& spend) {
    change_.assign(w.size(), 0.0);
    for (std::size_t i = 0; i < w.size(); ++i)
      if (differs(weights_[i], w[i], part)) {
        change_[i] = w[i] - weights_[i];
        weights_[i] = w[i];
      }
    total_ = std::reduce(weights_.begin(), weights_.end());
    return add(0, change_, spend);
  }
  template <class Spend> bool form(Slots slots, Spend&& spend) {
    place_.resize(std::size_t(columns().count()), -1);
    const Index before = size();
    std::vector<std::int32_t> fresh(slots.begin(), slots.end());
    if (columns().products_by_rows()) // so that places are in the order of rows, if they are the first
      std::sort(fresh.begin(), fresh.end(),
                [&](Index k, Index l) { return columns().name(k) < columns().name(l); });
    for (const Index k : fresh)
      if (place_[k] < 0) {
        place_[k] = std::int32_t(known_.size());
        known_.push_back(std::int32_t(k));
      }
    if (size() == before) return false;
    make_room(before);
    return add(before, weights_, spend);
  }

private:
  static constexpr Index block = 256; // rows of dense columns that stay in the cache
  const WorkingColumns& columns() const { return weighted_.columns; }

  static bool differs(Real from, Real to, Real part) {
    return std::abs(to - from) > part * std::min(to, from);
  }

  void make_room(Index before) {
    if (size() > stride_) {
      const Index wide = std::max(size(), 5 * stride_ / 4);
      auto wider = std::make_unique_for_overwrite<Real[]>(std::size_t(wide * wide)); // half is never read
      for (Index a = 0; a < before; ++a)
        std::copy_n(matrix_.get() + a * stride_, a + 1, wider.get() + a * wide);
      matrix_ = std::move(wider);
      stride_ = wide;
    }
    sums_.resize(std::size_t(size()));
    for (Index a = before; a < size(); ++a) std::fill_n(matrix_.get() + a * stride_, a + 1, 0.0);
  }
  // To the lines from `before` on, the rows with these weights.
  template <class Spend> bool add(Index before, CVec w, Spend&& spend) {
    const bool left =
        columns().products_by_rows()
            ? add_where_they_lie(before, w, spend)
            : columns().visit([&](const auto& store) { return add_products(store, before, w, spend); });
    if (left) forget();
    return left;
  }
  template <class Key> bool ascending(Key&& key) const { // by place
    return std::is_sorted(known_.begin(), known_.end(), [&](Index k, Index l) { return key(k) < key(l); });
  }

  // Sparse: row by row, all pairs that meet there. Threads divide the lines: no number depends on how many
  // there are.
  template <class Spend> bool add_products(const SparseColumns& store, Index before, CVec w, Spend&& spend) {
    if (spend(rows_.gather(store, known_, columns().count(), Index(w.size()), weighted_.policy.rows_whole)))
      return true;
    place_.resize(std::size_t(columns().count()), -1); // rows may hold columns that came since
    const RowPairs pairs{place_,  size(),      ascending([](Index k) { return k; }), w, matrix_.get(),
                         stride_, sums_.data()};
    const auto row = [&](Index i, auto&& f) { rows_.visit(i, f); };
    return add_rows(
        before, w, [&](Index i) { return rows_.size(i); },
        [&](Index from, Index to, Index first, Index last) { return pairs.add(from, to, first, last, row); },
        spend);
  }
  template <class Spend> bool add_where_they_lie(Index before, CVec w, Spend&& spend) {
    const Design& design = columns().design();
    std::vector<std::int32_t> place(std::size_t(design.cols()), -1);
    for (std::size_t a = 0; a < known_.size(); ++a) place[columns().name(known_[a])] = std::int32_t(a);
    const bool ordered = ascending([&](Index k) { return columns().name(k); });
    const RowPairs pairs{place, size(), ordered, w, matrix_.get(), stride_, sums_.data()};
    return add_rows(
        before, w, [&](Index i) { return design.row_size(i); },
        [&](Index from, Index to, Index first, Index last) {
          return design.add_pairs(pairs, from, to, first, last);
        },
        spend);
  }
  template <class Size, class Add, class Spend>
  bool add_rows(Index before, CVec w, Size&& size_of, Add&& add, Spend&& spend) {
    const Index n = Index(w.size());
    for (Index from = 0, to = 0; from < n; from = to) {
      Index work = 0;
      for (; to < n && work < 500'000; ++to) {
        const Index length = w[to] == 0 ? 0 : size_of(to);
        work += 1 + length * length / 2;
      }
      std::vector<Index> met(std::size_t(parts_of(work)));
      divide(work, [&](int part, int parts) {
        const auto line = [&](int k) { return line_of_area(before, size(), k, parts); };
        met[part] = add(from, to, line(part), line(part + 1));
      });
      if (spend(std::reduce(met.begin(), met.end()))) return true;
    }
    return false;
  }
  // Dense: in blocks of rows that have any weight.
  template <class Value, class Spend>
  bool add_products(const DenseColumns<Value>& store, Index before, CVec w, Spend&& spend) {
    plain_.resize(std::size_t(size() * block));
    weighed_.resize(plain_.size());
    std::vector<Index> rows;
    const Index n = Index(w.size());
    for (Index from = 0; from < n;) {
      rows.clear();
      for (; from < n && Index(rows.size()) < block; ++from)
        if (w[from] != 0) rows.push_back(from);
      if (rows.empty()) break;
      const Index length = Index(rows.size());
      for (Index a = 0; a < size(); ++a) {
        Real *to = plain_.data() + a * length, *with = weighed_.data() + a * length;
        store[known_[a]].copy_at(rows, to);
        for (Index i = 0; i < length; ++i) with[i] = w[rows[i]] * to[i];
        if (a >= before) sums_[a] += unrolled(length, [&](Index i) { return with[i]; });
      }
      southwell::add_products(weighed_.data(), plain_.data(), length, before, size(), matrix_.get(), stride_);
      const Real pairs = 2 * Real(length * size() * (size() - before));
      if (spend(Index(pairs / weighted_.policy.pairs_at_once))) return true;
    }
    return false;
  }

  const Weighted& weighted_;
  Rows& rows_;
  std::vector<Real> weights_, change_;
  Real total_ = 0;                          // of the weights
  std::vector<std::int32_t> known_, place_; // slots in the matrix, and where each slot is in it, or -1
  std::unique_ptr<Real[]> matrix_;          // its lower triangle, of what is stored
  std::vector<Real> sums_;                  // sum_i w_i a_i of what is stored
  std::vector<Real> plain_, weighed_;       // lines of a block of dense columns
  Index stride_ = 0;
};

} // namespace southwell
