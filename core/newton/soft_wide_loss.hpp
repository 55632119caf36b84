// The loss of blocks as Newton's method sees it. Losses over classes are smooth. Where margins do not
// compete, each of them is a sample of its own, and kinks are softened as they are there (soft_loss.hpp).
#pragma once
#include "core/newton/soft_loss.hpp"
#include "core/wide_loss.hpp"
#include <optional>

namespace southwell {

class SoftWideLoss {
public:
  SoftWideLoss(const WideLoss& loss, Real q) : loss_(loss) {
    if (!loss.smooth()) soft_.emplace(*loss.separate(), q);
  }

  bool kinked() const { return soft_.has_value(); }
  Real softness() const { return soft_->softness(); }
  void soften(Real q) { soft_->soften(q); }
  void recentre(CVec y) { soft_->recentre(y); }
  Real most_curvature() const { return kinked() ? soft_->most_curvature() : loss_.smoothness(); }

  Real value(CVec margins) { return kinked() ? soft_->value(margins) : loss_.value(margins); }
  void derivative(CVec margins, Vec y) const {
    kinked() ? soft_->derivative(margins, y) : loss_.derivative(margins, y);
  }
  void curvature(CVec y, Vec h) const { kinked() ? soft_->curvature(y, h) : loss_.curvature(y, h); }

private:
  const WideLoss& loss_;
  std::optional<SoftLoss> soft_;
};

} // namespace southwell
