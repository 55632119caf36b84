// Problems over numbers whose samples are in parts. Parts in memory show that the method needs sums alone.
#include "bindings/bound.hpp"
#include "core/algorithms/newton_in_parts.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

Mapped mapped_of(const nb::list& arrays) {
  Mapped all;
  for (const nb::handle array : arrays) {
    const auto bytes =
        nb::cast<nb::ndarray<const std::uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>>(array);
    all.add(bytes.data(), bytes.size());
  }
  return all;
}

struct BoundProblemInParts final : BoundQuestion {
  nb::list parts, files; // keeps them alive
  ProblemInParts core;

  // `mapped`: for each part the arrays of its data in files, or nothing at all.
  BoundProblemInParts(nb::list given, nb::list mapped)
      : parts(given), files(mapped), core(problems(given), regions(given, mapped)) {}
  const Question& question() const override { return core; }
  bool same_data(const BoundQuestion& other) const override {
    const auto* own = dynamic_cast<const BoundProblemInParts*>(&other);
    if (!own || own->parts.size() != parts.size()) return false;
    for (std::size_t k = 0; k < parts.size(); ++k)
      if (!nb::cast<const BoundProblem&>(parts[k]).same_data(nb::cast<const BoundProblem&>(own->parts[k])))
        return false;
    return true;
  }

private:
  static bool same_loss(const AnyLoss& one, const AnyLoss& other) {
    if (one.index() != other.index()) return false;
    return std::visit(
        [&]<class L>(const L& loss) {
          if constexpr (requires { L::parameter; }) {
            const auto field = L::parameter.field;
            return loss.*field == std::get<L>(other).*field;
          }
          return true;
        },
        one);
  }
  static std::vector<Mapped> regions(const nb::list& given, const nb::list& mapped) {
    if (mapped.size() != 0 && mapped.size() != given.size())
      throw std::invalid_argument("files for some parts only");
    std::vector<Mapped> all;
    for (const nb::handle arrays : mapped) all.push_back(mapped_of(nb::cast<nb::list>(arrays)));
    return all;
  }
  static std::vector<const Problem*> problems(const nb::list& given) {
    std::vector<const Problem*> all;
    const BoundProblem* first = nullptr;
    for (const nb::handle part : given) {
      const auto& own = nb::cast<const BoundProblem&>(part);
      first = first ? first : &own;
      if (!same_loss(own.step_loss(), first->step_loss()))
        throw std::invalid_argument("all parts must have the same loss");
      all.push_back(&own.core);
    }
    return all;
  }
};

BoundAlgorithm newton(nb::object problem, Array<Real> x, Real softness, const nb::dict& others) {
  const ProblemInParts& core = nb::cast<const BoundProblemInParts&>(problem).core;
  sized(x, core.primal_size());
  const Policy policy = policy_with(others);
  BoundAlgorithm result{problem};
  const Unlocked unlocked;
  result.algorithm = std::make_unique<NewtonInParts>(
      core, policy, std::vector<Real>(x.data(), x.data() + x.shape(0)), softness);
  return result;
}

// P(x), D and the gap, with the best intercept in the place of the last number of x.
nb::tuple certify(const BoundProblemInParts& bound, Array<Real> x) {
  const CVec given = sized(x, bound.core.primal_size());
  Point point(bound.core);
  point.x.assign(given.begin(), given.end());
  Certificate proof;
  {
    const Unlocked unlocked;
    SamplesInParts samples = bound.core.in_memory(Policy());
    samples.place_all(point.x);
    samples.slopes(point.slopes);
    samples.tell(point);
    proof = Certifier(bound.core)(point);
  }
  return nb::make_tuple(proof.primal, proof.dual, proof.gap(), to_numpy(point.x));
}

// What the samples answer at x: to a driver, to a model whose working set has these features, along v, and to
// a certificate at these scales of y. The least curvature of a sample is raised so many times.
nb::dict answers(const BoundProblemInParts& bound, Array<Real> x, Array<Index> features, Array<Real> v,
                 Array<Real> scales, int raised) {
  const ProblemInParts& core = bound.core;
  const CVec given = sized(x, core.primal_size()), along = sized(v, Index(features.shape(0)));
  const Policy policy;
  Floor floor(policy, false);
  for (int k = 0; k < raised; ++k) floor.gone(0);
  FeatureNames names(core.design, policy);
  names.join({features.data(), features.shape(0)});
  SamplesInParts samples = core.in_memory(policy, 1, &names);
  std::vector<Real> at(given.begin(), given.end()), slopes(at.size());
  samples.place_all(at);
  samples.slopes(slopes);
  const Samples::Sums sums = samples.sums();
  const std::vector<Real> conjugates = samples.conjugates(view(scales));
  const Slope tilt = samples.along_intercept(0);
  const Real value = samples.value();
  samples.expand(floor);
  const std::size_t size = along.size();
  std::vector<Design::Moments> moments(size);
  samples.moments(moments);
  std::vector<Real> table, lines(size * (size + 1) / 2), product(size);
  for (const Design::Moments& one : moments) table.insert(table.end(), {one.slope, one.weighted, one.square});
  std::vector<std::int32_t> slots;
  for (std::size_t k = 0; k < size; ++k) slots.push_back(std::int32_t(k));
  const auto spend = [](Index) { return false; };
  samples.gram(slots, 0, lines, spend);
  samples.product(slots, along, product, spend);
  const Real slope = samples.aim(along);
  nb::dict all;
  all["x"] = to_numpy(at);
  all["value"] = value;
  all["slopes"] = to_numpy(slopes);
  all["sums"] = nb::make_tuple(sums.terms, sums.square, sums.margins);
  all["conjugates"] = to_numpy(conjugates);
  all["along_intercept"] = nb::make_tuple(tilt.first, tilt.second);
  all["moments"] = to_numpy(table);
  all["gram"] = to_numpy(lines);
  all["product"] = to_numpy(product);
  all["slope"] = slope;
  all["values"] = to_numpy(samples.values(view(scales)));
  return all;
}

} // namespace

void def_in_parts(nb::module_& m) {
  nb::class_<BoundProblemInParts, BoundQuestion>(
      m, "ProblemInParts",
      "A problem over numbers whose samples are in several parts, each a Problem over its rows.")
      .def(nb::init<nb::list, nb::list>(), "parts"_a, "mapped"_a = nb::list())
      .def("certify", &certify, "x"_a, "P, D and the gap at x, from sums, and x with the best intercept.")
      .def("answers", &answers, "x"_a, "features"_a, "along"_a, "scales"_a, "raised"_a = 0,
           "What the samples answer at x, by question.");
  m.def(
      "let_go", [](const nb::list& arrays) { mapped_of(arrays).let_go(); }, "arrays"_a,
      "Tells the system that these bytes of mapped files have been read for now.");
  m.def("newton_in_parts", &newton, "problem"_a, "x"_a, nb::kw_only(), "softness"_a = 1.0,
        "policy"_a = nb::dict(), "The primal mover of the default method, on sums over the parts.");
}

} // namespace southwell
