#pragma once
#include "bindings/coordinate_descent.hpp"

namespace southwell {

template <class Stored>
std::unique_ptr<Algorithm> primal_descent(const Framed<Stored, Axis::columns>& design,
                                          const DescentSpec& spec) {
  using D = Framed<Stored, Axis::columns>;
  return std::visit(
      [&]<class L>(const L& loss) -> std::unique_ptr<Algorithm> {
        if constexpr (std::is_same_v<L, Squared>)
          return descend(Mirror<D, ResidualMap>(design, ResidualMap(spec.problem.loss)),
                         PrimalStep<L>(spec.problem, loss, design, spec.start), spec);
        else if constexpr (SmoothLoss<L>)
          return descend(Mirror<D, DerivativeMap<L>>(design, DerivativeMap<L>(loss, spec.problem.loss)),
                         PrimalStep<L>(spec.problem, loss, design, spec.start), spec);
        else
          throw std::invalid_argument("coordinate descent on the primal needs a smooth loss");
      },
      spec.loss);
}

} // namespace southwell
