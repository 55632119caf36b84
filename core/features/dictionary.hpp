// The distinct hashes of one grid, in increasing order: the rank of a hash among them is its column in the
// grid.
#pragma once
#include "core/concepts.hpp"
#include <algorithm>
#include <bit>
#include <vector>

namespace southwell {

using Hashes = std::span<const std::uint64_t>;

using Counts = std::vector<std::uint32_t>; // counts of hashes, of which there are fewer than 2^31

// For hashes sorted by their leading bits: where those with given leading bits begin.
class LeadingBits {
public:
  explicit LeadingBits(Index size) : bits_(std::min(int(std::bit_width(std::uint64_t(size))), 18)) {}
  Index count() const { return Index{1} << bits_; }
  Index operator()(std::uint64_t hash) const { return bits_ == 0 ? 0 : Index(hash >> (64 - bits_)); }
  Counts starts(Hashes hashes) const {
    Counts starts(count() + 1);
    for (const auto hash : hashes) ++starts[(*this)(hash) + 1];
    for (Index k = 0; k < count(); ++k) starts[k + 1] += starts[k];
    return starts;
  }

private:
  int bits_;
};

// Sorts and removes duplicates: a counting sort on the leading bits, then short runs are sorted.
inline std::vector<std::uint64_t> distinct(Hashes hashes) {
  const LeadingBits leading(Index(hashes.size()));
  const Counts starts = leading.starts(hashes);
  Counts ends(starts.begin(), starts.end() - 1);
  std::vector<std::uint64_t> sorted(hashes.size());
  for (const auto hash : hashes) sorted[ends[leading(hash)]++] = hash;
  auto kept = sorted.begin();
  for (Index k = 0; k < leading.count(); ++k) {
    const auto begin = sorted.begin() + starts[k], end = sorted.begin() + starts[k + 1];
    if (end - begin > 1) std::sort(begin, end);
    kept = std::unique_copy(begin, end, kept); // in place: it never writes beyond what it has read
  }
  sorted.erase(kept, sorted.end());
  sorted.shrink_to_fit();
  return sorted;
}

class Dictionary {
public:
  // `questions` is the expected number of lookups: few use bisection alone, many are worth a table of leading
  // bits.
  Dictionary(Hashes sorted, Index questions)
      : sorted_(sorted), leading_(questions < Index(sorted.size()) / 8 ? 0 : Index(sorted.size())),
        starts_(leading_.count() == 1 ? Counts{0, std::uint32_t(sorted.size())} : leading_.starts(sorted)) {}

  // The rank of a hash, or -1 if it is not among them.
  std::int32_t operator[](std::uint64_t hash) const {
    const Index k = leading_(hash);
    const auto begin = sorted_.begin(), end = begin + starts_[k + 1];
    const auto found = std::lower_bound(begin + starts_[k], end, hash);
    return found != end && *found == hash ? std::int32_t(found - begin) : -1;
  }

private:
  Hashes sorted_;
  LeadingBits leading_;
  Counts starts_;
};

} // namespace southwell
