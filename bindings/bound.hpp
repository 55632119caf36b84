// A problem and its data as Python holds them.
#pragma once
#include "bindings/arrays.hpp"
#include "bindings/layout.hpp"
#include "bindings/lock.hpp"
#include "core/drive.hpp"
#include "core/policy.hpp"
#include <memory>
#include <optional>

namespace southwell {

// A layout, and the arrays it refers to.
struct BoundLayout {
  AnyLayout layout;
  nanobind::object owner;
  const Design& design() const { return as_design(layout); }
};

inline Index rows(nanobind::handle layout) {
  return nanobind::cast<const BoundLayout&>(layout).design().rows();
}

// A loss of one's own, and the loss over samples made of it; see bindings/own_loss.cpp.
class OwnLoss;
struct BoundOwnLoss {
  std::shared_ptr<const OwnLoss> loss;
};
std::unique_ptr<SampleLoss> over_samples(const BoundOwnLoss& own, CVec targets, CVec weights, CVec offsets);

// The base of all problems, over numbers, blocks or in Python.
struct BoundQuestion {
  virtual ~BoundQuestion() = default;
  virtual const Question& question() const = 0;
  virtual bool same_data(const BoundQuestion&) const { return false; } // and the same loss and weights
};

// A problem, and the Python objects that it refers to.
struct BoundProblem final : BoundQuestion {
  nanobind::object layout_object, targets_object, weights_object, offsets_object;
  std::optional<AnyLoss> any_loss; // none: a loss of one's own
  std::unique_ptr<SampleLoss> loss;
  ElasticNet penalty;
  Problem core;

  template <class Given> // AnyLoss or BoundOwnLoss
  BoundProblem(nanobind::object layout, const Given& l, Array<Real> targets, Array<Real> weights,
               const ElasticNet& p, Array<Real> offsets)
      : layout_object(layout), targets_object(nanobind::cast(targets)),
        weights_object(nanobind::cast(weights)), offsets_object(nanobind::cast(offsets)),
        loss(over_samples(l, sized(targets, rows(layout)), sized(weights, rows(layout)),
                          sized(offsets, offsets.shape(0) == 0 ? 0 : rows(layout)))),
        penalty(p), core(nanobind::cast<const BoundLayout&>(layout).design(), *loss, penalty) {
    if constexpr (!std::same_as<Given, BoundOwnLoss>) any_loss = l;
  }
  // For steps along single coordinates, which a loss of one's own cannot take.
  const AnyLoss& step_loss() const {
    if (!any_loss) throw std::invalid_argument("a loss of one's own has no steps along coordinates");
    return *any_loss;
  }
  const Question& question() const override { return core; }
  bool same_data(const BoundQuestion& other) const override {
    const auto* own = dynamic_cast<const BoundProblem*>(&other);
    return own && own->layout_object.is(layout_object) &&
           own->loss->targets().data() == loss->targets().data() &&
           own->loss->offsets().data() == loss->offsets().data();
  }
  const AnyLayout& layout() const { return nanobind::cast<const BoundLayout&>(layout_object).layout; }
};

// The layout whose rows an algorithm reads: the one given, or, if that is None, the problem's own.
inline const AnyLayout& rows_of(const BoundProblem& problem, nanobind::handle given) {
  if (given.is_none()) return problem.layout();
  const auto& layout = nanobind::cast<const BoundLayout&>(given);
  if (layout.design().rows() != problem.core.design.rows() ||
      layout.design().cols() != problem.core.design.cols())
    throw std::invalid_argument("a layout of the wrong size");
  return layout.layout;
}

// The exception of a Python call inside a solve. It is raised once the solve has ended.
using Failure = std::shared_ptr<nanobind::object>;

struct BoundAlgorithm {
  nanobind::object problem_object, parts = nanobind::none();
  std::unique_ptr<Algorithm> algorithm = nullptr;
  Failure failure = std::make_shared<nanobind::object>(nanobind::none());
  bool settled = false;

  const Question& question() const { return nanobind::cast<const BoundQuestion&>(problem_object).question(); }
};

[[noreturn]] inline void raise_failure(const BoundAlgorithm& bound) {
  const nanobind::object& error = *bound.failure;
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error.ptr())), error.ptr());
  throw nanobind::python_error();
}

// The numbers that the default method decides by, with others in the place of some.
Policy policy_with(const nanobind::dict& others);

void def_algorithms(nanobind::module_& m);
void def_saddle(nanobind::module_& m);
void def_newton(nanobind::module_& m);
void def_in_parts(nanobind::module_& m);
void def_features(nanobind::module_& m);
void def_outside(nanobind::module_& m);
void def_wide(nanobind::module_& m);
void def_blas(nanobind::module_& m);
void def_certify(nanobind::module_& m);
void def_own_loss(nanobind::module_& m);

} // namespace southwell
