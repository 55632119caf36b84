// Which features join a working set: of those outside it that break their optimality condition, the ones that
// promise the largest decrease. At most a hundred (a thousand if that is all there are), one in 300 of all,
// or twice the support; and beyond a hundred no more than a tenth of the data, so that the set stays a small
// part of it. What a column holds is judged by its squared norm: its size is not known where the data lie by
// rows.
#pragma once
#include "core/concepts.hpp"
#include <algorithm>
#include <span>
#include <vector>

namespace southwell {

inline bool few(Index features) { return features <= 1000; }

struct Joining {
  std::vector<Index> names; // in order
  bool complete;            // are they few, and all there are?
};

// `slot[j]` < 0: it is outside; `nonzero(j)`: it is in the support. `norms` are squared, with their sum
// `total`; `off(j)` is by how much its condition is broken, or 0.
template <class Nonzero, class Off>
Joining choose_joining(std::span<const std::int32_t> slot, Nonzero&& nonzero, CVec norms, Real total,
                       Off&& off) {
  struct Violator {
    Real gain;
    Index j;
    bool operator<(const Violator& other) const {
      return gain > other.gain || (gain == other.gain && j < other.j);
    }
  };
  std::vector<Violator> violators;
  const Index all = Index(slot.size());
  Index support = 0;
  Real held = 0; // by the columns of the support
  for (Index j = 0; j < all; ++j) {
    if (slot[j] >= 0) {
      const bool supports = nonzero(j);
      support += supports;
      held += supports ? norms[j] : 0;
    } else if (const Real by = off(j); by > 0 && norms[j] > 0) {
      violators.push_back({by * by / norms[j], j});
    }
  }
  const std::size_t most = std::max<Index>({few(all) ? all : 100, 2 * support, all / 300});
  const bool little = 4 * violators.size() < most;
  if (violators.size() > most) {
    std::nth_element(violators.begin(), violators.begin() + std::ptrdiff_t(most), violators.end());
    violators.resize(most);
  }
  std::sort(violators.begin(), violators.end());
  std::vector<Index> names;
  Real room = std::max(0.1 * total, 2 * held);
  for (const Violator& violator : violators) {
    if (names.size() >= 100 && room < 0) break;
    room -= norms[violator.j];
    names.push_back(violator.j);
  }
  std::sort(names.begin(), names.end());
  return {names, little && names.size() == violators.size()};
}

} // namespace southwell
