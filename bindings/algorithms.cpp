// Rules and algorithms as Python sees them, and the loop that drives them.
#include "bindings/bound.hpp"
#include "bindings/coordinate_descent.hpp"
#include "core/support/helpers.hpp"
#include <atomic>
#include <cctype>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

// A rule as Python states it.
struct BoundRule {
  RuleSpec spec;
  Failure failure;
};

// The search of a MaxInnerProduct rule, written in Python: `search(image, count, apart)` returns the indices
// of at most `count` coordinates.
decltype(RuleSpec::find) asking(nb::object search, Index coordinates, Failure failure) {
  return [search = std::make_shared<nb::object>(std::move(search)), coordinates,
          failure](CVec image, Index count, std::span<const Index> apart) {
    return locked([&] {
      try {
        const auto answer = nb::cast<Array<Index>>((*search)(to_numpy(image), count, to_numpy(apart)));
        bool sound = Index(answer.shape(0)) <= count;
        for (std::size_t t = 0; sound && t < answer.shape(0); ++t)
          sound = answer.data()[t] >= 0 && answer.data()[t] < coordinates;
        if (!sound) throw nb::cast_error();
        return copied(answer);
      } catch (nb::python_error& raised) { *failure = nb::borrow(raised.value()); } catch (nb::cast_error&) {
        *failure =
            nb::module_::import_("builtins")
                .attr("TypeError")("A search must return coordinates, and no more than it was asked for.");
      }
      throw Abandoned();
    });
  };
}

// The options of coordinate descent, plain or accelerated.
struct DescentOptions {
  std::string side;
  std::uint64_t seed = 0;
  bool shrinking = false, accelerated = false, restarts = true;
  Real firmness = 0, intercept_firmness = 0;
  Index room = 0;
  Real momentum = 0;
  Index recentre_every = 1;
  Real eta = 0, towards = 0;
  bool constant = false;
  Curvature curvature = Curvature::local;
  Real theta = 0;
  bool scaled = true;
};

BoundAlgorithm coordinate_descent(nb::object problem, const BoundRule& rule, const DescentOptions& options,
                                  Array<Real> start, Array<Real> anchor, std::optional<Matrix<Real>> gram,
                                  nb::object across, nb::object formed) {
  const auto& bound = nb::cast<const BoundProblem&>(problem);
  const bool primal = options.side == "primal";
  const Design& design = bound.core.design;
  const Index size = primal ? design.cols() : design.rows();
  sized(start, size);
  if (gram && (Index(gram->shape(0)) != size || Index(gram->shape(1)) != size))
    throw std::invalid_argument("a Gram matrix of the wrong size");
  const AnyLayout* other = across.is_none() ? nullptr : &nb::cast<const BoundLayout&>(across).layout;
  if (other && (as_design(*other).rows() != design.rows() || as_design(*other).cols() != design.cols()))
    throw std::invalid_argument("a layout of the wrong size");
  const DescentSpec spec{.problem = bound.core,
                         .loss = for_steps(bound.step_loss()),
                         .rule = rule.spec,
                         .seed = options.seed,
                         .shrinking = options.shrinking,
                         .start = view(start),
                         .anchor = sized(anchor, design.cols()),
                         .firmness = options.firmness,
                         .intercept_firmness = options.intercept_firmness,
                         .gram = gram ? gram->data() : nullptr,
                         .across = other,
                         .room = options.room,
                         .accelerated = options.accelerated,
                         .restarts = options.restarts,
                         .momentum = options.momentum,
                         .recentre_every = options.recentre_every,
                         .eta = options.eta,
                         .towards = options.towards,
                         .constant = options.constant,
                         .curvature = options.curvature,
                         .theta = options.theta,
                         .scaled = options.scaled};
  BoundAlgorithm result{.problem_object = problem,
                        .parts = nb::make_tuple(gram ? nb::cast(*gram) : nb::none(), across, formed),
                        .failure = rule.failure};
  const AnyLayout& layout = rows_of(bound, formed);
  const Unlocked unlocked;
  if (gram) {
    result.algorithm = primal ? primal_gram_descent(spec) : dual_gram_descent(spec);
  } else if (primal) {
    const auto& columns = std::get<Stores<Axis::columns>>(layout);
    result.algorithm = std::visit([&](const auto& design) { return primal_descent(design, spec); }, columns);
  } else {
    const auto& rows = std::get<Stores<Axis::rows>>(layout);
    result.algorithm = std::visit([&](const auto& design) { return dual_descent(design, spec); }, rows);
  }
  return result;
}

// Recomputes the products and scores of an algorithm at its current point, as a certificate does.
void settle(BoundAlgorithm& bound) {
  Point point(bound.question());
  bound.algorithm->locate(point);
  bound.algorithm->resync(point);
  bound.settled = true;
}

// Runs `work(algorithm)` after `settle`; raises the Python exception that ended it, if there was one.
template <class Work> auto study(BoundAlgorithm& bound, Index count, Work&& work) {
  if (count < 0) throw nb::value_error("the number of coordinates or moves must be >= 0");
  if (!bound.settled) settle(bound);
  try {
    return work(*bound.algorithm);
  } catch (const Abandoned&) { raise_failure(bound); }
}

nb::object to_tuple(const Record& r) {
  nb::list row;
#define SOUTHWELL_FIELD(Type, name) row.append(r.name);
  SOUTHWELL_HISTORY(SOUTHWELL_FIELD)
#undef SOUTHWELL_FIELD
  return nb::tuple(row);
}

// The names of those, and whether they are whole numbers.
nb::dict history_fields() {
  nb::dict whole;
#define SOUTHWELL_FIELD(Type, name) whole[#name] = std::is_integral_v<Type>;
  SOUTHWELL_HISTORY(SOUTHWELL_FIELD)
#undef SOUTHWELL_FIELD
  return whole;
}

// A flag that any thread can raise to end solves in other threads.
struct Flag {
  std::atomic<bool> raised = false;
};

// Checks signals and calls the callback. A Python exception from either ends the solve and is returned with
// the result.
class PythonWatch final : public Watch {
public:
  PythonWatch(nb::object callback, const Flag* cancelled)
      : callback_(std::move(callback)), cancelled_(cancelled) {}
  nb::object error = nb::none();

  bool interrupted() override {
    if (cancelled_ && cancelled_->raised) return true;
    return locked([&] {
      if (PyErr_CheckSignals() == 0) return !error.is_none();
      nb::python_error raised;
      error = nb::borrow(raised.value());
      return true;
    });
  }
  bool report(const Record& record, const Certifier& at, Real scale) override {
    if (callback_.is_none()) return false;
    return locked([&] {
      try {
        return nb::cast<bool>(callback_(to_tuple(record), to_numpy(at.x()), scale));
      } catch (nb::python_error& raised) {
        error = nb::borrow(raised.value());
        return true;
      }
    });
  }

private:
  nb::object callback_;
  const Flag* cancelled_;
};

// As Python's Status spells it.
std::string spelled(Status status) {
  std::string name(name_of(status));
  for (char& letter : name) letter = char(std::toupper(static_cast<unsigned char>(letter)));
  return name;
}

// Entries, coefficients and dual values: starting and joining a thread takes longer than many passes over
// fewer.
constexpr Index worth_helpers = 20'000;

nb::bytes mask(const std::vector<char>& marks) { return nb::bytes(marks.data(), marks.size()); }

nb::dict run(BoundAlgorithm& algorithm, Real tol, Index max_epochs, Real max_seconds, Index check_every,
             int threads, int processors, nb::object callback, bool record_history, const Flag* cancelled) {
  PythonWatch watch(callback, cancelled);
  Outcome outcome;
  algorithm.settled = true; // the loop begins with a certificate
  {
    const Unlocked unlocked;
    const Question& question = algorithm.question();
    const Index size = question.stored() + question.primal_size() + question.dual_size();
    const AtWork helpers(size < worth_helpers ? 1 : threads, processors);
    outcome =
        drive(question, *algorithm.algorithm,
              {.tol = tol, .max_epochs = max_epochs, .max_seconds = max_seconds, .check_every = check_every},
              watch, record_history);
  }
  if (!algorithm.failure->is_none()) watch.error = std::exchange(*algorithm.failure, nb::none());
  nb::dict result;
  nb::list history;
  for (const Record& record : outcome.history) history.append(to_tuple(record));
  result["status"] = spelled(outcome.status);
  result["x"] = to_numpy(outcome.x);
  result["y"] = to_numpy(outcome.y);
  result["primal"] = outcome.proof.primal;
  result["dual"] = outcome.proof.dual;
  result["gap"] = outcome.proof.gap();
  result["scale"] = outcome.scale;
  result["epochs"] = outcome.epochs;
  result["seconds"] = outcome.seconds;
  result["history"] = history;
  nb::list efforts;
  for (const Effort& e : outcome.account.efforts)
    efforts.append(nb::make_tuple(e.mover, e.rounds, e.entries, e.seconds, e.fall));
  result["efforts"] = efforts;
  result["screened"] = nb::make_tuple(mask(outcome.account.features), mask(outcome.account.samples));
  result["error"] = watch.error;
  return result;
}

} // namespace

void def_algorithms(nb::module_& m) {
  m.attr("AUTOMATIC_MIX") = automatic_mix;
  nb::class_<BoundRule>(m, "Rule", "A rule that selects the next coordinate, by name and numbers.")
      .def(
          "__init__",
          [](BoundRule* self, const char* name, const char* score, Index refresh_every, Real mix,
             std::optional<Array<Index>> block_of, Index candidates, Real explore, nb::object search,
             Index coordinates, std::optional<Array<Index>> apart, bool by_reading) {
            const Failure failure = std::make_shared<nb::object>(nb::none());
            RuleSpec spec{.name = name,
                          .score = named<Score>(score),
                          .refresh_every = refresh_every,
                          .mix = mix,
                          .candidates = candidates,
                          .explore = explore,
                          .by_reading = by_reading};
            if (apart) {
              spec.always_apart.resize(coordinates);
              for (const Index k : copied(*apart)) {
                if (k < 0 || k >= coordinates) throw std::invalid_argument("no such coordinate");
                spec.always_apart[k] = 1;
              }
            }
            if (block_of) spec.block_of = copied(*block_of);
            if (!search.is_none()) spec.find = asking(search, coordinates, failure);
            new (self) BoundRule{.spec = std::move(spec), .failure = failure};
          },
          "name"_a, "score"_a = "none", "refresh_every"_a = 0, "mix"_a = 0.0, "block_of"_a = nb::none(),
          "candidates"_a = 1, "explore"_a = 0.0, "search"_a.none() = nb::none(), "coordinates"_a = 0,
          "apart"_a.none() = nb::none(), "by_reading"_a = false)
      .def(
          "draw",
          [](const BoundRule& self, Index n, std::uint64_t seed, Index count) {
            std::vector<Index> out(count);
            make_rule(self.spec, n, seed)->next(out);
            return out;
          },
          "n"_a, "seed"_a, "count"_a, "The first coordinates that the rule selects, if it needs no scores.");
  nb::class_<DescentOptions>(m, "Descent", "The options of coordinate descent.")
      .def(
          "__init__",
          [](DescentOptions* self, const char* side, std::uint64_t seed, bool shrinking, bool accelerated,
             bool restarts, Real firmness, Real intercept_firmness, Index room, Real momentum,
             Index recentre_every, Real eta, Real towards, bool constant, const char* curvature, Real theta,
             bool scaled) {
            new (self) DescentOptions{.side = side,
                                      .seed = seed,
                                      .shrinking = shrinking,
                                      .accelerated = accelerated,
                                      .restarts = restarts,
                                      .firmness = firmness,
                                      .intercept_firmness = intercept_firmness,
                                      .room = room,
                                      .momentum = momentum,
                                      .recentre_every = recentre_every,
                                      .eta = eta,
                                      .towards = towards,
                                      .constant = constant,
                                      .curvature = named<Curvature>(curvature),
                                      .theta = theta,
                                      .scaled = scaled};
          },
          nb::kw_only(), "side"_a, "seed"_a, "shrinking"_a = false, "accelerated"_a = false,
          "restarts"_a = true, "firmness"_a = 0.0, "intercept_firmness"_a = 0.0, "room"_a = 0,
          "momentum"_a = 0.0, "recentre_every"_a = 1, "eta"_a = 0.0, "towards"_a = 0.0, "constant"_a = false,
          "curvature"_a = "local", "theta"_a = 0.0, "scaled"_a = true);
  nb::class_<BoundAlgorithm>(m, "Algorithm", "An algorithm with its state on one problem.")
      .def("settle", &settle, "Recompute products and scores at the current point.")
      .def(
          "draw",
          [](BoundAlgorithm& self, Index count) {
            return study(self, count, [&](Algorithm& a) { return a.draw(count); });
          },
          "count"_a, "The coordinates that the rule would select at the current point, without moving.")
      .def(
          "lead",
          [](BoundAlgorithm& self, Index moves) {
            return study(self, moves, [&](Algorithm& a) { return a.lead(moves); });
          },
          "moves"_a, "Perform moves, and return which coordinates moved.")
      .def(
          "repenalise",
          [](BoundAlgorithm& self, nb::object problem) {
            const auto& next = nb::cast<const BoundQuestion&>(problem);
            if (!next.same_data(nb::cast<const BoundQuestion&>(self.problem_object))) return false;
            if (!self.algorithm->repenalise(next.question())) return false;
            self.parts =
                nb::make_tuple(self.parts, self.problem_object); // they may refer to the first problem
            self.problem_object = problem;
            return true;
          },
          "problem"_a, "Continue with another penalty on the same data; False if the algorithm cannot.")
      .def(
          "point",
          [](BoundAlgorithm& self) {
            Point point(self.question());
            self.algorithm->locate(point);
            return nb::make_tuple(to_numpy(point.x), to_numpy(point.y));
          },
          "The current x and y.");
  nb::class_<Flag>(m, "Flag", "Once raised, ends every solve that was given this flag.")
      .def(nb::init<>())
      .def("raise_", [](Flag& flag) { flag.raised = true; })
      .def_prop_ro("raised", [](const Flag& flag) { return bool(flag.raised); });
  m.def("coordinate_descent", &coordinate_descent, "problem"_a, "rule"_a, "options"_a, "start"_a, "anchor"_a,
        "gram"_a.none(), "across"_a.none(), "rows"_a.none() = nb::none());
  m.def("history_fields", &history_fields, "What a row of the history holds: names, and which are integers.");
  m.def(
      "statuses",
      [] {
        std::vector<std::string> all;
        for (std::size_t k = 0; k < names_of<Status>.size(); ++k) all.push_back(spelled(Status(k)));
        return all;
      },
      "How a solve can end.");
  m.def("drive", &run, "algorithm"_a, "tol"_a, "max_epochs"_a, "max_seconds"_a, "check_every"_a, "threads"_a,
        "processors"_a, "callback"_a.none(), "record_history"_a, "cancelled"_a.none() = nb::none());
}

} // namespace southwell
