// Shrinking without bookkeeping: a coordinate that did not move when visited sits out the next 1, 3, then 7
// visits, and is fully awake again as soon as it moves. Coordinates at a bound (zero coefficients,
// non-support samples) then cost an eighth of a pass, yet at most seven visits in eight are skipped,
// so nothing is ever lost, and the certificate, which looks at all of them, decides when to stop.
#pragma once
#include "core/concepts.hpp"
#include <algorithm>
#include <vector>

namespace southwell {

class Rest {
public:
  Rest(Index coordinates, bool enabled) : naps_(enabled ? coordinates : 0), enabled_(enabled) {}

  bool asleep(Index k) const { return enabled_ && naps_[k].left > 0; }
  void sleep_on(Index k) { --naps_[k].left; }
  void visited(Index k, bool moved) {
    if (!enabled_) return;
    Nap& nap = naps_[k];
    nap.depth = moved ? 0 : std::uint8_t(std::min(nap.depth + 1, 3));
    nap.left = std::uint8_t((1 << nap.depth) - 1);
  }

private:
  struct Nap {
    std::uint8_t left = 0, depth = 0;
  };
  std::vector<Nap> naps_;
  bool enabled_;
};

} // namespace southwell
