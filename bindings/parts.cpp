#include "bindings/parts.hpp"
#include "core/support/simd.hpp"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>
#include <stdexcept>
#include <vector>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

struct ParameterTraits {
  std::string_view name;
  Real value; // its default
  bool zero;
  Real above, below;
};
struct LossTraits {
  std::string_view name, targets;
  bool smooth, quadratic, piecewise, may_overflow, log_odds, log_link;
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
                                                     .log_link = L::log_link,
                                                     .self_concordance = L::self_concordance});
    if constexpr (requires { L::parameter; })
      traits.parameter = ParameterTraits{.name = L::parameter.name,
                                         .value = loss.*L::parameter.field,
                                         .zero = L::parameter.zero,
                                         .above = L::parameter.above,
                                         .below = L::parameter.below};
  });
  return all;
}

void def_loss_traits(nb::module_& m) {
  nb::class_<ParameterTraits>(m, "ParameterTraits", "The number of a part: its name, default and range.")
      .def_ro("name", &ParameterTraits::name)
      .def_ro("default", &ParameterTraits::value)
      .def_ro("zero", &ParameterTraits::zero, "May it be 0? It is never negative.")
      .def_ro("above", &ParameterTraits::above)
      .def_ro("below", &ParameterTraits::below);
  nb::class_<LossTraits>(m, "LossTraits", "What a loss says about itself; see core/losses/loss.hpp.")
      .def_ro("name", &LossTraits::name)
      .def_ro("targets", &LossTraits::targets)
      .def_ro("smooth", &LossTraits::smooth)
      .def_ro("quadratic", &LossTraits::quadratic)
      .def_ro("piecewise", &LossTraits::piecewise)
      .def_ro("may_overflow", &LossTraits::may_overflow)
      .def_ro("log_odds", &LossTraits::log_odds)
      .def_ro("log_link", &LossTraits::log_link)
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

// A question that each scalar penalty of a sum answers: f(g_j, x_j, ...) for an array x, and further arrays
// or numbers.
Real at(Real number, Index) { return number; }
Real at(const Array<Real>& numbers, Index j) { return numbers.data()[j]; }
void fits(Real, Index) {}
void fits(const Array<Real>& numbers, Index size) { sized(numbers, size); }

template <class... Rest, class F, class... Names>
void def_question(nb::class_<ElasticNet>& net, const char* name, F f, Names... names) {
  net.def(
      name,
      [f](const ElasticNet& self, Array<Real> x, Rest... rest) {
        (fits(rest, Index(x.shape(0))), ...);
        return mapped(x, [&](Index j) { return Real(f(self[j], x.data()[j], at(rest, j)...)); });
      },
      names...);
}
CVec over_all(const ElasticNet& net, const Array<Real>& numbers) {
  if (Index(numbers.shape(0)) < net.penalised())
    throw std::invalid_argument("fewer numbers than coordinates");
  return view(numbers);
}

void def_penalties(nb::module_& m) {
  nb::class_<ElasticNet> net(m, "ElasticNet", "The elastic net over all coordinates.");
  net.def(
         "__init__",
         [](ElasticNet* self, Real l1, Real l2, Array<Real> weights, Array<Real> ridge_weights,
            Array<Real> lower, Array<Real> upper, Index penalised) {
           new (self) ElasticNet(l1, l2, copied(weights), copied(ridge_weights), copied(lower), copied(upper),
                                 penalised);
         },
         "l1"_a, "l2"_a, "weights"_a, "ridge_weights"_a, "lower"_a, "upper"_a, "penalised"_a)
      .def(
          "total_value", [](const ElasticNet& self, Array<Real> x) { return self.value(over_all(self, x)); },
          "x"_a)
      .def(
          "total_conjugate",
          [](const ElasticNet& self, Array<Real> slopes, Real scale) {
            return self.conjugate(over_all(self, slopes), scale);
          },
          "slopes"_a, "scale"_a, "The sum of g_j*(-scale z_j).")
      .def(
          "total_feasible_scale",
          [](const ElasticNet& self, Array<Real> slopes, bool with_ridge) {
            return self.feasible_scale(over_all(self, slopes), with_ridge);
          },
          "slopes"_a, "with_ridge"_a)
      .def_prop_ro("least_l2", &ElasticNet::least_l2)
      .def_prop_ro("bounded", &ElasticNet::bounded)
      .def_prop_ro("quadratic", &ElasticNet::quadratic)
      .def_prop_ro("plain", &ElasticNet::plain);
  // What ScalarPenalty asks, over arrays with a number for each coordinate.
  using G = ScalarElasticNet;
  def_question(net, "value", [](G g, Real x) { return g.value(x); }, "x"_a);
  def_question(net, "lower", [](G g, Real) { return g.domain().lo; }, "x"_a);
  def_question(net, "upper", [](G g, Real) { return g.domain().hi; }, "x"_a);
  def_question(net, "minimiser", [](G g, Real x) { return g.minimiser(x); }, "x"_a);
  def_question(net, "least_slope", [](G g, Real x) { return g.subdifferential(x).lo; }, "x"_a);
  def_question(net, "greatest_slope", [](G g, Real x) { return g.subdifferential(x).hi; }, "x"_a);
  def_question(net, "conjugate", [](G g, Real v) { return g.conjugate(v); }, "v"_a);
  def_question(net, "feasible_scale", [](G g, Real v) { return g.feasible_scale(v); }, "v"_a);
  def_question(net, "free", [](G g, Real) { return g.free(); }, "x"_a);
  def_question(net, "kink", [](G g, Real) { return g.kink(); }, "x"_a);
  def_question(net, "zero_is_optimal", [](G g, Real v) { return g.zero_is_optimal(v); }, "v"_a);
  def_question(net, "smooth_at", [](G g, Real x) { return g.smooth_at(x); }, "x"_a);
  def_question(net, "gradient", [](G g, Real x) { return g.gradient(x); }, "x"_a);
  def_question(net, "curvature", [](G g, Real x) { return g.curvature(x); }, "x"_a);
  def_question(net, "reach", [](G g, Real v) { return g.reach(v); }, "v"_a);
  def_question(net, "strong_convexity", [](G g, Real) { return g.strong_convexity(); }, "x"_a);
  def_question<Real>(net, "prox", [](G g, Real v, Real step) { return g.prox(v, step); }, "v"_a, "step"_a);
  def_question<Array<Real>>(
      net, "held", [](G g, Real from, Real to) { return g.held(from, to); }, "x"_a, "to"_a);
  def_question<Array<Real>, Array<Real>>(
      net, "bregman", [](G g, Real x, Real u, Real v) { return g.bregman(x, u, v); }, "x"_a, "u"_a, "v"_a);
  def_question<Real, Array<Real>>(
      net, "conjugate_gradient", [](G g, Real v, Real mu, Real x) { return g.conjugate_gradient(v, mu, x); },
      "v"_a, "mu"_a, "x"_a);
  def_question<Real>(
      net, "least_maximiser",
      [](G g, Real v, Real slack) { return g.conjugate_subdifferential(v, slack).lo; }, "v"_a, "slack"_a);
  def_question<Real>(
      net, "greatest_maximiser",
      [](G g, Real v, Real slack) { return g.conjugate_subdifferential(v, slack).hi; }, "v"_a, "slack"_a);
  def_question<Real>(
      net, "value_with_ridge", [](G g, Real x, Real mu) { return g.with_ridge(mu).value(x); }, "x"_a, "mu"_a);
  def_question<Real, Real>(
      net, "prox_with_ridge", [](G g, Real v, Real step, Real mu) { return g.with_ridge(mu).prox(v, step); },
      "v"_a, "step"_a, "mu"_a);
  def_question<Real, Real>(
      net, "value_within", [](G g, Real x, Real from, Real to) { return g.within(from, to).value(x); }, "x"_a,
      "lower"_a, "upper"_a);
  def_question<Real>(
      net, "shrunk",
      [](G g, Real v, Real step) {
        const Shrinkage by = g.shrinkage(step);
        return soft(v, by.threshold) * by.factor;
      },
      "v"_a, "step"_a);
  def_question<Real>(
      net, "shrunk_conjugate_gradient",
      [](G g, Real v, Real mu) {
        const Shrinkage by = g.with_ridge(mu).conjugate_shrinkage();
        return soft(v, by.threshold) * by.factor;
      },
      "v"_a, "mu"_a);
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
