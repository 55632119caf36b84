// Which features join a working set: of those outside it that break their optimality condition, the ones that
// promise the largest decrease. At most a hundred (a thousand if that is all there are), one in 300 of all,
// or twice the support; and beyond a hundred no more than a tenth of the data, so that the set stays a small
// part of it. What a column holds is judged by its squared norm: its size is not known where the data lie by
// rows.
#pragma once
#include "core/concepts.hpp"
#include "core/policy.hpp"
#include <algorithm>
#include <span>
#include <vector>

namespace southwell {

inline bool few(Index coefficients, const Policy& policy) { return Real(coefficients) <= policy.few; }

struct Joining {
  std::vector<Index> names; // in order
  bool complete;            // are they few, and all there are?
};

// `at_once`: may all join at once? `slot[j]` < 0: it is outside; `nonzero(j)`: it is in the support. `norms`
// are squared, with their sum `total`; `off(j)` is by how much its condition is broken, or 0.
template <class Nonzero, class Off>
Joining choose_joining(std::span<const std::int32_t> slot, Nonzero&& nonzero, CVec norms, Real total,
                       Off&& off, bool at_once, const Policy& policy) {
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
  const Real least = at_once ? Real(all) : policy.joining;
  const auto most = std::size_t(std::max(
      {least, policy.joining_by_support * Real(support), std::floor(Real(all) / policy.joining_one_in)}));
  const bool little = policy.little_joins * Real(violators.size()) < Real(most);
  if (violators.size() > most) {
    std::nth_element(violators.begin(), violators.begin() + std::ptrdiff_t(most), violators.end());
    violators.resize(most);
  }
  std::sort(violators.begin(), violators.end());
  std::vector<Index> names;
  Real room = std::max(policy.joining_room * total, policy.joining_by_support * held);
  for (const Violator& violator : violators) {
    if (Real(names.size()) >= policy.joining && room < 0) break;
    room -= norms[violator.j];
    names.push_back(violator.j);
  }
  std::sort(names.begin(), names.end());
  return {names, little && names.size() == violators.size()};
}

} // namespace southwell
