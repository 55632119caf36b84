#include "bindings/coordinate_descent.hpp"

namespace southwell {

namespace {

template <class Map, class Step>
std::unique_ptr<Algorithm> through_gram(Map map, Step step, const DescentSpec& spec) {
  const Index size = step.coordinates();
  return with_rule([&] { return Gram<Map>(spec.gram, size, map); },
                   [&] { return GramPair<Map>(spec.gram, size, map); }, std::move(step), nullptr, spec);
}

} // namespace

std::unique_ptr<Algorithm> primal_gram_descent(const DescentSpec& spec) {
  return through_gram(
      ResidualMap(spec.problem.loss),
      PrimalStep<Squared>(spec.problem, Squared{}, spec.problem.design, spec.start, spec.curvature), spec);
}

std::unique_ptr<Algorithm> dual_gram_descent(const DescentSpec& spec) {
  const LinearConjugateMap map(spec.problem.penalty, spec.anchor, spec.firmness, spec.intercept_firmness);
  const Index size = spec.problem.design.rows();
  std::vector<Real> norms(size);
  for (Index i = 0; i < size; ++i) norms[i] = -spec.gram[i * size + i];
  return std::visit(
      [&]<class L>(const L& loss) {
        return through_gram(map, DualStep<L>(spec.problem, loss, norms, spec.start), spec);
      },
      spec.loss);
}

} // namespace southwell
