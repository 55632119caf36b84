// A loss with kinks, softened (soft_loss.hpp), as a loss over samples in its own right:
//
//     phi_q(m) = max_y  y m - phi*(y) - (q/2)(y - e)^2,     phi_q*(y) = phi*(y) + (q/2)(y - e)^2
//
// so that whatever takes a smooth loss can work on it, and certify how well it is solved.
#pragma once
#include "core/newton/soft_loss.hpp"
#include <stdexcept>

namespace southwell {

class SoftSamples final : public SampleLoss {
public:
  SoftSamples(const SampleLoss& loss, Real q)
      : SampleLoss(loss.targets(), loss.weights()), loss_(loss), q_(q), centre_(loss.targets().size()) {}

  CVec offsets() const override { return loss_.offsets(); } // which the loss itself adds
  Real softness() const { return q_; }
  void soften(Real q) { q_ = q; }
  void recentre(CVec y) { centre_.assign(y.begin(), y.end()); }

  using SampleLoss::derivative;
  using SampleLoss::maximise;
  using SampleLoss::value;
  Real value(CVec margins, Real shift) const override {
    std::vector<Real> y(margins.size());
    return loss_.maximise(shifted(margins, shift), centre_, q_, y);
  }
  Slope slope(CVec margins, Real shift) const override {
    std::vector<Real> y(margins.size()), h(y.size());
    derivative(shifted(margins, shift), y);
    curvature(y, h);
    Slope total{0, 0};
    for (std::size_t i = 0; i < y.size(); ++i) {
      total.first += weights_[i] * y[i];
      total.second += h[i];
    }
    return total;
  }
  void derivative(CVec margins, Vec y) const override { loss_.maximise(margins, centre_, q_, y); }
  void curvature(CVec y, Vec h) const override { soft_curvature(loss_, q_, y, h); }
  Real conjugate(CVec y, Real scale) const override {
    Real total = loss_.conjugate(y, scale);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Real off = scale * y[i] - centre_[i];
      total += weights_[i] * q_ / 2 * off * off;
    }
    return total;
  }
  // Only the loss itself is certified with all rounding errors counted.
  Real value_above(CVec, CVec) const override { throw std::logic_error("bounds of a softened loss"); }
  ConjugateAbove conjugate_above(CVec) const override { throw std::logic_error("bounds of a softened loss"); }
  Distance strictly_inside(Vec y) const override { return loss_.strictly_inside(y); }
  // Two squares are one: q (y - e)^2 + p (y - c)^2 is (p + q)(y - (q e + p c)/(p + q))^2 and a constant.
  Real maximise(CVec margins, CVec centre, Real p, Vec y) const override {
    std::vector<Real> between(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) between[i] = (q_ * centre_[i] + p * centre[i]) / (p + q_);
    Real total = loss_.maximise(margins, between, p + q_, y);
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Real apart = centre[i] - centre_[i];
      total -= weights_[i] * p * q_ / (p + q_) / 2 * apart * apart;
    }
    return total;
  }
  Interval domain(Index i) const override { return loss_.domain(i); }
  Real smoothness() const override { return 1 / q_; }
  bool smooth() const override { return true; }
  bool quadratic() const override { return false; }
  bool piecewise() const override { return true; }
  Real derivative(Index i, Real m) const override { return loss_.maximise(i, m, centre_[i], q_); }
  Real maximise(Index i, Real m, Real y0, Real p) const override {
    return loss_.maximise(i, m, (q_ * centre_[i] + p * y0) / (p + q_), p + q_);
  }
  Real bracket(Index i, Real m, Real y) const override { // phi_q(m) - y m is at its largest in its derivative
    const Real best = derivative(i, m), off = best - centre_[i], own = y - centre_[i];
    return std::max(loss_.bracket(i, m, y) - loss_.bracket(i, m, best) + q_ / 2 * (own * own - off * off),
                    0.0);
  }

private:
  static std::vector<Real> shifted(CVec margins, Real by) {
    std::vector<Real> moved(margins.begin(), margins.end());
    for (Real& m : moved) m += by;
    return moved;
  }

  const SampleLoss& loss_;
  Real q_;
  std::vector<Real> centre_;
};

} // namespace southwell
