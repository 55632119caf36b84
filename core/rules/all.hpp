// The list of rules. A new rule is a file beside this one, its include here, and its name in `AllRules`.
// Only bindings/rules.cpp includes this file, so that the rules are compiled once.
#pragma once
#include "core/rules/cyclic.hpp"
#include "core/rules/greedy.hpp"
#include "core/rules/hybrid.hpp"
#include "core/rules/sampled.hpp"
#include "core/rules/search.hpp"
#include "core/rules/shuffled.hpp"
#include "core/rules/uniform.hpp"
#include <memory>

namespace southwell {

template <class... R> struct Rules {
  static std::unique_ptr<Rule> make(const RuleSpec& spec, Index n, Random random) {
    std::unique_ptr<Rule> made;
    const auto consider = [&]<class One>() {
      bool fits = One::name == spec.name;
      if constexpr (requires { One::fits(spec); }) fits = fits && One::fits(spec);
      if (fits) made = std::make_unique<One>(spec, n, random);
    };
    (consider.template operator()<R>(), ...);
    if (!made) throw std::invalid_argument("unknown rule '" + spec.name + "'");
    return made;
  }
};

using AllRules =
    Rules<Cyclic, Shuffled, Uniform, Sampled, SampledForAWhile, Greedy, GreedyInTurn, Hybrid, Search>;

std::unique_ptr<Rule> make_rule(const RuleSpec& spec, Index n, std::uint64_t seed) {
  return AllRules::make(spec, n, Random(seed));
}

} // namespace southwell
