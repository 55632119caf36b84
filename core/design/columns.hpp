// The stored entries of some columns of a design. Sparse columns are copied; dense ones are referenced in
// place if the data are ordered by columns. The intercept stores nothing.
#pragma once
#include "core/design/fiber.hpp"
#include <cstdint>
#include <list>
#include <memory>
#include <numeric>
#include <span>
#include <variant>
#include <vector>

namespace southwell {

class SparseColumns {
public:
  using Fiber = SparseFiber<Real, std::int32_t>;

  Fiber operator[](Index k) const { return columns_[k]; }
  Index count() const { return Index(columns_.size()); }
  Index entries() const { return entries_; }
  Index size(Index k) const { return columns_[k].size(); }
  void prefetch(Index k) const { columns_[k].prefetch(); }

  // Memory for columns of given sizes, one after the other.
  struct Room {
    Real* values;
    std::int32_t* rows;
  };
  Room append(std::span<const Index> sizes) {
    const Index total = std::reduce(sizes.begin(), sizes.end());
    const Room room{
        values_.emplace_back(std::make_unique_for_overwrite<Real[]>(std::size_t(total))).get(),
        rows_.emplace_back(std::make_unique_for_overwrite<std::int32_t[]>(std::size_t(total))).get()};
    Index at = 0;
    for (const Index size : sizes) {
      columns_.push_back({room.values + at, room.rows + at, size});
      at += size;
    }
    entries_ += total;
    return room;
  }

private:
  std::vector<Fiber> columns_;
  std::vector<std::unique_ptr<Real[]>> values_; // one array for each `append`: pointers stay valid
  std::vector<std::unique_ptr<std::int32_t[]>> rows_;
  Index entries_ = 0;
};

template <class Value> class DenseColumns {
public:
  using Fiber = DenseFiber<Value>;

  explicit DenseColumns(Index length) : length_(length) {}
  Fiber operator[](Index k) const {
    return columns_[k].values ? Fiber(columns_[k].values, length_, columns_[k].shift) : Fiber::empty();
  }
  Index count() const { return Index(columns_.size()); }
  Index entries() const { return count() * length_; }
  Index size(Index k) const { return columns_[k].values ? length_ : 0; }
  void prefetch(Index k) const { SOUTHWELL_PREFETCH(columns_[k].values); }

  void append(const Value* values, Real shift) { columns_.push_back({values, shift}); }
  Value* room(Index columns) { return owned_.emplace_back(std::size_t(columns * length_)).data(); }

private:
  struct Column {
    const Value* values; // null: a column of zeros
    Real shift;
  };
  Index length_;
  std::vector<Column> columns_;
  std::list<std::vector<Value>> owned_;
};

class Columns {
public:
  using Store = std::variant<std::monostate, SparseColumns, DenseColumns<float>, DenseColumns<double>>;

  // Calls `work(store)`, where store[k] is a fiber: one dispatch for a whole loop.
  template <class Work> decltype(auto) visit(Work&& work) const {
    if (const auto* sparse = std::get_if<SparseColumns>(&store_)) return work(*sparse);
    if (const auto* narrow = std::get_if<DenseColumns<float>>(&store_)) return work(*narrow);
    return work(std::get<DenseColumns<double>>(store_));
  }
  Index count() const {
    const bool none = std::holds_alternative<std::monostate>(store_);
    return none ? 0 : visit([](const auto& store) { return store.count(); });
  }
  Index entries() const {
    return count() == 0 ? 0 : visit([](const auto& store) { return store.entries(); });
  }
  Index size(Index k) const {
    return visit([&](const auto& store) { return store.size(k); });
  }
  bool sparse() const { return std::holds_alternative<SparseColumns>(store_); }

  // For the designs that fill it.
  template <class S, class... Arguments> S& store(Arguments... arguments) {
    if (std::holds_alternative<std::monostate>(store_)) store_.template emplace<S>(arguments...);
    return std::get<S>(store_);
  }

private:
  Store store_;
};

} // namespace southwell
