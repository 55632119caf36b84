// 0, 1, ..., n-1, 0, 1, ...
#pragma once
#include "core/rules/rule.hpp"

namespace southwell {

class Cyclic final : public Rule {
public:
  static constexpr std::string_view name = "cyclic";

  Cyclic(const RuleSpec&, Index n, Random) : n_(n) {}
  void next(std::span<Index> out) override {
    for (Index& k : out) {
      k = at_;
      at_ = at_ + 1 == n_ ? 0 : at_ + 1;
    }
  }

private:
  Index n_, at_ = 0;
};

} // namespace southwell
