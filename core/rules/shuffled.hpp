// A fresh random order for every pass: each coordinate once an epoch.
#pragma once
#include "core/rules/rule.hpp"
#include <numeric>
#include <stdexcept>
#include <utility>

namespace southwell {

class Shuffled final : public Rule {
public:
  static constexpr std::string_view name = "shuffled";

  Shuffled(const RuleSpec&, Index n, Random random) : order_(n), random_(random) {
    if (n > Index{1} << 32) throw std::length_error("more coordinates than a shuffled rule can hold");
    std::iota(order_.begin(), order_.end(), 0u);
  }
  void next(std::span<Index> out) override {
    const Index n = Index(order_.size());
    for (Index& k : out) { // Fisher-Yates, one swap a draw: a pass of n draws is a uniform permutation
      std::swap(order_[at_], order_[at_ + random_.below(n - at_)]);
      k = order_[at_];
      at_ = at_ + 1 == n ? 0 : at_ + 1;
    }
  }

private:
  std::vector<std::uint32_t> order_;
  Random random_;
  Index at_ = 0;
};

} // namespace southwell
