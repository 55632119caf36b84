// Tables with k numbers a row, and what is the same for every row or summed over all. Loops over rows: a
// remainder for each number of the table would take longer than the sum.
#pragma once
#include "core/design/fiber.hpp"

namespace southwell {

// Each row of `table` += `row`
inline void add_to_rows(CVec row, Vec table) {
  const std::size_t k = row.size();
  if (k == 1) {
    for (Real& v : table) v += row[0];
    return;
  }
  for (std::size_t first = 0; first < table.size(); first += k)
    for (std::size_t c = 0; c < k; ++c) table[first + c] += row[c];
}
// Each row of `table` = `row`
inline void fill_rows(CVec row, Vec table) {
  for (std::size_t first = 0; first < table.size(); first += row.size())
    std::copy(row.begin(), row.end(), table.begin() + std::ptrdiff_t(first));
}
// `sums` += each row of `table`
inline void add_rows(CVec table, Vec sums) {
  const std::size_t k = sums.size();
  if (k == 1) {
    sums[0] += unrolled(Index(table.size()), [&](Index i) { return table[i]; });
    return;
  }
  for (std::size_t first = 0; first < table.size(); first += k)
    for (std::size_t c = 0; c < k; ++c) sums[c] += table[first + c];
}

} // namespace southwell
