// The lists of losses. A new loss is a file beside this one, its include here, and its name in a list.
#pragma once
#include "core/losses/epsilon_insensitive.hpp"
#include "core/losses/gamma.hpp"
#include "core/losses/hinge.hpp"
#include "core/losses/huber.hpp"
#include "core/losses/logistic.hpp"
#include "core/losses/modified_huber.hpp"
#include "core/losses/multiclass_hinge.hpp"
#include "core/losses/negative_binomial.hpp"
#include "core/losses/poisson.hpp"
#include "core/losses/quantile.hpp"
#include "core/losses/smooth_hinge.hpp"
#include "core/losses/softmax.hpp"
#include "core/losses/squared.hpp"
#include "core/losses/squared_epsilon_insensitive.hpp"
#include "core/losses/squared_hinge.hpp"
#include "core/losses/tweedie.hpp"

namespace southwell {

// Of one margin.
using AnyLoss =
    std::variant<Squared, Logistic, SmoothHinge, Hinge, SquaredHinge, Huber, Quantile, EpsilonInsensitive,
                 SquaredEpsilonInsensitive, Poisson, ModifiedHuber, Gamma, Tweedie, NegativeBinomial>;
// Of a margin for each class.
using AnyClassLoss = std::variant<Softmax, MulticlassHinge>;

template <class List> constexpr bool all_are_losses = false;
template <class... L> constexpr bool all_are_losses<std::variant<L...>> = (Loss<L> && ...);
static_assert(all_are_losses<AnyLoss>);
static_assert(SmoothLoss<Logistic> && SmoothLoss<Poisson> && !SmoothLoss<Hinge>);

} // namespace southwell
