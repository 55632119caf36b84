// The losses as coordinate steps see them: most of the piecewise quadratic family is one type whose numbers
// are known at run time. A step walks a row or a column of the data, so that a few more loads are cheap, and
// its algorithms are compiled for five losses instead of ten (all that are not piecewise, and these). The
// squared and the hinge loss keep types of their own: on short rows the loads cost a fifth of a step.
#pragma once
#include "core/losses/all.hpp"
#include <tuple>

namespace southwell {

struct AnyPiecewise : PiecewiseQuadratic<AnyPiecewise> {
  static constexpr std::string_view name = "piecewise quadratic";
  // `smooth` holds if kappa > 0, which steps that need it must ask.

  template <class L>
  explicit AnyPiecewise(const L& loss)
      : kappa_(loss.kappa()), eps_(loss.eps()), against_plus_(loss.domain(1)),
        against_others_(loss.domain(-1)) {}
  Real kappa() const { return kappa_; }
  Real eps() const { return eps_; }
  Interval domain(Real b) const { return b > 0 ? against_plus_ : against_others_; }

private:
  Real kappa_, eps_;
  Interval against_plus_, against_others_; // of targets: they matter by their sign, if at all
};

template <class L>
constexpr bool has_own_steps = !L::piecewise || std::is_same_v<L, Squared> || std::is_same_v<L, Hinge>;

template <class Tuple> struct VariantOf;
template <class... L> struct VariantOf<std::tuple<L...>> {
  using type = std::variant<L...>;
};
template <class List> struct StepLosses;
template <class... L> struct StepLosses<std::variant<L...>> {
  template <class One> using IfOwn = std::conditional_t<has_own_steps<One>, std::tuple<One>, std::tuple<>>;
  using type = typename VariantOf<decltype(std::tuple_cat(std::declval<IfOwn<L>>()...,
                                                          std::declval<std::tuple<AnyPiecewise>>()))>::type;
};
using StepLoss = StepLosses<AnyLoss>::type;

inline StepLoss for_steps(const AnyLoss& loss) {
  return std::visit(
      []<class L>(const L& one) -> StepLoss {
        if constexpr (has_own_steps<L>)
          return one;
        else
          return AnyPiecewise(one);
      },
      loss);
}

} // namespace southwell
