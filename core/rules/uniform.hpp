// Independent uniform draws.
#pragma once
#include "core/rules/rule.hpp"

namespace southwell {

class Uniform final : public Rule {
public:
  static constexpr std::string_view name = "uniform";

  Uniform(const RuleSpec&, Index n, Random random) : n_(n), random_(random) {}
  void next(std::span<Index> out) override {
    for (Index& k : out) k = random_.below(n_);
  }

private:
  Index n_;
  Random random_;
};

} // namespace southwell
