// The list of rules, by the name Python uses.
#pragma once
#include "core/rules/cyclic.hpp"
#include "core/rules/greedy.hpp"
#include "core/rules/hybrid.hpp"
#include "core/rules/sampled.hpp"
#include "core/rules/search.hpp"
#include "core/rules/shuffled.hpp"
#include "core/rules/uniform.hpp"
#include <memory>
#include <stdexcept>
#include <string>

namespace southwell {

// The parameters of all rules; each rule uses some of them.
struct RuleSpec {
  std::string name;
  Score score = Score::none;
  Index refresh_every = 0;     // sampled, greedy: moves between refreshes; 0: updated at every move
  Real mix = 0;                // sampled
  std::vector<Index> block_of; // hybrid
  Index candidates = 1;        // search
  Real explore = 0;
  Search::Find find;
};

inline std::unique_ptr<Rule> make_rule(const RuleSpec& spec, Index n, std::uint64_t seed) {
  const Random random(seed);
  if (spec.name == "cyclic") return std::make_unique<Cyclic>(n, random);
  if (spec.name == "shuffled") return std::make_unique<Shuffled>(n, random);
  if (spec.name == "uniform") return std::make_unique<Uniform>(n, random);
  if (spec.name == "sampled") {
    if (spec.refresh_every == 0) return std::make_unique<Sampled>(n, random, spec.score, spec.mix);
    return std::make_unique<SampledForAWhile>(n, random, spec.score, spec.mix, spec.refresh_every);
  }
  if (spec.name == "greedy") {
    if (spec.refresh_every == 0) return std::make_unique<Greedy>(n, spec.score);
    return std::make_unique<GreedyInTurn>(n, spec.score, spec.refresh_every);
  }
  if (spec.name == "hybrid") {
    if (Index(spec.block_of.size()) != n) throw std::invalid_argument("a partition of the wrong size");
    return std::make_unique<Hybrid>(spec.block_of, random, spec.score);
  }
  if (spec.name == "search")
    return std::make_unique<Search>(n, random, spec.score, spec.candidates, spec.explore, spec.find);
  throw std::invalid_argument("unknown rule '" + spec.name + "'");
}

} // namespace southwell
