// Scores: measures of how far a coordinate is from its optimum. They are computed in
// algorithms/primal_step.hpp and dual_step.hpp.
//
//     score      meaning                                                           rules
//     reach      L_k ||a_k||: how far a coordinate could ever move the product     importance
//     residual   |kappa_k| ||a_k||: how far it is from where its reading puts it   support set, adaptive
//     bracket    its share of the duality gap                                      ada-gap, gap-per-epoch
//     violation  the shortest subgradient                                          gs, gs-s
//     step       the longest proximal step                                         gs-r
//     decrease   the largest decrease that its quadratic bound promises            gs-q
#pragma once
#include "core/support/enumeration.hpp"

namespace southwell {

#define SOUTHWELL_SCORES(one)                                                                                \
  one(none) one(reach) one(residual) one(bracket) one(violation) one(step) one(decrease)
SOUTHWELL_ENUMERATION(Score, SOUTHWELL_SCORES)

} // namespace southwell
