// The losses as coordinate steps see them: most of the piecewise quadratic family is one type whose numbers
// are known at run time. A step walks a row or a column of the data, so that a few more loads are cheap, and
// its algorithms are compiled for five losses instead of ten. The squared and the hinge loss keep types of
// their own: on short rows the loads cost a fifth of a step.
#pragma once
#include "core/losses/all.hpp"

namespace southwell {

struct AnyPiecewise : PiecewiseQuadratic<AnyPiecewise> {
  static constexpr std::string_view name = "piecewise quadratic";
  static constexpr bool smooth = true; // if kappa > 0, which steps that need it must ask

  template <class L>
  explicit AnyPiecewise(const L& loss)
      : kappa_(loss.kappa()), eps_(loss.eps()), against_plus_(loss.domain(1)),
        against_others_(loss.domain(-1)) {}
  Real kappa() const { return kappa_; }
  Real eps() const { return eps_; }
  Interval domain(Real b) const { return b > 0 ? against_plus_ : against_others_; }
  std::string_view targets() const { return "real"; }

private:
  Real kappa_, eps_;
  Interval against_plus_, against_others_; // of targets: they matter by their sign, if at all
};

using StepLoss = std::variant<Squared, Logistic, Poisson, Hinge, AnyPiecewise>;

inline StepLoss for_steps(const AnyLoss& loss) {
  return std::visit(
      []<class L>(const L& one) -> StepLoss {
        if constexpr (std::is_same_v<L, Squared> || std::is_same_v<L, Hinge> ||
                      !std::is_base_of_v<PiecewiseQuadratic<L>, L>)
          return one;
        else
          return AnyPiecewise(one);
      },
      loss);
}

} // namespace southwell
