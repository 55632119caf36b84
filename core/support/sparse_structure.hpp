// Checks a compressed sparse matrix. One that passes can be read without leaving its arrays.
#pragma once
#include "core/concepts.hpp"
#include <string>

namespace southwell {

// "" if the fibers' indices lie in 0..length-1 and strictly increase, "unsorted" if they only do the former,
// else what is broken. `indptr` has `starts` entries, one more than there are fibers; `indices` has
// `entries`. Neither is read beyond its end, whatever they hold.
template <class Position>
std::string sparse_problem(const Position* indices, Index entries, const Position* indptr, Index starts,
                           Index length) {
  if (starts < 1 || indptr[0] != 0) return "indptr must start at 0";
  for (Index k = 1; k < starts; ++k)
    if (indptr[k] < indptr[k - 1]) return "indptr decreases at position " + std::to_string(k);
  if (indptr[starts - 1] > entries)
    return "indptr ends at " + std::to_string(indptr[starts - 1]) + ", beyond the " +
           std::to_string(entries) + " stored entries";
  bool sorted = true;
  for (Index k = 0; k + 1 < starts; ++k) {
    const Index from = indptr[k], to = indptr[k + 1];
    if (from == to) continue;
    bool falls = false; // without branches: the loop vectorises
    for (Index e = from + 1; e < to; ++e) falls |= indices[e] <= indices[e - 1];
    sorted = sorted && !falls;
    for (Index e = falls ? from : to - 1; e < to; ++e) // if the indices increase, the last one is enough
      for (const Position index : {indices[from], indices[e]})
        if (index < 0 || index >= length)
          return "index " + std::to_string(index) + " is outside 0.." + std::to_string(length - 1);
  }
  return sorted ? "" : "unsorted";
}

} // namespace southwell
