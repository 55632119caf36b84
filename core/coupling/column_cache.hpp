// A cache for columns of the Gram matrix of the coordinates. When it is full, random columns are evicted: the
// hit rate is then about the share of the columns that fits, even if they are requested in cyclic order.
#pragma once
#include "core/design/fiber.hpp"
#include "core/support/random.hpp"
#include <utility>
#include <vector>

namespace southwell {

class ColumnCache {
public:
  struct Column {
    std::vector<std::uint32_t> positions; // increasing; empty: all positions
    std::vector<Real> values;

    void add_to(Vec to, Real factor) const {
      const Index size = Index(values.size());
      if (positions.empty())
        DenseFiber<Real>(values.data(), size).add_to(to, factor);
      else
        SparseFiber<Real, std::uint32_t>(values.data(), positions.data(), size).add_to(to, factor);
    }
  };

  ColumnCache(Index coordinates, Index room) : room_(room), slot_of_(coordinates, -1) {}

  const Column* find(Index k) const { return slot_of_[k] < 0 ? nullptr : &slots_[slot_of_[k]].second; }
  const Column* keep(Index k, Column column) { // the newest is kept even if it alone is too large
    while (used_ + size(column) > room_ && !slots_.empty()) evict(random_.below(Index(slots_.size())));
    used_ += size(column);
    slot_of_[k] = std::int32_t(slots_.size());
    slots_.emplace_back(k, std::move(column));
    return &slots_.back().second;
  }

private:
  static Index size(const Column& column) {
    return Index(column.values.size() + column.positions.size() / 2);
  }
  void evict(Index slot) {
    used_ -= size(slots_[slot].second);
    slot_of_[slots_[slot].first] = -1;
    if (slot + 1 < Index(slots_.size())) {
      slots_[slot] = std::move(slots_.back());
      slot_of_[slots_[slot].first] = std::int32_t(slot);
    }
    slots_.pop_back();
  }

  Index room_, used_ = 0; // numbers
  Random random_{0};
  std::vector<std::pair<Index, Column>> slots_;
  std::vector<std::int32_t> slot_of_;
};

} // namespace southwell
