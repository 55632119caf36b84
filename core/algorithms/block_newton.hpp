// Proximal Newton on working sets of blocks: group lasso, rows of many tasks, classes that compete.
//
// An epoch is a round:
//
//   choose   groups whose slopes break their optimality condition join the working set, the worst first
//   repeat   quadratic model of the loss around X on the set, its minimiser, and a line search on P
//   until    the gap of the problem restricted to the set is a fraction of the last full gap
//
// Where the penalty is smooth, as for ridge, the set is everything and nothing is gathered. Kinks of the loss
// are softened as in proximal_newton.hpp, a little less each round, around centres that follow the iterate.
#pragma once
#include "core/newton/block_model.hpp"

namespace southwell {

class BlockNewton final : public Algorithm {
public:
  // `softness` of kinks at first, in units of the zero model's objective for a margin.
  BlockNewton(const WideProblem& problem, CVec x, CVec y, Real softness)
      : problem_(problem), k_(problem.width()), strong_(problem.penalty.strong()), softness_(softness),
        loss_(problem.loss, softness), set_(problem, x), model_(problem, loss_, set_), here_(problem),
        step_(here_.y.size()), trial_(step_.size()) {
    here_.x.assign(x.begin(), x.end());
    if (loss_.kinked()) {
      std::vector<Real> centre(y.begin(), y.end());
      problem.loss.into_domain(centre);
      loss_.recentre(centre);
    }
    x_ = set_.taken(here_.x);
  }

  bool eager() const override { return true; }
  bool begun() const override { return !set_.eased(); }
  void epoch(Pulse& pulse) override {
    moved_ = true;
    // Centres move once the softened problem is solved as well as it should be: the method of multipliers
    // needs that.
    const bool solved = round(pulse);
    if (!loss_.kinked() || model_.left() || (!solved && ++unsolved_ < 20)) return;
    unsolved_ = 0;
    loss_.recentre(here_.y);
    loss_.soften(std::max(0.6 * loss_.softness(), 0.01 * softness_ * unit_));
  }
  void locate(Point& point) override {
    if (moved_) {
      set_.put_back(x_, here_.x);
      change_ = x_;
      if (problem_.has_intercept()) std::fill(change_.end() - k_, change_.end(), 0.0);
      model_.products().forward(change_, here_.margins);
      if (problem_.has_intercept()) settle_intercept();
      loss_.derivative(here_.margins, here_.y);
      if (problem_.has_intercept()) problem_.loss.balance(here_.y);
      problem_.slopes(here_.y, here_.slopes);
      moved_ = false;
    }
    point = here_;
    if (problem_.has_intercept() && loss_.kinked()) place_intercept(point, best_);
  }
  void judge(const Certifier& certifier, const Unit& unit) override {
    gap_ = certifier.best().gap();
    goal_ = std::max(unit.goal, std::numeric_limits<Real>::min());
    const Real scale = unit.scale / Real(k_);
    if (std::exchange(unit_, scale) != scale && loss_.kinked()) loss_.soften(softness_ * unit_);
  }
  void resync(const Point&) override { // it is `here_`
    if (problem_.has_intercept()) std::copy(here_.x.end() - k_, here_.x.end(), x_.end() - k_);
    certain_ = !loss_.kinked(); // centres and softness have changed since
    if (!set_.whole()) set_.ease(here_);
    value_ = loss_.value(here_.margins) + set_.penalty(x_);
    complete_ = set_.whole();
    if (complete_) return;
    complete_ = set_.choose(here_);
    x_ = set_.taken(here_.x);
  }

private:
  // Certificates want the best intercept of the loss itself. The softened loss has another, which rounds
  // arrive at; but they begin there.
  void settle_intercept() {
    const std::vector<Real> own(here_.x.end() - k_, here_.x.end());
    problem_.solve_intercept(here_);
    best_.assign(here_.x.end() - k_, here_.x.end());
    if (loss_.kinked() && settled_) place_intercept(here_, own);
    settled_ = true;
  }
  void place_intercept(Point& point, CVec intercept) const {
    const auto k = std::size_t(k_);
    Real* own = point.x.data() + point.x.size() - k;
    for (std::size_t i = 0; i < point.margins.size(); ++i) point.margins[i] += intercept[i % k] - own[i % k];
    std::copy(intercept.begin(), intercept.end(), own);
  }
  // True: the softened problem on the set is solved as well as it should be, or as it can be.
  bool round(Pulse& pulse) {
    model_.begin(pulse);
    Real target = std::max((complete_ ? 0.1 : 0.3) * gap_, 0.2 * goal_);
    if (complete_ && gap_ <= 1e4 * goal_) target = 0.2 * goal_;
    if (!begun()) target = infinity; // it is that of another problem
    const Index pass = problem_.design.stored() + Index(step_.size() + here_.x.size());
    const Index enough = pulse.entries() + (complete_ ? 100 : 10) * pass;
    for (int step = 0; step < 50 && pulse.entries() < enough; ++step) {
      model_.linearise(here_, std::exchange(certain_, false));
      if (model_.left()) return false;
      Real gap = restricted_gap(set_.blocks(), x_, model_.slopes(), value_);
      if (loss_.kinked()) gap += model_.intercept_gap();   // certificates solve for that of the loss itself
      if (step == 0) target = std::min(target, 0.1 * gap); // otherwise the round could perform no step
      if (gap <= target || (loss_.kinked() && step > 0 && gap <= 1e-15 * std::abs(value_))) return true;
      start_ = x_;
      // As the gap should fall; with l2 it falls with the square of what is left.
      const Real precision =
          loss_.kinked() ? 1e-6 : clip(0.5 * (strong_ ? std::sqrt(target / gap) : target / gap), 1e-3, 0.1);
      x_ = model_.solve(start_, precision, target, value_);
      if (model_.left() && !problem_.loss.quadratic())
        x_ = start_; // a model that is solved by half may give no descent
      const bool moved = search_line();
      if (model_.left()) return false;
      if (!moved) return true;
    }
    return false;
  }
  // Along the model's step, until P falls as it should. False: it is at rest.
  bool search_line() {
    change_.resize(x_.size());
    bool moved = false;
    Real promised = set_.penalty(x_) - set_.penalty(start_);
    for (std::size_t e = 0; e < x_.size(); ++e) {
      change_[e] = x_[e] - start_[e];
      moved = moved || change_[e] != 0;
    }
    if (!moved) return false;
    model_.products().forward(change_, step_);
    if (problem_.loss.quadratic() && problem_.has_intercept()) follow_intercept();
    const CVec s = problem_.loss.weights();
    for (std::size_t i = 0; i < step_.size(); ++i) promised += s[i / std::size_t(k_)] * here_.y[i] * step_[i];
    const Real rounding = 1e-13 * std::abs(value_); // near the optimum P cannot tell steps apart
    for (Real part = 1; part > 1e-10; part /= 2) {
      for (std::size_t i = 0; i < trial_.size(); ++i) trial_[i] = here_.margins[i] + part * step_[i];
      if (part < 1)
        for (std::size_t e = 0; e < x_.size(); ++e) x_[e] = start_[e] + part * change_[e];
      const Real value = loss_.value(trial_) + set_.penalty(x_);
      if (value <= value_ + 0.01 * part * std::min(promised, 0.0) + rounding) {
        const bool fell = value < value_ || promised < 0;
        value_ = value;
        here_.margins.swap(trial_);
        model_.trust(part);
        return fell;
      }
    }
    x_ = start_;
    return model_.trust(0);
  }
  // The Gram matrix was that of centred columns: the intercept takes back what their means have added.
  void follow_intercept() {
    const auto k = std::size_t(k_);
    std::vector<Real> means = problem_.column_sums(step_, true);
    for (std::size_t i = 0; i < step_.size(); ++i) step_[i] -= means[i % k];
    for (std::size_t c = 0; c < k; ++c) {
      change_[change_.size() - k + c] -= means[c];
      x_[x_.size() - k + c] -= means[c];
    }
  }

  const WideProblem& problem_;
  Index k_;
  bool strong_; // has every block an l2
  Real softness_;
  SoftWideLoss loss_;
  BlockSet set_;
  BlockModel model_;
  Point here_;
  std::vector<Real> best_;               // intercept of the loss itself
  int unsolved_ = 0;                     // rounds since centres last moved, when they should not
  std::vector<Real> x_, start_, change_; // over the set
  std::vector<Real> step_, trial_;       // over the samples
  Real gap_ = infinity, goal_ = 0, value_ = infinity, unit_ = 0;
  bool moved_ = true, settled_ = false, complete_ = false,
       certain_ = false; // are y and its slopes those of the last certificate?
};

} // namespace southwell
