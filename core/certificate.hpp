// The one place that evaluates optimality. P(x) - D(y) bounds the error of x for any x and any feasible y, so
// the best primal and the best dual value are kept separately; they may come from different iterates.
#pragma once
#include "core/question.hpp"
#include "core/support/math.hpp"

namespace southwell {

struct Certificate {
  Real primal = infinity, dual = -infinity;
  Real terms = 0;  // the size of the numbers that cancel in them
  Real slack = 0;  // added to the computed primal value, for rounding errors of the margins
  Real charge = 0; // subtracted from the computed dual value, for rounding errors of slopes that must vanish
  Real gap() const { return primal - dual; }
  // A gap below this cannot be distinguished from zero. A large charge is no matter of rounding.
  Real rounding() const {
    const Real size = std::abs(primal) + terms;
    return 1e-15 * size + 2 * slack + std::min(2 * charge, 1e-12 * size);
  }
};

class Certifier {
public:
  Certifier(
      const Question& question, std::function<bool()> hurry = [] { return false; })
      : question_(question), bound_(question.bound(std::move(hurry))), x_(question.primal_size()),
        y_(question.dual_size()) {}

  const Certificate& operator()(const Point& point) {
    const Real slack = bound_->primal_rounding(point), primal = latest_ = question_.value(point) + slack;
    const Real terms = question_.terms(point);
    // Of points whose values differ by rounding only, the newest is taken: it is nearest to the optimum.
    if (std::isfinite(primal) &&
        (primal <= best_.primal || primal - best_.primal <= 1e-15 * std::abs(primal))) {
      best_.primal = std::min(primal, best_.primal);
      best_.slack = slack;
      primal_terms_ = terms;
      x_ = point.x;
    }
    const Real dual = latest_dual_ = bound_->dual_value(point);
    if (dual > dual_ && dual < infinity) { // ignore a value that has overflowed
      dual_ = dual;
      best_.charge = bound_->charge();
      dual_terms_ = terms;
      for (std::size_t i = 0; i < y_.size(); ++i) y_[i] = bound_->scale() * bound_->y()[i];
    }
    best_.terms = std::max(primal_terms_, dual_terms_);
    // A dual value above the primal value shows that rounding errors are at least as large as their
    // difference. That difference is then reported as the gap.
    best_.dual = dual_ > best_.primal ? best_.primal - (dual_ - best_.primal) : dual_;
    return best_;
  }
  const Certificate& best() const { return best_; }
  Real latest() const { return latest_; }           // P at the last point,
  Real latest_dual() const { return latest_dual_; } // D at its y, made feasible,
  Real scale() const { return bound_->scale(); }    // the factor that made it feasible,
  CVec slopes() const { return bound_->slopes(); }  // and the slopes before scaling
  CVec x() const { return x_; }                     // the best of each
  CVec y() const { return y_; }
  std::pair<std::vector<Real>, std::vector<Real>> release() { return {std::move(x_), std::move(y_)}; }

private:
  const Question& question_;
  std::unique_ptr<Bound> bound_;
  Certificate best_;
  Real dual_ = -infinity; // the best that was computed
  Real latest_ = infinity, latest_dual_ = -infinity, primal_terms_ = 0, dual_terms_ = 0;
  std::vector<Real> x_, y_;
};

} // namespace southwell
