// Member functions of Problem that are compiled once: the unit of its gaps, and the object that makes dual
// points feasible.
#include "core/problem.hpp"
#include "core/feasible.hpp"

namespace southwell {

namespace {

class FeasibleNumbers final : public Feasible {
public:
  FeasibleNumbers(const Problem& problem, std::function<bool()> hurry)
      : Feasible(problem, std::move(hurry)), penalty_(problem.penalty) {}

private:
  Real least_scale(bool with_l2) const override { return penalty_.feasible_scale(z_, with_l2); }
  Real penalty_conjugate(Real scale) const override { return penalty_.conjugate(z_, scale); }
  int sign(Index j) const override {
    const Interval range = penalty_[j].domain();
    return range.lo >= 0 ? 1 : range.hi <= 0 ? -1 : 0;
  }

  const ElasticNet& penalty_;
};

} // namespace

Unit Problem::unit(Point& point) const {
  bool zero = true;
  for (Index j = 0; j < (penalty.bounded() ? Index(point.x.size()) : 0); ++j) {
    point.x[j] = clip(0, penalty[j].domain());
    zero = zero && point.x[j] == 0;
  }
  if (!zero) design.apply(point.x, point.margins);
  if (has_intercept()) solve_intercept(*this, point);
  const Real trivial = dual_at_zero();
  const Real null = loss.value(point.margins) + penalty.value(point.x);
  loss.derivative(point.margins, point.y);
  return unit_of(null, trivial, terms(point));
}

std::unique_ptr<Bound> Problem::bound(std::function<bool()> hurry) const {
  return std::make_unique<FeasibleNumbers>(*this, std::move(hurry));
}

} // namespace southwell
