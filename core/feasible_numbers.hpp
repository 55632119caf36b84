// Dual points of problems over numbers, made feasible (see feasible.hpp): the penalty answers for all of its
// coefficients at once.
#pragma once
#include "core/feasible.hpp"
#include "core/problem.hpp"

namespace southwell {

class FeasibleNumbers final : public Feasible {
public:
  FeasibleNumbers(const Problem& problem, std::function<bool()> hurry)
      : Feasible(problem, std::move(hurry)), penalty_(problem.penalty) {}

private:
  Real least_scale(bool with_l2) const override { return penalty_.feasible_scale(z_, with_l2); }
  Real penalty_conjugate(Real scale) const override { return penalty_.conjugate(z_, scale); }

  const ElasticNet& penalty_;
};

} // namespace southwell
