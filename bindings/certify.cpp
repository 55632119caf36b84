// Certificates of given points, with and without bounds on the rounding errors.
#include "bindings/bound.hpp"
#include "core/free_columns.hpp"
#include "core/rigorous.hpp"
#include <nanobind/stl/optional.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

using Given = std::optional<Array<Real>>;

// Fills the dual half of the point: the given y, clipped to dom phi*; or, if none is given, phi' at the
// margins, balanced (summing to zero) if there is an intercept.
void dual_half(const Problem& problem, const Given& y, Point& point) {
  if (!y) return balanced_derivative(problem, point.margins, point.y);
  point.y = within_domain(problem, sized(*y, problem.dual_size()));
}
void dual_half(const BlockProblem& problem, const Given& y, Point& point) {
  if (!y) return problem.loss.derivative(point.margins, point.y);
  const CVec given = sized(*y, problem.dual_size());
  point.y.assign(given.begin(), given.end());
  problem.loss.into_domain(point.y);
}

template <class P> Point point_of(const P& problem, CVec x, const Given& y) {
  Point point(problem);
  point.x.assign(x.begin(), x.end());
  problem.design.apply(point.x, problem.width(), point.margins);
  dual_half(problem, y, point);
  problem.slopes(point.y, point.slopes);
  return point;
}

// `work(problem)` with a problem over numbers or over blocks.
template <class Work> nb::tuple with_problem(nb::handle problem, Work&& work) {
  const Question& question = nb::cast<const BoundQuestion&>(problem).question();
  if (const auto* scalar = dynamic_cast<const Problem*>(&question)) return work(*scalar);
  if (const auto* wide = dynamic_cast<const BlockProblem*>(&question)) return work(*wide);
  throw nb::type_error("a problem over numbers or blocks is needed");
}

nb::tuple certify(nb::object problem, Array<Real> x, Given y) {
  return with_problem(problem, [&](const auto& core) {
    const CVec at = sized(x, core.primal_size());
    Certificate proof;
    {
      const Unlocked unlocked;
      proof = Certifier(core)(point_of(core, at, y));
    }
    return nb::make_tuple(proof.primal, proof.dual, proof.gap());
  });
}

// `feasible` says that y is feasible up to rounding; if not, the plain certificate makes it feasible first.
nb::tuple prove(nb::object problem, Array<Real> x, Given y, bool feasible, Real slack) {
  return with_problem(problem, [&]<class P>(const P& core) {
    const CVec at = sized(x, core.primal_size());
    std::vector<Real> point;
    Real primal, dual;
    if (feasible && y) {
      const CVec given = sized(*y, core.dual_size());
      point.assign(given.begin(), given.end());
    }
    {
      const Unlocked unlocked;
      if (point.empty()) {
        Certifier certifier(core);
        certifier(point_of(core, at, y));
        point = certifier.release().second;
      }
      const Rigorous<P> rigorous(core);
      primal = rigorous.primal(at, slack);
      dual = rigorous.dual(point);
    }
    return nb::make_tuple(primal, dual, to_numpy(point));
  });
}

} // namespace

void def_certify(nb::module_& m) {
  m.attr("FACTORED_COLUMNS") = FreeColumns::most;
  m.def("certify", &certify, "problem"_a, "x"_a, "y"_a.none(), "P(x), D at y made feasible, and the gap.");
  m.def("prove", &prove, "problem"_a, "x"_a, "y"_a.none(), "feasible"_a, "slack"_a,
        "An upper bound of P(x), a lower bound of D, and the dual point of the latter; intercepts may be off "
        "by `slack`.");
}

} // namespace southwell
