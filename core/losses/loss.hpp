// What a loss says about itself, unless it says otherwise; a loss derives from one of these two. A loss with
// a number of its own also has `static constexpr Parameter<Mine> parameter`.
#pragma once
#include "core/support/parts.hpp"

namespace southwell {

// phi(m; b): one margin for each sample.
struct OneMargin {
  static constexpr Index width = 1;
  static constexpr bool smooth = true;                // is the derivative continuous?
  static constexpr bool quadratic = false;            // is it (m - b)^2 / 2, with the derivative m - b?
  static constexpr bool piecewise = false;            // is phi'' constant on each of a few intervals?
  static constexpr bool may_overflow = false;         // is it infinite at margins that are not?
  static constexpr bool log_odds = false;             // is a margin the logarithm of odds?
  static constexpr bool log_link = false;             // is it the logarithm of a mean?
  static constexpr Real self_concordance = 0;         // M with |phi'''| <= M phi''; 0: none, use smoothness()
  static constexpr std::string_view targets = "real"; // or "signs" (-1 and +1), "counts" (>= 0), "positive"
};

// phi(m; b): a margin for each class; b is the number of a class.
struct ManyMargins : OneMargin {
  static constexpr Index width = 0; // known at run time
  static constexpr std::string_view targets = "classes";
};

} // namespace southwell
