// Gathers some columns of stored data: copied, or referenced in place. An index beyond the stored columns is
// that of a column that stores nothing (the intercept).
#pragma once
#include "core/design/columns.hpp"
#include "core/support/helpers.hpp"
#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace southwell {

using Names = std::span<const Index>;

// Dense, stored by columns: nothing is copied. `values` are those of all fibers.
template <class Stored, class Number>
void gather_columns(const Stored& stored, const Number* values, Names names, DenseColumns<Number>& into) {
  for (const Index j : names)
    j < stored.count() ? into.append(values + j * stored.length(), stored.shift(j)) : into.append(nullptr, 0);
}
// Dense, stored by rows, in one pass over them.
template <class Stored, class Number>
void gather_across(const Stored& stored, const Number* values, Names names, DenseColumns<Number>& into) {
  const Index rows = stored.count(), columns = stored.length();
  Number* to = into.room(Index(names.size()));
  for (Index i = 0; i < rows; ++i) {
    const Number* row = values + i * columns;
    for (std::size_t k = 0; k < names.size(); ++k)
      if (names[k] < columns) to[Index(k) * rows + i] = row[names[k]];
  }
  for (std::size_t k = 0; k < names.size(); ++k)
    names[k] < columns ? into.append(to + Index(k) * rows, stored.shift(names[k])) : into.append(nullptr, 0);
}

// Sparse, stored by columns.
template <class Stored> void gather_columns(const Stored& stored, Names names, SparseColumns& into) {
  const auto fiber = [&](Index j) { return j < stored.count() ? stored[j] : decltype(stored[j])::empty(); };
  std::vector<Index> sizes;
  for (const Index j : names) sizes.push_back(fiber(j).size());
  auto [values, rows] = into.append(sizes);
  for (const Index j : names)
    fiber(j).visit(
        [&values = values, &rows = rows](Index i, Real a) { // Clang before 16 cannot capture bindings
          *values++ = a;
          *rows++ = std::int32_t(i);
        });
}
// Sparse, stored by rows, in one pass over them; `all` are the sizes of all columns. With a helper thread,
// one thread fills the columns from the first row on and the other from the last row back.
template <class Stored>
void gather_across(const Stored& stored, Names names, std::span<const std::uint32_t> all,
                   SparseColumns& into) {
  if (names.empty()) return;
  std::vector<Index> sizes, starts(names.size()), ends;
  for (const Index j : names) sizes.push_back(all[j]);
  std::exclusive_scan(sizes.begin(), sizes.end(), starts.begin(), Index(0));
  for (std::size_t k = 0; k < sizes.size(); ++k) ends.push_back(starts[k] + sizes[k] - 1);
  const auto [values, rows] = into.append(sizes);

  std::vector<std::int32_t> slot(all.size());
  std::vector<std::uint64_t> wanted(all.size() / 64 + 1); // a bit set, in cache: it rejects most entries
  for (std::size_t k = 0; k < names.size(); ++k) {
    slot[names[k]] = std::int32_t(k);
    wanted[names[k] / 64] |= std::uint64_t(1) << names[k] % 64;
  }
  Index longest = 0;
  for (Index i = 0; i < stored.count(); ++i) longest = std::max(longest, stored[i].size());
  struct Entry {
    std::uint32_t column;
    Real value;
  };
  const auto scan = [&, values = values, rows = rows](Index first, Index last, Index by,
                                                      std::vector<Index> next) {
    std::vector<Entry> met(std::size_t(longest) + 1); // and one for the entry that is overwritten
    for (Index i = first; i != last; i += by) {
      Entry* end = met.data(); // without branches, which could not be predicted
      stored[i].visit([&](Index j, Real a) {
        *end = {std::uint32_t(j), a};
        end += wanted[std::uint32_t(j) / 64] >> std::uint32_t(j) % 64 & 1;
      });
      for (const Entry* entry = met.data(); entry != end; ++entry) {
        Index& at = next[slot[entry->column]];
        values[at] = entry->value;
        rows[at] = std::int32_t(i);
        at += by;
      }
    }
  };
  divide(stored.entries(), [&](int part, int parts) {
    const Index count = stored.count(), middle = parts == 1 ? count : stored.fiber_at(stored.entries() / 2);
    if (part == 0) scan(0, middle, 1, starts);
    if (part == 1) scan(count - 1, middle - 1, -1, ends);
  });
}

} // namespace southwell
