#include "bindings/parts.hpp"
#include "core/support/simd.hpp"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

struct ParameterTraits {
  std::string_view name;
  Real value; // its default
  bool zero;
  Real below;
};
struct LossTraits {
  std::string_view name, targets;
  bool smooth, quadratic, piecewise, may_overflow, log_odds;
  Real self_concordance;
  std::optional<ParameterTraits> parameter = {};
};

// A number is not finite exactly when its product with zero is not zero; a sum of such products vectorises.
template <class Value> SOUTHWELL_CLONES bool finite_block(const Value* values, Index n) {
  Value sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index k = 0; k < n; ++k) sum += values[k] * Value(0);
  return sum == Value(0);
}

template <class Function> Output mapped(const Array<Real>& first, Function&& f) {
  return filled(Index(first.shape(0)), [&](Vec out) {
    for (std::size_t k = 0; k < out.size(); ++k) out[k] = f(Index(k));
  });
}

template <class Function> Output over_pairs(const AnyLoss& loss, Array<Real> v, Array<Real> b, Function&& f) {
  sized(b, Index(v.shape(0)));
  return std::visit(
      [&](const auto& l) { return mapped(v, [&](Index k) { return f(l, v.data()[k], b.data()[k]); }); },
      loss);
}

// What the losses of a list say about themselves, in its order.
template <class List> std::vector<LossTraits> traits_of_all() {
  std::vector<LossTraits> all;
  Parts<List>::each([&]<class L>(const L& loss) {
    LossTraits& traits = all.emplace_back(LossTraits{.name = L::name,
                                                     .targets = L::targets,
                                                     .smooth = L::smooth,
                                                     .quadratic = L::quadratic,
                                                     .piecewise = L::piecewise,
                                                     .may_overflow = L::may_overflow,
                                                     .log_odds = L::log_odds,
                                                     .self_concordance = L::self_concordance});
    if constexpr (requires { L::parameter; })
      traits.parameter = ParameterTraits{.name = L::parameter.name,
                                         .value = loss.*L::parameter.field,
                                         .zero = L::parameter.zero,
                                         .below = L::parameter.below};
  });
  return all;
}

void def_loss_traits(nb::module_& m) {
  nb::class_<ParameterTraits>(m, "ParameterTraits", "The number of a part: its name, default and range.")
      .def_ro("name", &ParameterTraits::name)
      .def_ro("default", &ParameterTraits::value)
      .def_ro("zero", &ParameterTraits::zero, "May it be 0? It is never negative.")
      .def_ro("below", &ParameterTraits::below);
  nb::class_<LossTraits>(m, "LossTraits", "What a loss says about itself; see core/losses/loss.hpp.")
      .def_ro("name", &LossTraits::name)
      .def_ro("targets", &LossTraits::targets)
      .def_ro("smooth", &LossTraits::smooth)
      .def_ro("quadratic", &LossTraits::quadratic)
      .def_ro("piecewise", &LossTraits::piecewise)
      .def_ro("may_overflow", &LossTraits::may_overflow)
      .def_ro("log_odds", &LossTraits::log_odds)
      .def_ro("self_concordance", &LossTraits::self_concordance)
      .def_ro("parameter", &LossTraits::parameter);
  m.def("losses", &traits_of_all<AnyLoss>, "The losses of one margin.");
  m.def("class_losses", &traits_of_all<AnyClassLoss>, "The losses of a margin for each class.");
}

void def_losses(nb::module_& m) {
  using M = Array<Real>;
  nb::class_<AnyLoss>(m, "Loss", "One of the losses, over arrays.")
      .def(
          "__init__",
          [](AnyLoss* self, const char* name, Real parameter) {
            new (self) AnyLoss(Parts<AnyLoss>::make(name, parameter));
          },
          "name"_a, "parameter"_a = 0.0)
      .def(
          "value",
          [](const AnyLoss& self, M m, M b) {
            return over_pairs(self, m, b, [](const auto& l, Real v, Real t) { return l.value(v, t); });
          },
          "m"_a, "b"_a)
      .def(
          "derivative",
          [](const AnyLoss& self, M m, M b) {
            return over_pairs(self, m, b, [](const auto& l, Real v, Real t) { return l.derivative(v, t); });
          },
          "m"_a, "b"_a)
      .def(
          "second_derivative",
          [](const AnyLoss& self, M m, M b) {
            return over_pairs(
                self, m, b, [](const auto& l, Real v, Real t) { return l.curvature(l.derivative(v, t), t); });
          },
          "m"_a, "b"_a)
      .def(
          "conjugate",
          [](const AnyLoss& self, M y, M b) {
            return over_pairs(self, y, b, [](const auto& l, Real v, Real t) { return l.conjugate(v, t); });
          },
          "y"_a, "b"_a)
      .def(
          "value_rounding",
          [](const AnyLoss& self, M m, M b) {
            return over_pairs(self, m, b, [](const auto& l, Real v, Real t) {
              return l.value_rounding(v, t, l.value(v, t));
            });
          },
          "m"_a, "b"_a, "A bound of the rounding error of `value`.")
      .def(
          "conjugate_rounding",
          [](const AnyLoss& self, M y, M b) {
            return over_pairs(self, y, b, [](const auto& l, Real v, Real t) {
              return l.conjugate_rounding(v, t, l.conjugate(v, t));
            });
          },
          "y"_a, "b"_a, "A bound of the rounding error of `conjugate`.")
      .def(
          "maximise",
          [](const AnyLoss& self, M m, M y0, M q, M b) {
            sized(y0, Index(m.shape(0)));
            sized(q, Index(m.shape(0)));
            sized(b, Index(m.shape(0)));
            return std::visit(
                [&](const auto& l) {
                  return mapped(m, [&](Index k) {
                    return l.maximise(m.data()[k], y0.data()[k], q.data()[k], b.data()[k]);
                  });
                },
                self);
          },
          "m"_a, "y0"_a, "q"_a, "b"_a)
      .def(
          "domain",
          [](const AnyLoss& self, Real b) {
            const Interval box = std::visit([&](const auto& l) { return l.domain(b); }, self);
            return nb::make_tuple(box.lo, box.hi);
          },
          "b"_a)
      .def_prop_ro(
          "pieces",
          [](const AnyLoss& self) {
            return std::visit(
                []<class L>(const L& l) -> std::optional<std::pair<Real, Real>> {
                  if constexpr (L::piecewise)
                    return std::pair(l.kappa(), l.eps());
                  else
                    return std::nullopt;
                },
                self);
          },
          "kappa and eps of phi*(y) = b y + eps |y| + (kappa/2) y^2, or None.")
      .def_prop_ro("smoothness", [](const AnyLoss& self) {
        return std::visit([](const auto& l) { return l.smoothness(); }, self);
      });
}

void def_penalties(nb::module_& m) {
  nb::class_<ElasticNet>(m, "ElasticNet", "The elastic net over all coordinates.")
      .def(
          "__init__",
          [](ElasticNet* self, Real l1, Real l2, Array<Real> weights, Array<Real> lower, Array<Real> upper,
             Index penalised) {
            new (self) ElasticNet(l1, l2, copied(weights), copied(lower), copied(upper), penalised);
          },
          "l1"_a, "l2"_a, "weights"_a, "lower"_a, "upper"_a, "penalised"_a)
      .def(
          "value",
          [](const ElasticNet& self, Array<Real> x) {
            return mapped(x, [&](Index j) { return self[j].value(x.data()[j]); });
          },
          "x"_a)
      .def(
          "prox",
          [](const ElasticNet& self, Array<Real> v, Real step) {
            return mapped(v, [&](Index j) { return self[j].prox(v.data()[j], step); });
          },
          "v"_a, "step"_a)
      .def(
          "conjugate",
          [](const ElasticNet& self, Array<Real> v) {
            return mapped(v, [&](Index j) { return self[j].conjugate(v.data()[j]); });
          },
          "v"_a)
      .def(
          "feasible_scale",
          [](const ElasticNet& self, Array<Real> v) {
            return mapped(v, [&](Index j) { return self[j].feasible_scale(v.data()[j]); });
          },
          "v"_a);
}

} // namespace

bool all_finite(const float* values, Index n) { return finite_block(values, n); }
bool all_finite(const double* values, Index n) { return finite_block(values, n); }

void def_parts(nb::module_& m) {
  def_loss_traits(m);
  def_losses(m);
  def_penalties(m);
}

} // namespace southwell
