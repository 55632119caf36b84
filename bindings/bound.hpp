// A problem and its data as Python holds them.
#pragma once
#include "bindings/arrays.hpp"
#include "bindings/layout.hpp"
#include "core/problem.hpp"
#include <memory>

namespace southwell {

// A layout and the arrays it looks into.
struct BoundLayout {
  AnyLayout layout;
  nanobind::object owner;
  const Design& design() const { return as_design(layout); }
};

inline Index rows(nanobind::handle layout) {
  return nanobind::cast<const BoundLayout&>(layout).design().rows();
}

// A problem and all it is made of.
struct BoundProblem {
  nanobind::object layout_object, targets_object, weights_object;
  AnyLoss any_loss;
  std::unique_ptr<SampleLoss> loss;
  ElasticNet penalty;
  Problem core;

  BoundProblem(nanobind::object layout, const AnyLoss& l, Array<Real> targets, Array<Real> weights,
               const ElasticNet& p)
      : layout_object(layout), targets_object(nanobind::cast(targets)),
        weights_object(nanobind::cast(weights)), any_loss(l),
        loss(over_samples(any_loss, sized(targets, rows(layout)), sized(weights, rows(layout)))), penalty(p),
        core{nanobind::cast<const BoundLayout&>(layout).design(), *loss, penalty} {}
  const AnyLayout& layout() const { return nanobind::cast<const BoundLayout&>(layout_object).layout; }
};

void def_algorithms(nanobind::module_& m);

} // namespace southwell
