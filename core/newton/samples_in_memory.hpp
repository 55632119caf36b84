// Samples that are in memory: one object answers all questions; those that numbers alone ask are in
// numbers_in_memory.hpp.
#pragma once
#include "core/linear_problem.hpp"
#include "core/newton/samples.hpp"
#include "core/support/table_rows.hpp"

namespace southwell {

class SamplesInMemory : public Samples {
public:
  // `y`: centres of softened kinks at first.
  SamplesInMemory(const LinearProblem& problem, const SetProducts& products, CVec y, Real softness,
                  const Policy& policy)
      : problem_(problem), products_(products), loss_(problem.losses(), softness),
        least_(policy.slope_as_curvature), margins_(std::size_t(problem.dual_size())), y_(margins_.size()),
        step_(margins_.size()), trial_(margins_.size()) {
    if (!loss_.kinked()) return;
    std::vector<Real> centre(y.begin(), y.end());
    problem.losses().into_domain(centre);
    loss_.recentre(centre);
  }
  SamplesInMemory(const SamplesInMemory&) = delete; // models refer to its expansion

  void place(CVec x, Vec intercept) override {
    products_.forward(x, margins_);
    if (problem_.has_intercept()) settle(intercept);
    loss_.derivative(margins_, y_);
    if (problem_.has_intercept()) problem_.losses().balance(y_);
  }
  void slopes(Vec out) override { problem_.slopes(y_, out); }
  void tell(Point& point) override {
    point.margins = margins_;
    point.y = y_;
    if (!problem_.has_intercept() || !loss_.kinked()) return;
    exchange(Vec(point.x).last(best_.size()), best_, point.margins);
  }
  Real value() override { return loss_.value(margins_); }
  bool expand(const Floor& floor) override { return expand(floor, 0); }
  bool expand(const Floor& floor, Real steepest) override {
    loss_.derivative(margins_, y_);
    return expansion_.update(problem_.losses(), loss_, y_, floor, least_, steepest);
  }

  Real aim(CVec change) override {
    products_.forward(change, step_);
    Real slope = 0;
    for (std::size_t i = 0; i < step_.size(); ++i) slope += expansion_.r[i] * step_[i];
    return slope;
  }
  std::vector<Real> values(CVec lengths) override {
    std::vector<Real> all;
    for (const Real length : lengths) {
      try_length(length);
      all.push_back(loss_.value(trial_));
    }
    return all;
  }
  void go(Real length) override {
    if (length != tried_) try_length(length);
    margins_.swap(trial_);
    tried_ = 0;
  }

  bool kinked() const override { return loss_.kinked(); }
  Real softness() const override { return loss_.softness(); }
  void soften(Real q) override { loss_.soften(q); }
  void recentre() override { loss_.recentre(y_); }
  const Expansion* local() const override { return &expansion_; }

protected:
  const LinearProblem& problem_;
  const SetProducts& products_;
  SoftLoss loss_;
  Real least_; // see Expansion::update
  Expansion expansion_;
  std::vector<Real> margins_, y_, step_, trial_;

private:
  void try_length(Real length) {
    for (std::size_t i = 0; i < trial_.size(); ++i) trial_[i] = margins_[i] + length * step_[i];
    tried_ = length;
  }
  // Another intercept, in the place of `own`.
  static void exchange(Vec own, CVec other, Vec margins) {
    std::vector<Real> change(own.size());
    for (std::size_t i = 0; i < own.size(); ++i) change[i] = other[i] - own[i];
    add_to_rows(change, margins);
    std::copy(other.begin(), other.end(), own.begin());
  }
  // Certificates want the best intercept of the loss itself. The softened loss has another one, at which its
  // rounds arrive; but they begin at this one.
  void settle(Vec intercept) {
    const std::vector<Real> own(intercept.begin(), intercept.end());
    problem_.settle_intercept(intercept, margins_);
    best_.assign(intercept.begin(), intercept.end());
    if (std::exchange(settled_, true) && loss_.kinked()) exchange(intercept, own, margins_);
  }

  Real tried_ = 0;         // the step length of `trial_`
  std::vector<Real> best_; // intercept of the loss itself
  bool settled_ = false;
};

} // namespace southwell
