// A problem of blocks and its parts as Python holds them.
#pragma once
#include "bindings/bound.hpp"
#include "core/block_problem.hpp"

namespace southwell {

// A loss over several margins a sample and the arrays it looks into: labels of classes, or k targets a
// sample.
struct BoundLossSum {
  nanobind::object targets_object, weights_object;
  std::unique_ptr<LossSum> loss;
  const void* targets; // where they lie
};

struct BoundBlockProblem final : BoundQuestion {
  nanobind::object layout_object, loss_object, penalty_object;
  BlockProblem core;

  BoundBlockProblem(nanobind::object layout, nanobind::object loss, nanobind::object penalty)
      : layout_object(layout), loss_object(loss), penalty_object(penalty),
        core(nanobind::cast<const BoundLayout&>(layout).design(),
             *nanobind::cast<const BoundLossSum&>(loss).loss, nanobind::cast<const Groups&>(penalty)) {
    if (core.loss.samples() != core.design.rows() || core.penalty.width() != core.width() ||
        core.penalty.penalised() > core.design.cols() || core.penalty.penalised() + 1 < core.design.cols())
      throw std::invalid_argument("parts of different sizes");
  }
  const Question& question() const override { return core; }
  bool same_data(const BoundQuestion& other) const override {
    const auto* own = dynamic_cast<const BoundBlockProblem*>(&other);
    return own && own->layout_object.is(layout_object) && own->targets() == targets() &&
           own->core.loss.offsets().data() == core.loss.offsets().data();
  }
  const AnyLayout& layout() const { return nanobind::cast<const BoundLayout&>(layout_object).layout; }
  const void* targets() const { return nanobind::cast<const BoundLossSum&>(loss_object).targets; }
};

} // namespace southwell
