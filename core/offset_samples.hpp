// A loss at margins that known numbers o are added to:
//
//     phi_o(m) = phi(m + o),     phi_o*(y) = phi*(y) - o y
//
// Coordinate steps, which call losses by type, add the offsets themselves (DerivativeMap, DualStep).
#pragma once
#include "core/sample_loss.hpp"

namespace southwell {

class OffsetSamples final : public SampleLoss {
public:
  OffsetSamples(std::unique_ptr<SampleLoss> loss, CVec offsets)
      : SampleLoss(loss->targets(), loss->weights()), loss_(std::move(loss)), offsets_(offsets) {}

  CVec offsets() const override { return offsets_; }

  using SampleLoss::derivative;
  using SampleLoss::maximise;
  using SampleLoss::value;
  Real value(CVec m, Real shift) const override { return loss_->value(moved(m), shift); }
  Slope slope(CVec m, Real shift) const override { return loss_->slope(moved(m), shift); }
  void derivative(CVec m, Vec y) const override { loss_->derivative(moved(m), y); }
  void curvature(CVec y, Vec h) const override { loss_->curvature(y, h); }
  Real maximise(CVec m, CVec centre, Real q, Vec y) const override {
    return loss_->maximise(moved(m), centre, q, y);
  }
  Real conjugate(CVec y, Real scale) const override {
    const Real inner = loss_->conjugate(y, scale);
    if (!std::isfinite(inner) || scale == 0) return inner;
    CompensatedSum sum;
    for (std::size_t i = 0; i < y.size(); ++i) sum.add(weights_[i] * offsets_[i] * y[i]);
    return inner - scale * sum.value();
  }
  Real conjugate_at_least(CVec y, Real scale) const override {
    Real along = 0;
    for (std::size_t i = 0; i < y.size(); ++i) along += weights_[i] * offsets_[i] * y[i];
    return loss_->conjugate_at_least(y, scale) - scale * along;
  }
  Real value_above(CVec m, CVec radii) const override {
    const std::vector<Real> at = moved(m);
    std::vector<Real> around(radii.begin(), radii.end());
    for (std::size_t i = 0; i < at.size(); ++i) around[i] += 1.01 * rounding::unit * std::abs(at[i]);
    return loss_->value_above(at, around);
  }
  ConjugateAbove conjugate_above(CVec y) const override {
    const ConjugateAbove inner = loss_->conjugate_above(y);
    rounding::SumAbove sum; // of -s o y, rounded twice
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Real term = weights_[i] * offsets_[i] * y[i];
      sum.add(4 * rounding::unit * std::abs(term) + rounding::tiny - term);
    }
    return {inner.value + sum.above() + 2 * rounding::unit * (std::abs(inner.value) + std::abs(sum.above())),
            inner.size + sum.size()};
  }
  Distance strictly_inside(Vec y) const override { return loss_->strictly_inside(y); }
  Interval domain(Index i) const override { return loss_->domain(i); }
  Real smoothness() const override { return loss_->smoothness(); }
  bool smooth() const override { return loss_->smooth(); }
  bool quadratic() const override { return loss_->quadratic(); }
  bool piecewise() const override { return loss_->piecewise(); }
  Real derivative(Index i, Real m) const override { return loss_->derivative(i, m + offsets_[i]); }
  Real maximise(Index i, Real m, Real y0, Real q) const override {
    return loss_->maximise(i, m + offsets_[i], y0, q);
  }
  Real bracket(Index i, Real m, Real y) const override { return loss_->bracket(i, m + offsets_[i], y); }

private:
  std::vector<Real> moved(CVec m) const {
    std::vector<Real> sums(m.begin(), m.end());
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += offsets_[i];
    return sums;
  }

  std::unique_ptr<SampleLoss> loss_;
  CVec offsets_;
};

// The loss itself, if there are no offsets.
inline std::unique_ptr<SampleLoss> with_offsets(std::unique_ptr<SampleLoss> loss, CVec offsets) {
  if (offsets.empty()) return loss;
  return std::make_unique<OffsetSamples>(std::move(loss), offsets);
}

} // namespace southwell
