// Draws from a fixed distribution in O(1) (Walker 1977, Vose 1991): n columns of equal height, each shared by
// at most two coordinates.
#pragma once
#include "core/support/random.hpp"
#include <algorithm>
#include <vector>

namespace southwell {

class AliasTable {
public:
  // `weights` are >= 0, with a positive, finite sum.
  void assign(CVec weights) {
    const Index n = Index(weights.size());
    Real total = 0;
    for (const Real w : weights) total += w;
    columns_.resize(n);
    small_.clear();
    large_.clear();
    for (Index k = 0; k < n; ++k) {
      columns_[k] = {weights[k] / total * Real(n), k};
      (columns_[k].own < 1 ? small_ : large_).push_back(k);
    }
    while (!small_.empty() && !large_.empty()) { // fill the rest of the small one's column from the large one
      const Index s = small_.back(), l = large_.back();
      small_.pop_back();
      columns_[s].other = l;
      columns_[l].own -= 1 - columns_[s].own;
      if (columns_[l].own < 1) {
        large_.pop_back();
        small_.push_back(l);
      }
    }
    // The remaining ones fill their columns up to rounding, except that one of weight zero must never be
    // drawn.
    for (const Index k : small_)
      if (weights[k] == 0)
        columns_[k].other = Index(std::max_element(weights.begin(), weights.end()) - weights.begin());
  }

  Index draw(Random& random) const {
    const Column& column = columns_[random.below(Index(columns_.size()))];
    const Index k = &column - columns_.data();
    return random.unit() < column.own ? k : column.other;
  }

private:
  struct Column {
    Real own; // the share of its own coordinate
    Index other;
  };
  std::vector<Column> columns_;
  std::vector<Index> small_, large_;
};

} // namespace southwell
