// The default method and its movers.
#include "bindings/bound.hpp"
#include "bindings/coordinate_descent.hpp"
#include "core/algorithms/proximal_newton.hpp"
#include "core/algorithms/relay.hpp"
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

// SDCA as a mover: how firmly coefficients and the intercept are held on the dual side.
struct DualOptions {
  std::uint64_t seed;
  Real firmness, intercept_firmness;
  Real expected; // see Relay
};

// Movers by name, the first to begin; `rows` is the layout of the dual mover, if it is one of them.
BoundAlgorithm relay(nb::object problem, const std::vector<std::string>& names, nb::object rows,
                     Array<Real> x, Array<Real> y, Real softness, Real expected, const DualOptions& options,
                     bool timed) {
  const auto& bound = nb::cast<const BoundProblem&>(problem);
  sized(x, bound.core.design.cols());
  sized(y, bound.core.design.rows());
  const auto primal = [&bound, softness](CVec x, CVec y) -> std::unique_ptr<Algorithm> {
    return std::make_unique<ProximalNewton>(bound.core, x, y, NewtonSpec{softness});
  };
  const auto dual = [&bound, options, rows = rows.ptr()](CVec x, CVec y) -> std::unique_ptr<Algorithm> {
    const RuleSpec rule{"shuffled", Score::none, 0, 0, {}, 1, 0, {}};
    const DescentSpec spec{bound.core,
                           bound.any_loss,
                           rule,
                           options.seed,
                           true,
                           y,
                           x,
                           options.firmness,
                           options.intercept_firmness};
    const auto& layout = *nb::inst_ptr<BoundLayout>(nb::handle(rows));
    return std::visit([&](const auto& design) { return dual_descent(design, spec); },
                      std::get<Stores<Axis::rows>>(layout.layout));
  };
  std::vector<Relay::Mover> movers; // an entry of a row costs more: x is read and written all over
  for (const std::string& name : names) {
    if (name != "primal" && (name != "dual" || rows.is_none()))
      throw std::invalid_argument("an unknown mover");
    if (name == "primal") movers.push_back({"primal", primal, 1, expected, true});
    if (name == "dual") movers.push_back({"dual", dual, 3, options.expected, false});
  }
  BoundAlgorithm result{problem, rows, nullptr};
  nb::gil_scoped_release release;
  result.algorithm = std::make_unique<Relay>(bound.core, std::move(movers), timed, view(x), view(y));
  return result;
}

} // namespace

void def_newton(nb::module_& m) {
  nb::class_<DualOptions>(m, "DualMover", "How the dual mover of the default method moves.")
      .def(nb::init<std::uint64_t, Real, Real, Real>(), nb::kw_only(), "seed"_a, "firmness"_a = 0.0,
           "intercept_firmness"_a = 0.0, "expected"_a = 0.0);
  m.def("relay", &relay, "problem"_a, "movers"_a, "rows"_a.none(), "x"_a, "y"_a, "softness"_a, "expected"_a,
        "dual"_a, "timed"_a);
}

} // namespace southwell
