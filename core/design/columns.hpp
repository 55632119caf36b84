// Some columns of a design, gathered: what working sets are made of. Column k of A is
//
//     stored_k + gamma_k 1
//
// with gamma the design's frame (see framed.hpp): a column's shift, or 1 for the intercept, which stores
// nothing. Sparse columns are copied, dense ones are looked at where they are if the data are ordered by
// columns.
#pragma once
#include "core/design/fiber.hpp"
#include <cstdint>
#include <list>
#include <span>
#include <variant>
#include <vector>

namespace southwell {

class SparseColumns {
public:
  using Fiber = SparseFiber<Real, std::int32_t>;

  Fiber operator[](Index k) const {
    return {values_.data() + starts_[k], rows_.data() + starts_[k], starts_[k + 1] - starts_[k]};
  }
  Index entries() const { return starts_.back(); }
  Index size(Index k) const { return starts_[k + 1] - starts_[k]; }
  void prefetch(Index k) const {
    SOUTHWELL_PREFETCH(values_.data() + starts_[k]);
    SOUTHWELL_PREFETCH(rows_.data() + starts_[k]);
  }

  // A column by what it holds.
  template <class F> void append(const F& fiber) {
    fiber.visit([&](Index i, Real a) {
      rows_.push_back(std::int32_t(i));
      values_.push_back(a);
    });
    starts_.push_back(Index(values_.size()));
  }
  // So many columns of known sizes at once, filled entry by entry: `put(column, row, value)`.
  template <class Fill> void append(std::span<const Index> sizes, Fill&& fill) {
    std::vector<Index> next;
    next.reserve(sizes.size());
    for (const Index size : sizes) {
      next.push_back(starts_.back());
      starts_.push_back(starts_.back() + size);
    }
    rows_.resize(starts_.back());
    values_.resize(starts_.back());
    fill([&](Index column, Index row, Real value) {
      const Index at = next[column]++;
      rows_[at] = std::int32_t(row);
      values_[at] = value;
    });
  }

private:
  std::vector<Index> starts_{0};
  std::vector<std::int32_t> rows_;
  std::vector<Real> values_;
};

template <class Value> class DenseColumns {
public:
  using Fiber = DenseFiber<Value>;

  explicit DenseColumns(Index length) : length_(length) {}
  Fiber operator[](Index k) const {
    return columns_[k].values ? Fiber(columns_[k].values, length_, columns_[k].shift) : Fiber::empty();
  }
  Index entries() const { return Index(columns_.size()) * length_; }
  Index size(Index k) const { return columns_[k].values ? length_ : 0; }
  void prefetch(Index k) const { SOUTHWELL_PREFETCH(columns_[k].values); }

  void append(const Value* values, Real shift) { columns_.push_back({values, shift}); }
  Value* room(Index columns) { return owned_.emplace_back(std::size_t(columns * length_)).data(); }

private:
  struct Column {
    const Value* values; // none: a column of zeros
    Real shift;
  };
  Index length_;
  std::vector<Column> columns_;
  std::list<std::vector<Value>> owned_;
};

class Columns {
public:
  using Store = std::variant<std::monostate, SparseColumns, DenseColumns<float>, DenseColumns<double>>;

  Index count() const { return Index(gammas_.size()); }
  Real gamma(Index k) const { return gammas_[k]; }
  // `work(store)`, where store[k] is a fiber: once for a whole loop.
  template <class Work> decltype(auto) visit(Work&& work) const {
    if (const auto* sparse = std::get_if<SparseColumns>(&store_)) return work(*sparse);
    if (const auto* narrow = std::get_if<DenseColumns<float>>(&store_)) return work(*narrow);
    return work(std::get<DenseColumns<double>>(store_));
  }
  Index entries() const {
    return visit([](const auto& store) { return store.entries(); });
  }
  Index size(Index k) const {
    return visit([&](const auto& store) { return store.size(k); });
  }
  bool sparse() const { return std::holds_alternative<SparseColumns>(store_); }

  // For designs that fill it.
  template <class S, class... Arguments> S& store(Arguments... arguments) {
    if (std::holds_alternative<std::monostate>(store_)) store_.template emplace<S>(arguments...);
    return std::get<S>(store_);
  }
  void frame(Real gamma) { gammas_.push_back(gamma); }

private:
  Store store_;
  std::vector<Real> gammas_;
};

} // namespace southwell
