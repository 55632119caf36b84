// Scores: measures of how far a coordinate is from its optimum. They are computed in
// algorithms/primal_step.hpp and dual_step.hpp.
#pragma once
#include <stdexcept>
#include <string>
#include <string_view>

namespace southwell {

enum class Score {
  none,
  reach,     // L_k ||a_k||: how far it could ever move the product            importance
  residual,  // |kappa_k| ||a_k||: how far it is from where its reading puts it  support set, adaptive,
             // ada-uniform
  bracket,   // its share of the duality gap                                    ada-gap, gap-per-epoch
  violation, // the shortest subgradient                                        gs, gs-s
  step,      // the longest proximal step                                       gs-r
  decrease   // the most decrease its quadratic bound promises                  gs-q
};

inline Score score_named(std::string_view name) {
  constexpr std::string_view names[] = {"none",      "reach", "residual", "bracket",
                                        "violation", "step",  "decrease"};
  for (int k = 0; k < 7; ++k)
    if (names[k] == name) return Score(k);
  throw std::invalid_argument("unknown score '" + std::string(name) + "'");
}

} // namespace southwell
