#pragma once
#include "bindings/coordinate_descent.hpp"
#include <algorithm>

namespace southwell {

template <class Stored>
std::unique_ptr<Algorithm> dual_descent(const Framed<Stored, Axis::rows>& design, const DescentSpec& spec) {
  const auto with_map = [&]<class Map>(const Map& map) {
    std::vector<Real> norms(design.rows());
    bool known = false; // but for a factor
    if constexpr (Map::linear) known = !spec.row_norms.empty() && map.uniform() && !design.shifted();
    if (known)
      std::transform(spec.row_norms.begin(), spec.row_norms.end(), norms.begin(),
                     [rate = -map.rate(0)](Real square) { return rate * square; });
    else
      design.squared_norms([&](Index j) { return -map.rate(j); }, norms);
    return std::visit(
        [&]<class L>(const L& loss) {
          return along_fibers(design, map,
                              DualStep<L>(spec.problem, loss, norms, spec.start, spec.towards, spec.rough),
                              spec);
        },
        spec.loss);
  };
  const auto map = [&]<class Map>() {
    return Map(spec.problem.penalty, spec.anchor, spec.firmness, spec.intercept_firmness, spec.momentum);
  };
  if (spec.problem.penalty.quadratic()) return with_map(map.template operator()<LinearConjugateMap>());
  return with_map(map.template operator()<CurvedConjugateMap>());
}

} // namespace southwell
