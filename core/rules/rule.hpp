// Whom to move next. Erased: a rule hands out coordinates in batches, so its virtual call is shared by many
// moves, and the algorithm can prefetch. A rule that learns from each move says so with a lookahead of 1.
#pragma once
#include "core/support/random.hpp"

namespace southwell {

class Rule {
public:
  virtual ~Rule() = default;
  virtual void next(std::span<Index> out) = 0;
  virtual Index lookahead() const { return 64; }
};

} // namespace southwell
