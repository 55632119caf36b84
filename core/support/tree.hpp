// A number for each coordinate, and the sum or the maximum of all, updated when single numbers change.
//
// Each level holds the sums (or maxima) of groups of 16 numbers of the level below. `settle` recomputes every
// group with a change once, so one change costs 16 log16(n) additions and n changes cost O(n). Nothing is
// subtracted, so rounding errors do not accumulate.
#pragma once
#include "core/support/math.hpp"
#include <vector>

namespace southwell {

struct Sum {
  static constexpr Real nothing = 0;
  static Real join(Real a, Real b) { return a + b; }
};
struct Largest {
  static constexpr Real nothing = -1; // below every score
  static Real join(Real a, Real b) { return std::max(a, b); }
};

template <class Join> class Tree {
public:
  explicit Tree(Index n) {
    do {
      const Index groups = (n + fan - 1) / fan;
      levels_.push_back({std::vector<Real>(groups * fan, Join::nothing), std::vector<char>(groups), {}});
      n = groups;
    } while (n > 1);
  }

  void set(Index k, Real value) { change(0, k, value); }
  void settle() {
    for (std::size_t l = 0; l < levels_.size(); ++l) {
      Level& level = levels_[l];
      for (const Index group : level.changed) {
        level.marked[group] = 0;
        const Real joined = join(&level.values[group * fan]);
        if (l + 1 < levels_.size())
          change(l + 1, group, joined);
        else
          top_ = joined;
      }
      level.changed.clear();
    }
  }
  Real top() const { return top_; }

  // The coordinate whose part of [0, top) contains u, when the parts have the lengths of the numbers.
  Index find(Real u) const
    requires std::same_as<Join, Sum>
  {
    return descend([&](const Real* group) {
      Index last = 0;
      for (Index k = 0; k < fan; ++k) {
        if (u < group[k]) return k;
        u -= group[k];
        if (group[k] > 0) last = k;
      }
      u = 0; // rounding: the sum was a little larger than its parts
      return last;
    });
  }
  // The coordinate with the largest number, the first of equals.
  Index argmax() const
    requires std::same_as<Join, Largest>
  {
    return descend([](const Real* group) { return Index(std::max_element(group, group + fan) - group); });
  }

private:
  static constexpr Index fan = 16;
  struct Level {
    std::vector<Real> values;
    std::vector<char> marked;   // 1: the group must be recomputed
    std::vector<Index> changed; // those groups
  };

  void change(std::size_t l, Index k, Real value) {
    Level& level = levels_[l];
    if (level.values[k] == value) return;
    level.values[k] = value;
    if (level.marked[k / fan]) return;
    level.marked[k / fan] = 1;
    level.changed.push_back(k / fan);
  }
  static Real join(const Real* group) {
    Real joined = group[0];
    for (Index k = 1; k < fan; ++k) joined = Join::join(joined, group[k]);
    return joined;
  }
  template <class Pick> Index descend(Pick&& pick) const {
    Index k = 0;
    for (std::size_t l = levels_.size(); l-- > 0;) k = k * fan + pick(&levels_[l].values[k * fan]);
    return k;
  }

  std::vector<Level> levels_;
  Real top_ = Join::nothing;
};

} // namespace southwell
