// The distinct hashes of one grid, in increasing order: the rank of a hash among them is its column in the
// grid.
#pragma once
#include "core/concepts.hpp"
#include <algorithm>
#include <bit>
#include <vector>

namespace southwell {

using Hashes = std::span<const std::uint64_t>;

using Counts = std::vector<std::uint32_t>; // of hashes, fewer than 2^31

// Where the hashes with the same leading bits begin, in an order that keeps such hashes together.
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

// By counting on the leading bits; what is left to sort are short runs.
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
    kept = std::unique_copy(begin, end, kept); // to the left: never beyond where it reads
  }
  sorted.erase(kept, sorted.end());
  sorted.shrink_to_fit();
  return sorted;
}

class Dictionary {
public:
  // `questions` to come: a few are answered by bisection alone, many are worth a table of leading bits.
  Dictionary(Hashes sorted, Index questions)
      : sorted_(sorted), leading_(questions < Index(sorted.size()) / 8 ? 0 : Index(sorted.size())),
        starts_(leading_.count() == 1 ? Counts{0, std::uint32_t(sorted.size())} : leading_.starts(sorted)) {}

  // -1 for a hash that is not there.
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
