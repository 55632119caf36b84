// The list of losses. A new loss is a file beside this one and a name in `AnyLoss`.
#pragma once
#include "core/losses/epsilon_insensitive.hpp"
#include "core/losses/hinge.hpp"
#include "core/losses/huber.hpp"
#include "core/losses/logistic.hpp"
#include "core/losses/poisson.hpp"
#include "core/losses/quantile.hpp"
#include "core/losses/smooth_hinge.hpp"
#include "core/losses/squared.hpp"
#include "core/losses/squared_epsilon_insensitive.hpp"
#include "core/losses/squared_hinge.hpp"
#include <variant>

namespace southwell {

using AnyLoss = std::variant<Squared, Logistic, SmoothHinge, Hinge, SquaredHinge, Huber, Quantile,
                             EpsilonInsensitive, SquaredEpsilonInsensitive, Poisson>;

template <class V> struct AllLosses;
template <class... L> struct AllLosses<std::variant<L...>> {
  static constexpr bool value = (Loss<L> && ...);
};
static_assert(AllLosses<AnyLoss>::value);
static_assert(SmoothLoss<Logistic> && SmoothLoss<Poisson> && !SmoothLoss<Hinge>);

} // namespace southwell
