#pragma once
#include "bindings/coordinate_descent.hpp"

namespace southwell {

template <class Stored>
std::unique_ptr<Algorithm> primal_descent(const Framed<Stored, Axis::columns>& design,
                                          const DescentSpec& spec) {
  if (!spec.problem.loss.smooth())
    throw std::invalid_argument("coordinate descent on the primal needs a smooth loss");
  return std::visit(
      [&]<class L>(const L& loss) -> std::unique_ptr<Algorithm> {
        if constexpr (!SmoothLoss<L>)
          return nullptr;
        else if constexpr (L::quadratic)
          return along_fibers(design, ResidualMap(spec.problem.loss),
                              PrimalStep<L>(spec.problem, loss, design, spec.start, spec.curvature), spec);
        else
          return along_fibers(design, DerivativeMap<L>(loss, spec.problem.loss),
                              PrimalStep<L>(spec.problem, loss, design, spec.start, spec.curvature), spec);
      },
      spec.loss);
}

} // namespace southwell
