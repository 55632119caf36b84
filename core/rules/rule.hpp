// Whom to move next. Erased: a rule hands out coordinates in batches, so its virtual call is shared by many
// moves, and the algorithm can prefetch. A rule that learns from each move says so with a lookahead of 1.
//
// A rule that looks at scores declares which score, and how fresh it must be; the algorithm supplies it. A
// rule with several candidates hands them out in groups, and the one with the best score moves.
#pragma once
#include "core/rules/score.hpp"
#include "core/support/random.hpp"
#include <limits>

namespace southwell {

// Thrown by a rule that cannot go on, before anything has moved.
struct Abandoned {};

class Rule {
public:
  static constexpr Index never = std::numeric_limits<Index>::max();

  virtual ~Rule() = default;
  virtual void next(std::span<Index> out) = 0;
  virtual Index lookahead() const { return 64; }

  virtual Score score() const { return Score::none; }
  virtual Index candidates() const { return 1; } // the size of a group
  // A place in the last group, so drawn that all coordinates are equally likely to be there.
  virtual Index uniform_candidate() { return 0; }

  // Scores of all coordinates: wanted afresh after so many moves; 0: true at every move; never: once.
  virtual bool keeps_scores() const { return false; }
  virtual Index refresh_every() const { return never; }
  virtual void refresh(CVec) {}                        // all of them
  virtual void update(std::span<const Index>, CVec) {} // these have changed; the scores of all
  virtual void stuck(Index) {}                         // this one could not move

  // The image (what fibers are multiplied with), for rules that search it.
  virtual bool aims() const { return false; }
  virtual void aim(CVec) {}
};

} // namespace southwell
