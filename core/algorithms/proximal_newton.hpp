// Proximal Newton on working sets: of numbers (features) or of blocks (groups, rows of tasks or classes).
//
// An epoch is a round:
//
//   choose   units of the penalty whose slopes break their optimality condition join the working set W, the
//            worst first; their columns are gathered (working_set.hpp)
//   repeat   quadratic model of the loss around x on W and its minimiser (numbers.hpp, blocks.hpp); a line
//            search on P itself
//   until    the gap of the problem restricted to W is a fraction of the last full gap
//
// A certificate follows each round and brings the slopes of all features. Between certificates only W is
// touched. What has the length of the samples is behind an interface (samples.hpp). Kinks of the loss are
// softened, a little less from round to round, around centres that follow the iterate (soft_loss.hpp).
#pragma once
#include "core/drive.hpp"
#include "core/newton/samples.hpp"
#include "core/newton/secant.hpp"
#include "core/newton/working_set.hpp"

namespace southwell {

// Model: Numbers or Blocks, P the problem they belong to. Model::Source: the class of its samples.
template <class P, class Model> class ProximalNewton : public Algorithm {
public:
  // `softness` of kinks at first, in units of the zero model's objective for a margin. Units that `screening`
  // knows to be zero stay out of W. `x` is within its bounds.
  ProximalNewton(const P& problem, const Policy& policy, Screening<P>& screening, std::vector<Real> x, CVec y,
                 Real softness)
      : policy_(policy), screening_(screening), softness_(softness), quadratic_(problem.loss.quadratic()),
        intercept_(problem.has_intercept() ? std::size_t(problem.width()) : 0),
        pass_(Real(problem.design.stored() + problem.primal_size() + problem.dual_size())),
        width_(problem.width()), x_(std::move(x)), slopes_(x_.size()), set_(problem, policy_, x_),
        products_(problem, set_), samples_(problem, products_, y, softness, policy_),
        model_(problem, policy_, set_, products_, samples_),
        floor_(policy_, problem.loss.piecewise() && !problem.loss.quadratic()) {
    model_.put(set_.taken(x_));
  }
  ProximalNewton(const ProximalNewton&) = delete; // its parts refer to each other

  bool eager() const override { return true; }
  bool begun() const override { return !set_.eased(); }
  void epoch(Pulse& pulse) override {
    moved_ = true;
    model_.ledger().attend(pulse);
    const Index before = pulse.entries();
    const bool solved = round(pulse);
    spent_ = Real(pulse.entries() - before);
    if (!samples_.kinked() || model_.ledger().stopped()) return;
    // In the method of multipliers the softened problem is solved before the centres move.
    if (!solved && ++unsolved_ < policy_.unsolved_rounds) return;
    unsolved_ = 0;
    samples_.recentre();
    samples_.soften(
        std::max(policy_.softer_by * samples_.softness(), policy_.least_softness * softness_ * unit_));
  }
  void locate(Point& point) override {
    if (moved_) {
      std::vector<Real> x = model_.x();
      set_.put_back(x, x_);
      const Vec own = Vec(x_).last(intercept_);
      std::vector<Real> guess(own.begin(), own.end());
      std::fill(own.begin(), own.end(), 0.0); // which might be so large that margins drown in its rounding
      samples_.place(set_.taken(x_), guess);
      std::copy(guess.begin(), guess.end(), own.begin());
      samples_.slopes(slopes_);
      moved_ = false;
    }
    point.x = x_;
    point.slopes = slopes_;
    samples_.tell(point);
  }
  void judge(const Certifier& certifier, const Unit& unit) override {
    gap_ = certifier.best().gap();
    goal_ = std::max(unit.goal, std::numeric_limits<Real>::min());
    const Real scale = unit.scale / Real(width_);
    if (std::exchange(unit_, scale) != scale && samples_.kinked()) samples_.soften(softness_ * unit_);
  }
  void resync(const Point&) override { // it is where this stands
    set_.ease(x_, slopes_);
    model_.penalise();
    foreseen_ = set_.foreseen();
    complete_ = set_.choose(x_, slopes_, screening_);
    model_.put(set_.taken(x_));
    value_ = samples_.value() + model_.penalty(model_.x());
    certified_ = !samples_.kinked(); // otherwise centres and softness have changed since
    if (secant_.due()) ahead_ = set_.ahead(x_, secant_.ahead(x_));
  }
  bool repenalise(const Question& question) override {
    const P* problem = dynamic_cast<const P*>(&question);
    if (!problem || problem->penalty.whole() != set_.whole()) return false;
    secant_.pass(x_, set_.kink(), problem->penalty.kink(), policy_.secant);
    ahead_.clear();
    set_.repenalise(*problem);
    model_.ledger().forget_efforts();
    model_.penalise();
    return true;
  }
  std::vector<Effort> parts() const override { return {model_.ledger().newton_effort()}; }

private:
  // True: the problem on W, softened if the loss has kinks, is solved to its target or to rounding.
  bool round(Pulse& pulse) {
    const bool digits = goal_ <= policy_.all_digits * unit_ * Real(width_);
    // In the last round W is complete, or nearly so.
    const bool all = set_.whole() && !samples_.kinked(); // then its gap is that of the problem
    // Where rounds cost less than the certificates between them, W is solved further in each.
    const Real cheap = clip(spent_ / (policy_.certificate * pass_), policy_.cheapest, 1);
    const bool last = all || foreseen_ ||
                      (complete_ && (digits || set_.full() || gap_ <= policy_.last_round / cheap * goal_));
    const Real part = cheap * (complete_ ? policy_.part_once_complete : policy_.part_while_joining),
               least = (digits ? policy_.beyond_goal : 1) * policy_.part_of_goal * goal_;
    Real target = last ? least : std::max(part * gap_, least);
    if (!begun()) target = infinity; // the gap is that of another problem
    // After so much work a certificate is due. It finds the units that W lacks, so it comes early if many do.
    const Real passes = complete_ ? policy_.passes_once_complete : policy_.passes_while_joining;
    const Index enough = all ? std::numeric_limits<Index>::max() : pulse.entries() + Index(passes * pass_);
    model_.begin_round();
    bool bent = !ahead_.empty() && go_ahead();
    for (int step = 0; step < int(policy_.steps_a_round) && pulse.entries() < enough; ++step) {
      const bool changed = samples_.expand(floor_) || bent;
      bent = false;
      model_.begin(changed, std::exchange(certified_, false) ? CVec(slopes_) : CVec());
      if (model_.ledger().stopped()) return false;
      const Real left = model_.restricted_gap(value_);
      if (step == 0) target = std::min(target, policy_.part_of_first * left);
      // Below rounding the gap cannot fall further. One step is made all the same, after which the slopes of
      // unpenalised coefficients are zero.
      const bool rounding =
          samples_.kinked() && step > 0 && left <= policy_.solved_to_rounding * std::abs(value_);
      if (left <= target || rounding) return true;
      start_ = model_.x();
      model_.solve({gap_, goal_, unit_, left, target, value_, large_});
      if (model_.ledger().stopped() && !quadratic_) { // a half-solved model may give no descent direction
        model_.put(start_);
        return false;
      }
      if (!search_line()) return true;
      if (model_.ledger().stopped()) return false;
    }
    return false;
  }
  // To where the last two points of a path lead, if P is lower there. True: second derivatives have changed.
  bool go_ahead() {
    const bool bent = samples_.expand(floor_);
    start_ = model_.x();
    change_.resize(start_.size());
    for (std::size_t e = 0; e < start_.size(); ++e) change_[e] = ahead_[e] - start_[e];
    samples_.aim(change_);
    const std::vector<Real> whole{1.0};
    const Real value = samples_.values(whole)[0] + model_.penalty(ahead_);
    if (value < value_) {
      value_ = value;
      samples_.go(1);
      model_.put(ahead_);
      certified_ = false;
    }
    ahead_.clear();
    return bent;
  }
  // Line search along the model's step, until P falls enough (Armijo). False: no step lowers P.
  bool search_line() {
    const std::vector<Real> end = model_.x();
    change_.resize(end.size());
    bool moved = false;
    for (std::size_t e = 0; e < end.size(); ++e) {
      change_[e] = end[e] - start_[e];
      moved = moved || change_[e] != 0;
    }
    if (!moved) return false;
    const Real promised = std::min(samples_.aim(change_) + model_.penalty(end) - model_.penalty(start_), 0.0);
    const Real rounding =
        policy_.rounding * std::abs(value_); // near the optimum P cannot tell steps apart; slopes still can
    std::vector<Real> lengths, losses, trial;
    for (Real length = 1; length > policy_.shortest_step;) {
      lengths.clear();
      for (Index k = 0; k < samples_.lengths_at_once(); ++k, length /= 2) lengths.push_back(length);
      losses = samples_.values(lengths);
      for (std::size_t k = 0; k < lengths.size(); ++k) {
        const Real part = lengths[k];
        trial = end;
        if (part < 1)
          for (std::size_t e = 0; e < end.size(); ++e) trial[e] = start_[e] + part * change_[e];
        const Real value = losses[k] + model_.penalty(trial);
        if (!(value <= value_ + policy_.sufficient * part * promised + rounding)) continue;
        const bool fell = value < value_ || promised < 0;
        large_ = large_ && value_ - value > policy_.rough_decrease * unit_;
        value_ = value;
        samples_.go(part);
        if (part < 1) model_.put(trial);
        stepped(part);
        return fell;
      }
    }
    model_.put(start_);
    const bool again = !quadratic_ && floor_.part() < 1; // with more curvature, another model may give a step
    stepped(0);
    return again;
  }
  void stepped(Real part) { // 0: no step gained anything
    floor_.gone(part);
    model_.stepped(part);
  }

  const Policy policy_;
  Screening<P>& screening_;
  Real softness_;
  bool quadratic_;
  std::size_t intercept_; // numbers in it
  Real pass_;             // entries touched by a pass
  Index width_;
  std::vector<Real> x_, slopes_; // of all features, at the last certificate
  WorkingSet<P> set_;
  typename Model::Products products_;
  typename Model::Source samples_;
  Model model_;
  Floor floor_;
  Secant secant_;
  std::vector<Real> start_, change_; // over W
  std::vector<Real> ahead_;          // over W: where a path is expected to lead, or empty
  Real value_ = infinity, gap_ = infinity, goal_ = 0, unit_ = 0;
  Real spent_ = infinity;  // entries touched by the last round
  int unsolved_ = 0;       // rounds since centres last moved, when they should not
  bool large_ = true;      // are steps still large?
  bool complete_ = false;  // did few units have to join W?
  bool foreseen_ = false;  // or has the strong rule named those that will?
  bool certified_ = false; // are the slopes those at the present margins?
  bool moved_ = true;      // since the last certificate
};

} // namespace southwell
