// The default method and its movers.
#include "bindings/blocks.hpp"
#include "bindings/coordinate_descent.hpp"
#include "core/algorithms/block_descent.hpp"
#include "core/algorithms/prices.hpp"
#include "core/algorithms/proximal_newton.hpp"
#include "core/algorithms/relay.hpp"
#include "core/algorithms/restated.hpp"
#include "core/newton/blocks.hpp"
#include "core/newton/numbers.hpp"
#include <nanobind/stl/unique_ptr.h>
#include <string>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

Policy policy_with(const nb::dict& others) {
  Policy policy;
  if (others.size() == 0) return policy; // as a rule; comparing all names would be a tenth of a small solve
  std::size_t used = 0;
  policy.visit([&](const char* name, Real& number, const char*) {
    if (!others.contains(name)) return;
    number = nb::cast<Real>(others[name]);
    ++used;
  });
  if (used != others.size()) throw std::invalid_argument("an unknown number of the policy");
  return policy;
}

namespace {

// Dual coordinate descent as a mover: the rows, and how firmly coefficients and the intercept are held.
struct DualMover {
  nb::object rows;
  Real firmness, intercept_firmness;
};

const RuleSpec shuffled{.name = "shuffled"};

std::unique_ptr<Algorithm> newton(const BoundProblem& bound, const Policy& policy,
                                  Screening<Problem>& screening, CVec x, CVec y, Real softness) {
  return std::make_unique<ProximalNewton<Problem, Numbers>>(bound.core, policy, screening,
                                                            within_bounds(bound.core, x), y, softness);
}
std::unique_ptr<Algorithm> newton(const BoundBlockProblem& bound, const Policy& policy,
                                  Screening<BlockProblem>& screening, CVec x, CVec y, Real softness) {
  return std::make_unique<ProximalNewton<BlockProblem, Blocks>>(
      bound.core, policy, screening, std::vector<Real>(x.begin(), x.end()), y, softness);
}
std::unique_ptr<Algorithm> by_rows(const BoundProblem& bound, const Policy& policy, const DualMover& mover,
                                   CVec x, CVec y, std::uint64_t seed, Screening<Problem>& screening) {
  DescentSpec spec{bound.core,     for_steps(bound.step_loss()), shuffled, seed, true, y, x,
                   mover.firmness, mover.intercept_firmness};
  spec.focused = true;
  spec.rough.settled = policy.dual_settled;
  spec.rough.one_in = std::max<Index>(Index(Real(bound.core.dual_size()) / policy.estimated_by), 1);
  spec.row_norms = screening.row_norms();
  return std::visit([&](const auto& design) { return dual_descent(design, spec); },
                    std::get<Stores<Axis::rows>>(nb::inst_ptr<BoundLayout>(mover.rows)->layout));
}
std::unique_ptr<Algorithm> by_rows(const BoundBlockProblem& bound, const Policy&, const DualMover& mover,
                                   CVec, CVec y, std::uint64_t seed, Screening<BlockProblem>&) {
  return std::make_unique<BlockAscent>(
      bound.core, stored_fibers<Axis::rows>(nb::inst_ptr<BoundLayout>(mover.rows)->layout),
      make_rule(shuffled, bound.core.design.rows(), seed), y, bound.core.penalty.least_l2());
}

// `dual()` makes what the dual mover needs, if and when it is its turn.
template <class Bound>
BoundAlgorithm relay_on(nb::object problem, nb::list names, nb::object dual, Array<Real> x, Array<Real> y,
                        Real softness, std::uint64_t seed, bool timed, const nb::dict& others) {
  const auto& bound = nb::cast<const Bound&>(problem);
  using P = std::remove_cvref_t<decltype(bound.core)>;
  sized(x, bound.core.primal_size());
  sized(y, bound.core.dual_size());
  const Policy policy = policy_with(others);
  BoundAlgorithm result{problem, nb::make_tuple(dual, nb::list()), nullptr};
  const auto primal = [&bound, policy, softness](CVec x, CVec y, Screening<P>& screening) {
    return newton(bound, policy, screening, x, y, softness);
  };
  const auto rows = [&bound, policy, seed, parts = result.parts.ptr(),
                     failure = result.failure](CVec x, CVec y, Screening<P>& screening) {
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
    return by_rows(bound, policy, *made, x, y, seed, screening);
  };
  std::vector<typename Relay<P>::Mover> movers;
  for (const nb::handle given : names) {
    const std::string name = nb::str(given).c_str();
    if (name == "primal") {
      movers.push_back({.name = "primal",
                        .make = primal,
                        .price = 1,
                        .expected = newton_passes(bound.core, policy),
                        .by_square = 0,
                        .sparse = true,
                        .uncertain = false,
                        .divided = policy.divided_newton});
    } else if (name == "dual" && !dual.is_none()) {
      const DualPrice price = dual_price(bound.core, policy);
      movers.push_back({.name = "dual",
                        .make = rows,
                        .price = price.entry,
                        .expected = policy.sdca * price.entry,
                        .by_square = price.by_square,
                        .sparse = false,
                        .uncertain = true,
                        .divided = dual_divided(bound.core, policy)});
    } else {
      throw std::invalid_argument("an unknown mover");
    }
  }
  const Unlocked unlocked;
  result.algorithm =
      std::make_unique<Relay<P>>(bound.core, policy, std::move(movers), timed, view(x), view(y));
  return result;
}
BoundAlgorithm relay(nb::object problem, nb::list names, nb::object dual, Array<Real> x, Array<Real> y,
                     Real softness, std::uint64_t seed, bool timed, const nb::dict& policy) {
  const auto make =
      nb::isinstance<BoundProblem>(problem) ? &relay_on<BoundProblem> : &relay_on<BoundBlockProblem>;
  return make(problem, names, dual, x, y, softness, seed, timed, policy);
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
        "seed"_a, "timed"_a, "policy"_a = nb::dict());
  m.def(
      "policy",
      [] {
        nb::dict all;
        Policy policy;
        policy.visit([&](const char* name, Real number, const char* reason) {
          all[name] = nb::make_tuple(number, reason);
        });
        return all;
      },
      "Every number that the default method decides by, and why: (number, reason) by name.");
  m.def("restated", &restated, "problem"_a, "inner"_a);
}

} // namespace southwell
