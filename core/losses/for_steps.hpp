// The losses as coordinate steps see them: most of the piecewise quadratic family is one type whose numbers
// are known at run time, and so are the losses of means but Poisson's, which one branch tells apart. A step
// walks a row or a column of the data, so that a few more loads are cheap, and its algorithms are compiled
// for six losses instead of fourteen. The squared and the hinge loss keep types of their own: on short rows
// the loads cost a fifth of a step.
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

// A loss with a log link.
struct AnyMean : OneMargin {
  static constexpr std::string_view name = "log link";
  static constexpr Real self_concordance = 1; // of each

  template <class L> explicit AnyMean(const L& loss) : one_(loss) {}
  template <class Question> auto ask(Question&& question) const { return std::visit(question, one_); }
  Real value(Real m, Real b) const {
    return ask([=](const auto& l) { return l.value(m, b); });
  }
  Real derivative(Real m, Real b) const {
    return ask([=](const auto& l) { return l.derivative(m, b); });
  }
  Real curvature(Real y, Real b) const {
    return ask([=](const auto& l) { return l.curvature(y, b); });
  }
  Real conjugate(Real y, Real b) const {
    return ask([=](const auto& l) { return l.conjugate(y, b); });
  }
  Real value_rounding(Real m, Real b, Real value) const {
    return ask([=](const auto& l) { return l.value_rounding(m, b, value); });
  }
  Real conjugate_rounding(Real y, Real b, Real value) const {
    return ask([=](const auto& l) { return l.conjugate_rounding(y, b, value); });
  }
  Interval conjugate_subdifferential(Real y, Real b) const {
    return ask([=](const auto& l) { return l.conjugate_subdifferential(y, b); });
  }
  Real conjugate_bregman(Real y, Real u, Real r, Real b) const {
    return ask([=](const auto& l) { return l.conjugate_bregman(y, u, r, b); });
  }
  Interval domain(Real b) const {
    return ask([=](const auto& l) { return l.domain(b); });
  }
  Real maximise(Real m, Real y0, Real q, Real b) const {
    return ask([=](const auto& l) { return l.maximise(m, y0, q, b); });
  }
  Real smoothness() const { return infinity; }

private:
  std::variant<Gamma, Tweedie, NegativeBinomial> one_;
};

template <class L> constexpr bool is_mean = L::log_link && !std::is_same_v<L, Poisson>;
template <class L>
constexpr bool has_own_steps =
    !(L::piecewise || is_mean<L>) || std::is_same_v<L, Squared> || std::is_same_v<L, Hinge>;

template <class Tuple> struct VariantOf;
template <class... L> struct VariantOf<std::tuple<L...>> {
  using type = std::variant<L...>;
};
template <class List> struct StepLosses;
template <class... L> struct StepLosses<std::variant<L...>> {
  template <class One> using IfOwn = std::conditional_t<has_own_steps<One>, std::tuple<One>, std::tuple<>>;
  using type = typename VariantOf<decltype(std::tuple_cat(
      std::declval<IfOwn<L>>()..., std::declval<std::tuple<AnyPiecewise, AnyMean>>()))>::type;
};
using StepLoss = StepLosses<AnyLoss>::type;

inline StepLoss for_steps(const AnyLoss& loss) {
  return std::visit(
      []<class L>(const L& one) -> StepLoss {
        if constexpr (has_own_steps<L>)
          return one;
        else if constexpr (is_mean<L>)
          return AnyMean(one);
        else
          return AnyPiecewise(one);
      },
      loss);
}

} // namespace southwell
