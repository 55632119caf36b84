// Weighted inner products of sparse columns, accumulated row by row over all pairs of entries of a row.
#pragma once
#include "core/concepts.hpp"
#include <cstdint>
#include <span>
#include <vector>

namespace southwell {

// matrix[a * stride + b] += sum_i w_i A_ik A_il for places a >= b of columns k and l, and sums[a] += sum_i
// w_i A_ik.
struct RowPairs {
  std::span<const std::int32_t> place; // of each column, or -1
  Index places;
  bool ordered; // places increase with columns
  CVec w;
  Real* matrix;
  Index stride;
  Real* sums;

  // Adds rows from, ..., to - 1 to the lines first, ..., last - 1 of the matrix; returns the number of pairs.
  // `row(i, f)` calls f(column, value) for each entry of row i, columns increasing.
  template <class Row> Index add(Index from, Index to, Index first, Index last, Row&& row) const {
    struct Entry {
      std::int32_t place;
      Real value;
    };
    std::vector<Entry> met(std::size_t(places) + 1); // and one for the entry that is overwritten
    Index pairs = 0;
    for (Index i = from; i < to; ++i) {
      if (w[i] == 0) continue;
      Entry* end = met.data();
      row(i, [&](Index column, Real value) {
        *end = {place[column], value};
        end += end->place >= 0;
      });
      for (const Entry* a = met.data(); a != end; ++a) {
        if (a->place < first || a->place >= last) continue;
        Real* line = matrix + a->place * stride;
        const Real weight = w[i] * a->value;
        sums[a->place] += weight;
        if (ordered) // then earlier entries of the row have smaller places
          for (const Entry* b = met.data(); b <= a; ++b) line[b->place] += weight * b->value;
        else
          for (const Entry* b = met.data(); b != end; ++b)
            if (b->place <= a->place) line[b->place] += weight * b->value;
        pairs += a - met.data() + 1;
      }
    }
    return pairs;
  }
};

} // namespace southwell
