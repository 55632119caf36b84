// k separate targets under one scalar loss: several tasks, or a single one (k = 1) with a penalty of blocks.
#pragma once
#include "core/best_shift.hpp"
#include <deque>

namespace southwell {

class TaskLoss final : public LossSum {
public:
  // The loss is anything that `over_samples` takes.
  template <class Given>
  TaskLoss(const Given& loss, Index width, CVec targets, CVec weights, CVec offsets = {})
      : LossSum(width, weights) {
    for (const Real s : weights) repeated_.insert(repeated_.end(), std::size_t(width), s);
    flat_ = over_samples(loss, targets, repeated_, offsets);
    for (Index c = 0; c < width; ++c) {
      auto& own = columns_.emplace_back();
      for (Index i = 0; i < samples(); ++i) own.targets.push_back(targets[i * width + c]);
      for (Index e = c; e < Index(offsets.size()); e += width) own.offsets.push_back(offsets[e]);
      own.loss = over_samples(loss, own.targets, weights, own.offsets);
    }
  }
  Real value(CVec margins) const override { return flat_->value(margins); }
  void derivative(CVec margins, Vec y) const override { flat_->derivative(margins, y); }
  void curvature(CVec y, Vec h) const override { flat_->curvature(y, h); }
  bool coupled() const override { return false; }
  const SampleLoss* separate() const override { return flat_.get(); }
  Real conjugate(CVec y, Real scale) const override { return flat_->conjugate(y, scale); }
  Real conjugate_at_least(CVec y, Real scale) const override { return flat_->conjugate_at_least(y, scale); }
  void derivative(Index i, const Real* m, Real* y) const override {
    for (Index c = 0; c < width_; ++c) y[c] = flat_->derivative(i * width_ + c, m[c]);
  }
  void maximise(Index i, const Real* m, const Real* y0, Real q, Real* y) const override {
    for (Index c = 0; c < width_; ++c) y[c] = flat_->maximise(i * width_ + c, m[c], y0[c], q);
  }
  void into_domain(Vec y) const override { flat_->into_domain(y); }
  void inside(CVec y, Vec h) const override { flat_->inside(y, h); }
  CVec targets() const override { return flat_->targets(); }
  CVec offsets() const override { return flat_->offsets(); }
  Real value_above(CVec m, CVec radii) const override { return flat_->value_above(m, radii); }
  ConjugateAbove conjugate_above(CVec y) const override { return flat_->conjugate_above(y); }
  Distance strictly_inside(Vec y) const override { return flat_->strictly_inside(y); }
  Distance imbalance(CVec y) const override {
    std::vector<Real> column(weights_.size());
    Distance worst;
    for (Index c = 0; c < width_; ++c) {
      for (Index i = 0; i < samples(); ++i) column[i] = y[i * width_ + c];
      worst.part = std::max(worst.part, columns_[c].loss->imbalance(column).part);
    }
    return worst;
  }
  void balance(Vec y) const override {
    std::vector<Real> column(weights_.size());
    for (Index c = 0; c < width_; ++c) {
      for (Index i = 0; i < samples(); ++i) column[i] = y[i * width_ + c];
      southwell::balance(weights_, column);
      for (Index i = 0; i < samples(); ++i) y[i * width_ + c] = column[i];
    }
  }
  void balanced_derivative(CVec margins, Vec y) const override {
    std::vector<Real> column(weights_.size()), own(column.size());
    for (Index c = 0; c < width_; ++c) {
      for (Index i = 0; i < samples(); ++i) column[i] = margins[i * width_ + c];
      southwell::balanced_derivative(*columns_[c].loss, column, own);
      for (Index i = 0; i < samples(); ++i) y[i * width_ + c] = own[i];
    }
  }
  void drop_unbalanced(Vec y) const override {
    std::vector<Real> column(weights_.size());
    for (Index c = 0; c < width_; ++c) {
      for (Index i = 0; i < samples(); ++i) column[i] = y[i * width_ + c];
      if (columns_[c].loss->imbalance(column).part < 0.5) continue;
      for (Index i = 0; i < samples(); ++i) y[i * width_ + c] = 0;
    }
  }
  bool best_shifts(CVec margins, Vec shifts) const override { // each target on its own, inside a bracket
    std::vector<Real> column(weights_.size());
    for (Index c = 0; c < width_; ++c) {
      for (Index i = 0; i < samples(); ++i) column[i] = margins[i * width_ + c];
      const SampleLoss& loss = *columns_[c].loss;
      Shift shift = best_shift(loss, column, shifts[c]);
      if (loss.quadratic()) shift = best_shift(loss, column, shift.best); // what rounding has left
      if (shift.found || loss.value(column, shift.best) < loss.value(column, shifts[c]))
        shifts[c] = shift.best;
    }
    return true;
  }
  Real smoothness() const override { return flat_->smoothness(); }
  bool smooth() const override { return flat_->smooth(); }
  bool quadratic() const override { return flat_->quadratic(); }
  bool piecewise() const override { return flat_->piecewise(); }
  Real size(CVec margins, CVec y) const override { return flat_->size(margins, y); }

private:
  struct Column { // the targets and offsets of one task, in a row
    std::vector<Real> targets, offsets;
    std::unique_ptr<SampleLoss> loss;
  };
  std::vector<Real> repeated_;
  std::unique_ptr<SampleLoss> flat_;
  std::deque<Column> columns_; // which stay where they are: losses look into them
};

} // namespace southwell
