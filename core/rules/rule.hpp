// A rule selects the next coordinate. Type-erased: it selects coordinates in batches, so that one virtual
// call serves many moves and the algorithm can prefetch. A rule that depends on each move has a lookahead
// of 1.
//
// A rule that uses scores declares which score, and how often it must be recomputed; the algorithm supplies
// it. A rule with several candidates returns them in groups, and the one with the best score moves.
#pragma once
#include "core/rules/score.hpp"
#include "core/support/random.hpp"
#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace southwell {

// Thrown by a rule that cannot continue, before any coordinate has moved; ends the solve.
struct Abandoned {};

// The parameters of all rules; each rule uses some of them.
struct RuleSpec {
  std::string name;
  Score score = Score::none;
  Index refresh_every = 0;          // moves between refreshes of all scores; 0: updated at every move
  Real mix = 0;                     // the share of uniform draws
  std::vector<Index> block_of = {}; // the block of each coordinate
  Index candidates = 1;
  Real explore = 0; // the share of moves whose candidates are drawn uniformly
  // A search outside: up to `count` coordinates for this image, none of them `apart`.
  std::function<std::vector<Index>(CVec image, Index count, std::span<const Index> apart)> find = {};
  std::vector<char> always_apart = {}; // coordinates that the search does not know
  bool by_reading = false;             // whether it knows the score of a coordinate wherever it stands
};

// A rule has the `name` that a specification calls it by, and is made from (spec, number of coordinates,
// random numbers). Where several have one name, `fits(spec)` tells them apart.
class Rule {
public:
  static constexpr Index never = std::numeric_limits<Index>::max();

  virtual ~Rule() = default;
  virtual void next(std::span<Index> out) = 0;
  virtual Index lookahead() const { return 64; }

  virtual Score score() const { return Score::none; }
  virtual Index candidates() const { return 1; } // the size of a group
  // The next group; of another size at each move if the rule searches.
  virtual void gather(std::vector<Index>& group) {
    group.resize(candidates());
    next(group);
  }
  // A random place in the last group, such that the coordinate at that place is uniform over all coordinates.
  virtual Index uniform_candidate() { return 0; }

  // Whether it needs the scores of all coordinates, and after how many moves they are recomputed; 0: updated
  // at every move; never: computed once.
  virtual bool keeps_scores() const { return false; }
  virtual Index refresh_every() const { return never; }
  virtual void refresh(CVec) {}                        // takes all scores
  virtual void update(std::span<const Index>, CVec) {} // takes the changed coordinates, and all scores
  virtual void stuck(Index) {}                         // the selected coordinate did not move

  // Whether it needs the image (the vector that fibers are multiplied with), as rules that search an index
  // do; and a function that takes it.
  virtual bool aims() const { return false; }
  virtual void aim(CVec) {}
  virtual void placed(Index, Real) {} // takes where a coordinate stands now, after it moved
};

// The rule that a specification names, for n coordinates. Defined in all.hpp, which only one file includes.
std::unique_ptr<Rule> make_rule(const RuleSpec& spec, Index n, std::uint64_t seed);

} // namespace southwell
