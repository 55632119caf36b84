// Shrinking by skipping visits (a coordinate rests): one that did not move when visited skips the next 1, 3,
// then 7 visits, and none as soon as it moves again. Coordinates at a bound (zero coefficients, non-support
// samples) then cost an eighth of a pass. Every coordinate is still visited at least every eighth time, and
// the certificate, which uses all of them, decides when to stop.
#pragma once
#include "core/concepts.hpp"
#include <algorithm>
#include <vector>

namespace southwell {

class Rest {
public:
  Rest(Index coordinates, bool enabled) : skips_(enabled ? coordinates : 0), enabled_(enabled) {}

  bool asleep(Index k) const { return enabled_ && skips_[k].remaining > 0; }
  void sleep_on(Index k) { --skips_[k].remaining; }
  void visited(Index k, bool moved) {
    if (!enabled_) return;
    Skips& skips = skips_[k];
    skips.level = moved ? 0 : std::uint8_t(std::min(skips.level + 1, 3));
    skips.remaining = std::uint8_t((1 << skips.level) - 1);
  }

private:
  struct Skips {
    std::uint8_t remaining = 0, level = 0;
  };
  std::vector<Skips> skips_;
  bool enabled_;
};

} // namespace southwell
