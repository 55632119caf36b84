// A rule selects the next coordinate. Type-erased: it selects coordinates in batches, so that one virtual
// call serves many moves and the algorithm can prefetch. A rule that depends on each move has a lookahead
// of 1.
//
// A rule that uses scores declares which score, and how often it must be recomputed; the algorithm supplies
// it. A rule with several candidates returns them in groups, and the one with the best score moves.
#pragma once
#include "core/rules/score.hpp"
#include "core/support/random.hpp"
#include <limits>

namespace southwell {

// Thrown by a rule that cannot continue, before any coordinate has moved; ends the solve.
struct Abandoned {};

class Rule {
public:
  static constexpr Index never = std::numeric_limits<Index>::max();

  virtual ~Rule() = default;
  virtual void next(std::span<Index> out) = 0;
  virtual Index lookahead() const { return 64; }

  virtual Score score() const { return Score::none; }
  virtual Index candidates() const { return 1; } // the size of a group
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
};

} // namespace southwell
