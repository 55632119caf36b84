// A loss over competing margins that known numbers o are added to, a row of them for each sample:
//
//     phi_o(m) = phi(m + o),     phi_o*(y) = phi*(y) - <o, y>
//
// What is the same for each margin by itself is in offset_samples.hpp.
#pragma once
#include "core/loss_sum.hpp"

namespace southwell {

class OffsetClasses final : public LossSum {
public:
  OffsetClasses(std::unique_ptr<LossSum> loss, CVec offsets)
      : LossSum(loss->width(), loss->weights()), loss_(std::move(loss)), offsets_(offsets) {}

  CVec offsets() const override { return offsets_; }

  Real value(CVec m) const override { return loss_->value(moved(m)); }
  void derivative(CVec m, Vec y) const override { loss_->derivative(moved(m), y); }
  void derivative(Index i, const Real* m, Real* y) const override {
    loss_->derivative(i, moved(i, m).data(), y);
  }
  void maximise(Index i, const Real* m, const Real* y0, Real q, Real* y) const override {
    loss_->maximise(i, moved(i, m).data(), y0, q, y);
  }
  Real conjugate(CVec y, Real scale) const override {
    const Real inner = loss_->conjugate(y, scale);
    if (!std::isfinite(inner) || scale == 0) return inner;
    CompensatedSum sum;
    each_term(y, [&](Real term) { sum.add(term); });
    return inner - scale * sum.value();
  }
  Real value_above(CVec m, CVec radii) const override {
    const std::vector<Real> at = moved(m);
    std::vector<Real> around(radii.begin(), radii.end());
    for (std::size_t e = 0; e < at.size(); ++e) around[e] += 1.01 * rounding::unit * std::abs(at[e]);
    return loss_->value_above(at, around);
  }
  ConjugateAbove conjugate_above(CVec y) const override {
    const ConjugateAbove inner = loss_->conjugate_above(y);
    rounding::SumAbove sum; // of -s <o, y>, rounded twice
    each_term(y, [&](Real term) { sum.add(4 * rounding::unit * std::abs(term) + rounding::tiny - term); });
    Real others = 0; // what another point of the domain may be worth: its numbers are of size 2 in all
    for (Index i = 0; i < samples(); ++i) {
      Real largest = 0;
      for (Index c = 0; c < width_; ++c) largest = std::max(largest, std::abs(offsets_[i * width_ + c]));
      others += 2 * weights_[i] * largest;
    }
    return {inner.value + sum.above() + 2 * rounding::unit * (std::abs(inner.value) + std::abs(sum.above())),
            inner.size + 1.01 * (sum.size() + others)};
  }
  void curvature(CVec y, Vec h) const override { loss_->curvature(y, h); }
  bool coupled() const override { return loss_->coupled(); }
  void into_domain(Vec y) const override { loss_->into_domain(y); }
  void inside(CVec y, Vec h) const override { loss_->inside(y, h); }
  std::span<const Index> labels() const override { return loss_->labels(); }
  Distance strictly_inside(Vec y) const override { return loss_->strictly_inside(y); }
  Distance imbalance(CVec y) const override { return loss_->imbalance(y); }
  void balance(Vec y) const override { loss_->balance(y); }
  Real smoothness() const override { return loss_->smoothness(); }
  bool smooth() const override { return loss_->smooth(); }
  bool quadratic() const override { return loss_->quadratic(); }
  bool piecewise() const override { return loss_->piecewise(); }
  Real size(CVec margins, CVec y) const override { return loss_->size(moved(margins), y); }

private:
  std::vector<Real> moved(CVec m) const {
    std::vector<Real> sums(m.begin(), m.end());
    for (std::size_t e = 0; e < sums.size(); ++e) sums[e] += offsets_[e];
    return sums;
  }
  std::vector<Real> moved(Index i, const Real* m) const {
    std::vector<Real> sums(m, m + width_);
    for (Index c = 0; c < width_; ++c) sums[c] += offsets_[i * width_ + c];
    return sums;
  }
  template <class Work> void each_term(CVec y, Work&& work) const { // s_i o_ic y_ic
    for (Index i = 0; i < samples(); ++i)
      for (Index e = i * width_; e < (i + 1) * width_; ++e) work(weights_[i] * offsets_[e] * y[e]);
  }

  std::unique_ptr<LossSum> loss_;
  CVec offsets_;
};

} // namespace southwell
