// The methods of the saddle problem and their baselines: SPDC and its relatives, DSPDC, DGPD, FISTA, and
// those written in Python.
#include "bindings/bound.hpp"
#include "core/algorithms/active_sets.hpp"
#include "core/algorithms/doubly_greedy.hpp"
#include "core/algorithms/dspdc.hpp"
#include "core/algorithms/fista.hpp"
#include "core/algorithms/incremental.hpp"
#include "core/algorithms/soft_fista.hpp"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

const AnyLayout& layout_of(nb::handle layout) { return nb::cast<const BoundLayout&>(layout).layout; }

BoundAlgorithm incremental(nb::object problem, const IncrementalSpec& spec, Array<Real> x, Array<Real> y,
                           std::uint64_t seed, nb::object rows) {
  const auto& bound = nb::cast<const BoundProblem&>(problem);
  const Index n = bound.core.design.rows();
  sized(x, bound.core.design.cols());
  sized(y, n);
  const AnyLayout& layout = rows_of(bound, rows);
  const bool plain_spdc = spec.kind == IncrementalKind::spdc && spec.probabilities.empty();
  if (spec.batch < 1 || spec.batch > n || spec.threads < 1 || (spec.batch > 1 && !plain_spdc))
    throw std::invalid_argument("a batch of the wrong size");
  BoundAlgorithm result{.problem_object = problem, .parts = rows};
  const Unlocked unlocked;
  const bool plain = bound.penalty.plain() && !bound.core.has_intercept();
  result.algorithm = std::visit(
      [&]<class D>(const D& design) -> std::unique_ptr<Algorithm> {
        if (plain)
          return std::make_unique<Incremental<D, true>>(bound.core, design, spec, view(x), view(y), seed);
        return std::make_unique<Incremental<D, false>>(bound.core, design, spec, view(x), view(y), seed);
      },
      std::get<Stores<Axis::rows>>(layout));
  return result;
}

// `first` and `second` are the rows and None (slopes are kept), None and the columns (margins are kept), or
// the rows of U and the columns of V.
BoundAlgorithm dspdc(nb::object problem, const DspdcSpec& spec, nb::object first, nb::object second,
                     Array<Real> x, Array<Real> y, std::uint64_t seed) {
  const auto& bound = nb::cast<const BoundProblem&>(problem);
  const Index n = bound.core.design.rows(), d = bound.core.design.cols();
  sized(x, d);
  sized(y, n);
  if (spec.rows < 1 || spec.rows > n || spec.columns < 1 || spec.columns > d)
    throw std::invalid_argument("blocks of the wrong size");
  if (!spec.probabilities.empty() && (spec.rows != 1 || Index(spec.probabilities.size()) != n))
    throw std::invalid_argument("probabilities for a block of rows, or too few");
  const CVec weights = bound.core.loss.weights();
  const Real stretch = Real(n) / Real(spec.rows);
  std::unique_ptr<Bilinear> bilinear;
  if (second.is_none()) {
    bilinear = std::make_unique<KeptProduct>(stored_fibers<Axis::rows>(layout_of(first)), true, weights,
                                             spec.theta, stretch);
  } else if (first.is_none()) {
    bilinear = std::make_unique<KeptProduct>(stored_fibers<Axis::columns>(layout_of(second)), false, weights,
                                             spec.theta, stretch);
  } else {
    bilinear = std::make_unique<KeptBetween>(whole_fibers<Axis::rows>(layout_of(first)),
                                             whole_fibers<Axis::columns>(layout_of(second)), weights,
                                             spec.theta, stretch);
  }
  BoundAlgorithm result{.problem_object = problem, .parts = nb::make_tuple(first, second)};
  const Unlocked unlocked;
  result.algorithm = std::make_unique<Dspdc<ScalarMoves>>(ScalarMoves(bound.core, spec), std::move(bilinear),
                                                          spec, view(x), view(y), seed);
  return result;
}

// Makes an algorithm that reads the data along rows and along columns.
template <class A, class Spec, class... Rest>
BoundAlgorithm both_ways(nb::object problem, const Spec& spec, nb::object rows, nb::object columns,
                         Array<Real> x, Array<Real> y, Rest... rest) {
  const auto& bound = nb::cast<const BoundProblem&>(problem);
  sized(x, bound.core.design.cols());
  sized(y, bound.core.design.rows());
  BoundAlgorithm result{.problem_object = problem, .parts = nb::make_tuple(rows, columns)};
  auto along_rows = whole_fibers<Axis::rows>(layout_of(rows));
  auto along_columns = whole_fibers<Axis::columns>(layout_of(columns));
  const Unlocked unlocked;
  result.algorithm = std::make_unique<A>(bound.core, std::move(along_rows), std::move(along_columns), spec,
                                         view(x), view(y), rest...);
  return result;
}

BoundAlgorithm fista(nb::object problem, Array<Real> x, Real lipschitz, bool momentum, bool restarts,
                     Real constant) {
  const auto& bound = nb::cast<const BoundProblem&>(problem);
  const FistaSpec spec{
      .lipschitz = lipschitz, .momentum = momentum, .restarts = restarts, .constant = constant};
  return {problem, nb::none(), std::make_unique<Fista>(bound.core, sized(x, bound.core.design.cols()), spec)};
}

BoundAlgorithm soft_fista(nb::object problem, Array<Real> x, Array<Real> y, Real lipschitz, Real softness,
                          const nb::dict& policy) {
  const Problem& core = nb::cast<const BoundProblem&>(problem).core;
  return {problem, nb::none(),
          std::make_unique<SoftFista>(core, sized(x, core.design.cols()), sized(y, core.design.rows()),
                                      lipschitz, softness, policy_with(policy))};
}

// An algorithm written in Python: `advance()` performs an epoch and returns the current x and the number of
// products with A or A' that it took.
class PythonAlgorithm final : public Algorithm {
public:
  PythonAlgorithm(const Problem& problem, nb::object self, CVec x, Failure failure)
      : problem_(problem), self_(std::move(self)), x_(x.begin(), x.end()), failure_(std::move(failure)) {}
  ~PythonAlgorithm() override {
    locked([&] { self_.reset(); });
  }
  void epoch(Pulse& pulse) override { pulse.beat(problem_.design.stored() * advance()); }
  void locate(Point& point) override {
    point.x = x_;
    complete_from_primal(problem_, point);
  }
  void resync(const Point&) override {}
  std::vector<Index> draw(Index) override { return {}; }
  std::vector<Index> lead(Index moves) override {
    for (; moves > 0; --moves) advance();
    return {};
  }

private:
  Index advance() {
    return locked([&] {
      try {
        const auto [x, products] = nb::cast<std::pair<Array<Real>, Index>>(self_.attr("advance")());
        const CVec found = sized(x, Index(x_.size()));
        x_.assign(found.begin(), found.end());
        return products;
      } catch (nb::python_error& raised) {
        *failure_ = nb::borrow(raised.value());
        throw Abandoned();
      }
    });
  }

  const Problem& problem_;
  nb::object self_;
  std::vector<Real> x_;
  Failure failure_;
};

BoundAlgorithm in_python(nb::object problem, nb::object self, Array<Real> x) {
  BoundAlgorithm result{.problem_object = problem};
  const Problem& core = nb::cast<const BoundProblem&>(problem).core;
  result.algorithm =
      std::make_unique<PythonAlgorithm>(core, self, sized(x, core.design.cols()), result.failure);
  return result;
}

// The loss over all samples at x, and its gradient.
nb::tuple loss_and_slopes(nb::object problem, Array<Real> x) {
  const Problem& core = nb::cast<const BoundProblem&>(problem).core;
  const CVec at = sized(x, core.design.cols());
  Real value = 0;
  Output slopes = filled(core.design.cols(), [&](Vec out) {
    const Unlocked unlocked;
    std::vector<Real> margins(core.design.rows()), y(margins.size());
    core.design.apply(at, margins);
    value = core.loss.value(margins);
    core.loss.derivative(margins, y);
    core.slopes(y, out);
  });
  return nb::make_tuple(value, slopes);
}

} // namespace

void def_saddle(nb::module_& m) {
  nb::class_<IncrementalSpec>(m, "Incremental", "The parameters of SPDC, SAGA, SAG, SVRG or SGD.")
      .def(
          "__init__",
          [](IncrementalSpec* self, const char* kind, Real tau, Real sigma, Real theta,
             std::optional<Array<Real>> probabilities, Index batch, Index threads, Index snapshot_every,
             Real decay, Real power, Real dx, Real dy, Index recentre_every) {
            new (self)
                IncrementalSpec{.kind = named<IncrementalKind>(kind),
                                .tau = tau,
                                .sigma = sigma,
                                .theta = theta,
                                .probabilities = probabilities ? copied(*probabilities) : std::vector<Real>(),
                                .batch = batch,
                                .threads = threads,
                                .snapshot_every = snapshot_every,
                                .decay = decay,
                                .power = power,
                                .dx = dx,
                                .dy = dy,
                                .recentre_every = recentre_every};
          },
          "kind"_a, nb::kw_only(), "tau"_a, "sigma"_a = 1.0, "theta"_a = 0.0, "probabilities"_a = nb::none(),
          "batch"_a = 1, "threads"_a = 1, "snapshot_every"_a = 1, "decay"_a = 0.0, "power"_a = 0.0,
          "dx"_a = 0.0, "dy"_a = 0.0, "recentre_every"_a = 0);
  nb::class_<DspdcSpec>(m, "Dspdc", "The step sizes and block sizes of DSPDC.")
      .def(
          "__init__",
          [](DspdcSpec* self, Real tau, Real sigma, Real theta, Index rows, Index columns,
             std::optional<Array<Real>> probabilities, Real dx, Real dy, Index recentre_every) {
            new (self)
                DspdcSpec{.tau = tau,
                          .sigma = sigma,
                          .theta = theta,
                          .rows = rows,
                          .columns = columns,
                          .probabilities = probabilities ? copied(*probabilities) : std::vector<Real>(),
                          .dx = dx,
                          .dy = dy,
                          .recentre_every = recentre_every};
          },
          nb::kw_only(), "tau"_a, "sigma"_a, "theta"_a, "rows"_a, "columns"_a, "probabilities"_a = nb::none(),
          "dx"_a = 0.0, "dy"_a = 0.0, "recentre_every"_a = 0);
  nb::class_<GreedySpec>(m, "Greedy", "The parameters of DGPD, algorithm 1: batch sizes and step sizes.")
      .def(
          "__init__",
          [](GreedySpec* self, Index columns, Index rows, Real unit, Real weight, bool adapt, Real dx,
             Real dy, Index recentre_every) {
            new (self) GreedySpec{.columns = columns,
                                  .rows = rows,
                                  .unit = unit,
                                  .weight = weight,
                                  .adapt = adapt,
                                  .dx = dx,
                                  .dy = dy,
                                  .recentre_every = recentre_every};
          },
          nb::kw_only(), "columns"_a, "rows"_a, "unit"_a, "weight"_a = 0.0, "adapt"_a = true, "dx"_a = 0.0,
          "dy"_a = 0.0, "recentre_every"_a = 0);
  nb::class_<ActiveSpec>(m, "Active", "The parameters of DGPD, algorithm 2: active sets and passes.")
      .def(
          "__init__",
          [](ActiveSpec* self, Index enter, bool doubling, Index passes, bool together, Real weight,
             bool adapt, Real dx, Real dy, Index recentre_every) {
            new (self) ActiveSpec{.enter = enter,
                                  .doubling = doubling,
                                  .passes = passes,
                                  .together = together,
                                  .weight = weight,
                                  .adapt = adapt,
                                  .dx = dx,
                                  .dy = dy,
                                  .recentre_every = recentre_every};
          },
          nb::kw_only(), "enter"_a, "doubling"_a, "passes"_a, "together"_a, "weight"_a = 0.0,
          "adapt"_a = true, "dx"_a = 0.0, "dy"_a = 0.0, "recentre_every"_a = 0);
  m.def("doubly_greedy", &both_ways<DoublyGreedy, GreedySpec>, "problem"_a, "spec"_a, "rows"_a, "columns"_a,
        "x"_a, "y"_a);
  m.def("active_sets", &both_ways<ActiveSets, ActiveSpec, std::uint64_t>, "problem"_a, "spec"_a, "rows"_a,
        "columns"_a, "x"_a, "y"_a, "seed"_a);
  m.def("fista", &fista, "problem"_a, "x"_a, "lipschitz"_a, "momentum"_a = true, "restarts"_a = true,
        "constant"_a = 0.0);
  m.def("soft_fista", &soft_fista, "problem"_a, "x"_a, "y"_a, "lipschitz"_a, "softness"_a,
        "policy"_a = nb::dict());
  m.def("in_python", &in_python, "problem"_a, "algorithm"_a, "x"_a);
  m.def("loss_and_slopes", &loss_and_slopes, "problem"_a, "x"_a);
  m.def("incremental", &incremental, "problem"_a, "spec"_a, "x"_a, "y"_a, "seed"_a,
        "rows"_a.none() = nb::none());
  m.def("dspdc", &dspdc, "problem"_a, "spec"_a, "first"_a.none(), "second"_a.none(), "x"_a, "y"_a, "seed"_a);
}

} // namespace southwell
