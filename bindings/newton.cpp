// The default method and its movers.
#include "bindings/bound.hpp"
#include "bindings/coordinate_descent.hpp"
#include "core/algorithms/proximal_newton.hpp"
#include "core/algorithms/relay.hpp"
#include "core/algorithms/restated.hpp"
#include <nanobind/stl/unique_ptr.h>
#include <string>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

// SDCA as a mover: the rows, and how firmly coefficients and the intercept are held on the dual side.
struct DualMover {
  nb::object rows;
  Real firmness, intercept_firmness;
};

// Movers by name, the first to begin. `dual()` makes what the dual mover needs, if and when it is its turn;
// `by_square` is what that is expected to cost for each unit of mean_i ||a_i||^2 (see Relay).
BoundAlgorithm relay(nb::object problem, nb::list names, nb::object dual, Array<Real> x, Array<Real> y,
                     Real softness, Real expected, Real by_square, std::uint64_t seed, bool timed) {
  const auto& bound = nb::cast<const BoundProblem&>(problem);
  sized(x, bound.core.design.cols());
  sized(y, bound.core.design.rows());
  BoundAlgorithm result{problem, nb::make_tuple(dual, nb::list()), nullptr};
  const auto primal = [&bound, softness](CVec x, CVec y, Screening& screening) -> std::unique_ptr<Algorithm> {
    return std::make_unique<ProximalNewton>(bound.core, screening, x, y, NewtonSpec{softness});
  };
  const auto by_rows = [&bound, seed, parts = result.parts.ptr(),
                        failure = result.failure](CVec x, CVec y, Screening&) -> std::unique_ptr<Algorithm> {
    const DualMover* made = locked([&] {
      try {
        nb::object mover = nb::handle(parts)[0]();
        nb::cast<nb::list>(nb::handle(parts)[1])
            .append(mover); // keeps the rows as long as the algorithm lives
        return &nb::cast<const DualMover&>(mover);
      } catch (nb::python_error& raised) {
        *failure = nb::borrow(raised.value());
        throw Abandoned();
      }
    });
    const RuleSpec rule{"shuffled", Score::none, 0, 0, {}, 1, 0, {}};
    DescentSpec spec{bound.core,     for_steps(bound.any_loss), rule, seed, true, y, x,
                     made->firmness, made->intercept_firmness};
    spec.focused = true;
    return std::visit([&](const auto& design) { return dual_descent(design, spec); },
                      std::get<Stores<Axis::rows>>(nb::inst_ptr<BoundLayout>(made->rows)->layout));
  };
  // x is read and written all over, which is dear unless it fits into a core's own cache; and each row costs
  // something itself: a step is solved for in one variable, with logarithms where the loss is not in pieces.
  const Design& design = bound.core.design;
  const Real entry = design.cols() <= 1 << 16 ? 1.5 : 3, row = bound.core.loss.piecewise() ? 100 : 250,
             price = entry + row * Real(design.rows()) / Real(std::max<Index>(design.stored(), 1));
  std::vector<Relay::Mover> movers;
  for (const nb::handle given : names) {
    const std::string name = nb::str(given).c_str();
    if (name != "primal" && (name != "dual" || dual.is_none()))
      throw std::invalid_argument("an unknown mover");
    if (name == "primal") movers.push_back({"primal", primal, 1, expected, 0, true});
    if (name == "dual") movers.push_back({"dual", by_rows, price, 20 * price, by_square * price / 3, false});
  }
  try {
    const Unlocked unlocked;
    result.algorithm = std::make_unique<Relay>(bound.core, std::move(movers), timed, view(x), view(y));
  } catch (const Abandoned&) { raise_failure(result); }
  return result;
}

// The algorithm of `inner`, certified on another form of its problem.
BoundAlgorithm restated(nb::object problem, nb::object inner) {
  auto& own = nb::cast<BoundAlgorithm&>(inner);
  const Problem& core = nb::cast<const BoundProblem&>(problem).core;
  const Question& formed = own.question();
  if (formed.primal_size() != core.primal_size() || formed.dual_size() != core.dual_size())
    throw std::invalid_argument("another problem");
  return {problem, inner, std::make_unique<Restated>(core, *own.algorithm), own.failure};
}

} // namespace

void def_newton(nb::module_& m) {
  nb::class_<DualMover>(m, "DualMover", "What the dual mover of the default method moves on.")
      .def(nb::init<nb::object, Real, Real>(), "rows"_a, "firmness"_a, "intercept_firmness"_a);
  m.def("relay", &relay, "problem"_a, "movers"_a, "dual"_a.none(), "x"_a, "y"_a, nb::kw_only(), "softness"_a,
        "expected"_a, "by_square"_a, "seed"_a, "timed"_a);
  m.def("restated", &restated, "problem"_a, "inner"_a);
}

} // namespace southwell
