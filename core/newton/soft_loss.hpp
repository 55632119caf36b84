// The loss as Newton's method sees it: smooth, with a second derivative.
//
// A loss with kinks is replaced by  max_y  y m - phi*(y) - (q/2)(y - e)^2,  smooth with curvature at most
// 1/q. Its centres e follow the iterate: the proximal point method on the dual, also known as the method of
// multipliers, whose limit solves the problem itself (Rockafellar 1976). Losses with kinks treat each margin
// as a sample of its own, so this is done margin by margin; losses over classes are smooth.
#pragma once
#include "core/sample_loss.hpp"

namespace southwell {

// h_i = s_i phi''(m_i) of such a loss where its derivative is y_i.
inline void soft_curvature(const SampleLoss& loss, Real q, CVec y, Vec h) {
  const CVec s = loss.weights();
  for (std::size_t i = 0; i < y.size(); ++i) {
    const Interval dom = loss.domain(Index(i));
    const bool inside = y[i] > dom.lo && y[i] < dom.hi && y[i] != 0; // not an end, nor the flat of |m| <= eps
    h[i] = inside ? s[i] / q : 0;
  }
}

class SoftLoss {
public:
  SoftLoss(const LossSum& loss, Real q)
      : loss_(loss), margins_(loss.smooth() ? nullptr : loss.separate()), q_(q) {
    if (kinked()) centre_.resize(std::size_t(loss.samples() * loss.width()));
  }

  bool kinked() const { return margins_ != nullptr; }
  Real softness() const { return q_; }
  Real most_curvature() const { return kinked() ? 1 / q_ : loss_.smoothness(); }
  void soften(Real q) { q_ = q; }
  void recentre(CVec y) { centre_.assign(y.begin(), y.end()); }

  // sum_i s_i phi(m_i), and the derivatives y_i.
  Real value(CVec margins) {
    if (!kinked()) return loss_.value(margins);
    scratch_.resize(margins.size());
    return margins_->maximise(margins, centre_, q_, scratch_);
  }
  void derivative(CVec margins, Vec y) const {
    kinked() ? void(margins_->maximise(margins, centre_, q_, y)) : loss_.derivative(margins, y);
  }
  // h_i = s_i phi''(m_i) where the derivative is y_i.
  void curvature(CVec y, Vec h) const {
    kinked() ? soft_curvature(*margins_, q_, y, h) : loss_.curvature(y, h);
  }

private:
  const LossSum& loss_;
  const SampleLoss* margins_; // each margin as a sample, if there are kinks
  Real q_;
  std::vector<Real> centre_, scratch_;
};

} // namespace southwell
