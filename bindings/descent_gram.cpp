#include "bindings/coordinate_descent.hpp"

namespace southwell {

std::unique_ptr<Algorithm> primal_gram_descent(const DescentSpec& spec) {
  const Design& design = spec.problem.design;
  return descend(Gram<ResidualMap>(spec.gram, design.cols(), ResidualMap(spec.problem.loss)),
                 PrimalStep<Squared>(spec.problem, Squared{}, design, spec.start), spec);
}

std::unique_ptr<Algorithm> dual_gram_descent(const DescentSpec& spec) {
  const Design& design = spec.problem.design;
  const LinearConjugateMap map(spec.problem.penalty, spec.anchor, spec.firmness, spec.intercept_firmness);
  Gram<LinearConjugateMap> coupling(spec.gram, design.rows(), map);
  std::vector<Real> norms(design.rows());
  for (Index i = 0; i < design.rows(); ++i) norms[i] = -coupling.diagonal(i);
  return std::visit(
      [&]<class L>(const L& loss) -> std::unique_ptr<Algorithm> {
        return descend(std::move(coupling), DualStep<L>(spec.problem, loss, norms, spec.start), spec);
      },
      spec.loss);
}

} // namespace southwell
