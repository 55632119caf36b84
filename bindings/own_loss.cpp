#include "bindings/own_loss.hpp"
#include "bindings/bound.hpp"
#include "core/offset_samples.hpp"
#include "core/own_samples.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

CompiledLoss::Function function_at(std::uintptr_t address) {
  return reinterpret_cast<CompiledLoss::Function>(address);
}
Output asked(const BoundOwnLoss& own, OwnLoss::Asked what, Array<Real> m, Array<Real> b) {
  const CVec at = view(m), targets = sized(b, Index(m.shape(0)));
  return filled(Index(at.size()), [&](Vec out) { (*own.loss)(what, at, targets, out); });
}

// `fill(all, v, out)` for samples with these targets, each of weight 1
template <class Fill> Output over(const BoundOwnLoss& own, Array<Real> v, Array<Real> b, Fill&& fill) {
  const CVec at = view(v), targets = sized(b, Index(v.shape(0)));
  const std::vector<Real> ones(at.size(), 1);
  return filled(Index(at.size()), [&](Vec out) { fill(OwnSamples(own.loss, targets, ones), at, out); });
}

} // namespace

std::unique_ptr<SampleLoss> over_samples(const BoundOwnLoss& own, CVec targets, CVec weights, CVec offsets) {
  return with_offsets(std::make_unique<OwnSamples>(own.loss, targets, weights), offsets);
}

void def_own_loss(nb::module_& m) {
  using M = Array<Real>;
  nb::class_<BoundOwnLoss>(m, "OwnLoss", "A loss of one's own, over arrays.")
      .def_static(
          "of_python",
          [](nb::object answer, const char* name, bool curved, Real smoothness) {
            return BoundOwnLoss{std::make_shared<PythonLoss>(answer, name, curved, smoothness)};
          },
          "answer"_a, "name"_a, "curved"_a, "smoothness"_a,
          "`answer(which, m, b)` returns the values (0), derivatives (1) or second derivatives (2).")
      .def_static(
          "of_addresses",
          [](std::uintptr_t value, std::uintptr_t derivative, std::uintptr_t curvature, const char* name,
             Real smoothness) {
            return BoundOwnLoss{std::make_shared<CompiledLoss>(function_at(value), function_at(derivative),
                                                               function_at(curvature), name, smoothness)};
          },
          "value"_a, "derivative"_a, "curvature"_a, "name"_a, "smoothness"_a,
          "Addresses of void f(int64_t n, const double* m, const double* b, double* out); 0: there is none.")
      .def(
          "value", [](const BoundOwnLoss& l, M m, M b) { return asked(l, OwnLoss::Asked::value, m, b); },
          "m"_a, "b"_a)
      .def(
          "derivative",
          [](const BoundOwnLoss& l, M m, M b) { return asked(l, OwnLoss::Asked::derivative, m, b); }, "m"_a,
          "b"_a)
      .def(
          "second_derivative",
          [](const BoundOwnLoss& l, M m, M b) {
            return over(l, m, b, [](const OwnSamples& all, CVec at, Vec out) {
              std::vector<Real> y(at.size());
              all.derivative(at, y);
              all.curvature(y, out);
            });
          },
          "m"_a, "b"_a)
      .def(
          "conjugate",
          [](const BoundOwnLoss& l, M y, M b) {
            return over(l, y, b,
                        [](const OwnSamples& all, CVec at, Vec out) { all.conjugates(at, 1, 0, out); });
          },
          "y"_a, "b"_a, "From above, by rounding errors.")
      .def_prop_ro("smoothness", [](const BoundOwnLoss& l) { return l.loss->smoothness(); });
}

} // namespace southwell
