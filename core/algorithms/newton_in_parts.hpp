// Newton's method on a problem whose samples are in parts: the same driver as in memory, over sums.
#pragma once
#include "core/algorithms/proximal_newton.hpp"
#include "core/newton/numbers_in_parts.hpp"

namespace southwell {

struct OwnScreening { // a base, so that it is made before the driver that refers to it
  Screening<ProblemInParts> screening;
};

class NewtonInParts final : OwnScreening, public ProximalNewton<ProblemInParts, NumbersInParts> {
public:
  NewtonInParts(const ProblemInParts& problem, const Policy& policy, std::vector<Real> x, Real softness)
      : OwnScreening{Screening<ProblemInParts>(problem)},
        ProximalNewton(problem, policy, screening, std::move(x), {}, softness) {}

  bool repenalise(const Question& question) override {
    if (!ProximalNewton::repenalise(question)) return false;
    screening.repenalise(dynamic_cast<const ProblemInParts&>(question));
    return true;
  }
};

} // namespace southwell
