// Uniform random subsets of 0, ..., n-1 of a fixed size: the first entries of a permutation that is shuffled
// further.
#pragma once
#include "core/support/random.hpp"
#include <numeric>
#include <utility>
#include <vector>

namespace southwell {

class Subset {
public:
  Subset(Index n, Index size) : order_(n), size_(size) { std::iota(order_.begin(), order_.end(), Index{0}); }

  std::span<const Index> draw(Random& random) {
    if (size_ < Index(order_.size()))
      for (Index k = 0; k < size_; ++k)
        std::swap(order_[k], order_[k + random.below(Index(order_.size()) - k)]);
    return current();
  }
  std::span<const Index> current() const { return {order_.data(), std::size_t(size_)}; }

private:
  std::vector<Index> order_;
  Index size_;
};

} // namespace southwell
