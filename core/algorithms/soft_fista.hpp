// Accelerated proximal gradient descent on a loss with kinks: the method of multipliers (Rockafellar 1976)
// around FISTA, for data that are known by products alone.
//
// The loss is softened around centres e (soft_samples.hpp); FISTA solves that until its own gap, of the
// softened problem, is a tenth of the gap of the problem as stated. Then e moves to the dual point it has
// found, and the softness q is lowered. An epoch is a few iterations.
#pragma once
#include "core/algorithms/fista.hpp"
#include "core/newton/soft_samples.hpp"
#include "core/policy.hpp"
#include <optional>

namespace southwell {

class SoftFista final : public Algorithm {
public:
  // `softness` is the first q, in units of the zero model's objective; `lipschitz` is L for a loss of
  // curvature 1.
  SoftFista(const Problem& problem, CVec x, CVec y, Real lipschitz, Real softness, const Policy& policy)
      : policy_(policy), problem_(problem), lipschitz_(lipschitz), softness_(softness),
        loss_(problem.loss, softness), soft_(problem.design, loss_, problem.penalty), own_(problem) {
    loss_.recentre(within_domain(problem, y));
    own_.x = within_bounds(problem, x);
  }
  SoftFista(const SoftFista&) = delete; // members hold references to other members

  void epoch(Pulse& pulse) override {
    for (int k = 0; k < int(policy_.fista_iterations) && !pulse.interrupted() && !pulse.late(); ++k)
      fista_->epoch(pulse);
  }
  // Certificates need the best intercept of the loss itself, not that of the softened loss.
  void locate(Point& point) override {
    fista_ ? fista_->locate(own_) : complete_from_primal(soft_, own_);
    point = own_;
    if (!problem_.has_intercept()) return;
    for (Real& m : point.margins) m -= own_.x.back();
    solve_intercept(problem_, point);
  }
  void judge(const Certifier& certifier, const Unit& unit) override {
    if (!fista_) { // now the unit is known
      unit_ = std::max(unit.scale, std::numeric_limits<Real>::min());
      loss_.soften(softness_ * unit_);
      fista_.emplace(soft_, own_.x, FistaSpec{.lipschitz = lipschitz_ / loss_.softness()});
      return;
    }
    if (!inner_) inner_.emplace(soft_);
    (*inner_)(own_);
    const Real goal = policy_.fista_part * std::max(certifier.best().gap(), unit.goal);
    if (inner_->best().gap() > goal) return;
    loss_.recentre(own_.y);
    loss_.soften(std::max(policy_.softer_by * loss_.softness(), policy_.least_softness * softness_ * unit_));
    inner_.reset();
  }
  void resync(const Point&) override { fista_->resync(own_); }
  bool eager() const override { return true; }

private:
  const Policy policy_;
  const Problem& problem_;
  Real lipschitz_, softness_, unit_ = 0;
  SoftSamples loss_;
  Problem soft_;
  std::optional<Fista> fista_;
  Point own_;                      // the point of the softened problem
  std::optional<Certifier> inner_; // of the softened problem, since its centres last moved
};

} // namespace southwell
