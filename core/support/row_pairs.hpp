// Sums of products of columns, row by row: all pairs that meet in one.
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
  bool ordered; // is the order of places that of columns?
  CVec w;
  Real* matrix;
  Index stride;
  Real* sums;

  // Of rows from, ..., to - 1, to the lines first, ..., last - 1; returns how many pairs were met. `row(i,
  // f)` calls f(column, value) for what row i holds, each column once, in order.
  template <class Row> Index add(Index from, Index to, Index first, Index last, Row&& row) const {
    struct Entry {
      std::int32_t place;
      Real value;
    };
    std::vector<Entry> met(std::size_t(places) + 1); // and one that is written over
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
        if (ordered) // then those before it in the row are those before it in the matrix
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
