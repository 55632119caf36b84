// The rows of gathered sparse columns: what products of columns with each other are summed along.
#pragma once
#include "core/design/columns.hpp"
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace southwell {

class Rows {
public:
  using Slots = std::span<const std::int32_t>;

  Index size(Index i) const { return starts_[i + 1] - starts_[i]; }
  // `f(slot, value)`, slots ascending.
  template <class F> SOUTHWELL_INLINE void visit(Index i, F&& f) const {
    for (Index k = starts_[i]; k < starts_[i + 1]; ++k) f(slots_[k], values_[k]);
  }

  // Has at least these columns from now on; kept until others are asked for, and of all columns if those
  // asked for hold `most` of their entries, so that it will be long until then. Returns the entries touched.
  Index gather(const SparseColumns& store, Slots wanted, Index count, Index n, Real most) {
    has_.resize(count);
    if (!starts_.empty() && std::all_of(wanted.begin(), wanted.end(), [&](Index k) { return has_[k]; }))
      return 0;
    Index stored = 0;
    for (const Index k : wanted) stored += store.size(k);
    has_.assign(count, Real(stored) >= most * Real(store.entries()));
    for (const Index k : wanted) has_[k] = true;
    starts_.assign(n + 1, 0);
    for (Index k = 0; k < count; ++k)
      if (has_[k]) store[k].visit([&](Index i, Real) { ++starts_[i + 1]; });
    for (Index i = 0; i < n; ++i) starts_[i + 1] += starts_[i];
    slots_.resize(starts_[n]);
    values_.resize(starts_[n]);
    std::vector<Index> next(starts_.begin(), starts_.end() - 1);
    for (Index k = 0; k < count; ++k)
      if (has_[k])
        store[k].visit([&](Index i, Real value) {
          const Index at = next[i]++;
          slots_[at] = std::int32_t(k);
          values_[at] = value;
        });
    return 2 * starts_[n];
  }

private:
  std::vector<char> has_; // by slot
  std::vector<Index> starts_;
  std::vector<std::int32_t> slots_;
  std::vector<Real> values_;
};

} // namespace southwell
