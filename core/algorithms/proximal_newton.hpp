// Proximal Newton on working sets of features.
//
// An epoch is a round:
//
//   choose   features whose slopes break their optimality condition join the working set W, the worst
//            first; their columns are gathered (columns.hpp)
//   repeat   quadratic model of the loss around x on W; coordinate sweeps and Newton steps on the support
//            (model.hpp); a line search on P itself
//   until    the gap of the problem restricted to W is a fraction of the last full gap
//
// A certificate follows each round and brings the slopes of all features. Between certificates only W is
// touched.
#pragma once
#include "core/drive.hpp"
#include "core/newton/floor.hpp"
#include "core/newton/joining.hpp"
#include "core/newton/model.hpp"
#include "core/newton/soft_loss.hpp"
#include "core/screening.hpp"

namespace southwell {

struct NewtonSpec {
  Real softness = 1; // of kinks at first, in units of the zero model's objective; see SoftLoss
};

class ProximalNewton final : public Algorithm {
public:
  // Features that `screening` knows to be zero stay out of W.
  ProximalNewton(const Problem& problem, Screening& screening, CVec x, CVec y, const NewtonSpec& spec)
      : problem_(&problem), screening_(screening), spec_(spec), columns_(problem.design), model_(columns_),
        loss_(problem.loss, problem.loss.smooth() ? 0 : spec.softness),
        floor_(problem.loss.piecewise() && !problem.loss.quadratic()), here_(problem),
        slot_(here_.x.size(), -1), h_(here_.y.size()), residual_(h_.size()), trial_(h_.size()),
        step_(h_.size()) {
    here_.x = within_bounds(problem, x);
    model_.smooth(!problem.loss.piecewise());
    if (loss_.kinked()) loss_.recentre(within_domain(problem, y));
    std::vector<Index> names;
    for (Index j = 0; j < Index(slot_.size()); ++j)
      if (here_.x[j] != 0 || problem.penalty[j].l1 == 0) names.push_back(j);
    enter(names);
  }
  ProximalNewton(const ProximalNewton&) = delete; // its parts look at each other

  bool eager() const override { return true; }
  bool begun() const override { return ease_ == 1; }
  void epoch(Pulse& pulse) override {
    moved_ = true;
    model_.ledger().attend(pulse);
    const bool last = foreseen_ || (complete_ && gap_ <= 1000 * goal_); // hardly any other feature will come
    Real target = last ? 0.2 * goal_ : std::max((complete_ ? 0.1 : 0.3) * gap_, 0.2 * goal_),
         change = infinity;
    if (!begun()) target = infinity; // it is that of another problem
    const Index pass = problem_->design.stored() + Index(h_.size() + slot_.size());
    // Then a certificate is due, the sooner the more W lacks: it brings that.
    const Index enough = pulse.entries() + (complete_ ? 50 : 3) * pass;
    bool solved = false; // as well as it should be, or as it can be
    for (int step = 0; step < 50 && pulse.entries() < enough && !solved; ++step) {
      linearise();
      if (model_.ledger().stopped()) return;
      const Real left = restricted_gap();
      if (step == 0) target = std::min(target, 0.1 * left); // otherwise the round could perform no step
      // Down to rounding there is no more to be had; but a step is made: slopes without a penalty become
      // zero.
      const bool rounding = loss_.kinked() && step > 0 && left <= 1e-15 * std::abs(value_);
      if (solved = left <= target || rounding; solved) break;
      if (solve_model(change)) return restore(start_);
      model_.place_intercept(start_);
      solved = !search_line();
    }
    // The method of multipliers wants the softened problem solved before its centres move.
    if (!loss_.kinked() || (complete_ && !solved && ++unsolved_ < 20)) return;
    unsolved_ = 0;
    loss_.recentre(here_.y);
    loss_.soften(std::max(0.6 * loss_.softness(), 0.01 * spec_.softness * unit_));
  }
  void locate(Point& point) override {
    if (moved_) {
      for (std::size_t k = 0; k < names_.size(); ++k) here_.x[names_[k]] = model_.coordinates()[k].x;
      compute_margins();
      loss_.derivative(here_.margins, here_.y);
      if (problem_->has_intercept()) balance(problem_->loss.weights(), here_.y);
      problem_->slopes(here_.y, here_.slopes);
      moved_ = false;
    }
    point = here_;
    if (problem_->has_intercept() && loss_.kinked()) place_intercept(point, best_intercept_);
  }
  void judge(const Certifier& certifier, const Unit& unit) override {
    gap_ = certifier.best().gap();
    goal_ = std::max(unit.goal, std::numeric_limits<Real>::min());
    if (std::exchange(unit_, unit.scale) != unit.scale && loss_.kinked())
      loss_.soften(spec_.softness * unit_);
  }
  void resync(const Point&) override { // it is `here_`
    if (problem_->has_intercept()) model_.coordinates()[slot_.back()].x = here_.x.back();
    ease();
    value_ = loss_.value(here_.margins) + penalty_value();
    choose();
  }
  bool repenalise(const Problem& problem) override {
    const Real before = problem_->penalty[0].l1, now = problem.penalty[0].l1;
    strong_ = now > 0 && now < before ? std::max(2 - before / now, 0.0) : 1;
    problem_ = &problem;
    model_.ledger().forget_efforts();
    ease_ = 1;
    penalise();
    return true;
  }
  std::vector<Effort> parts() const override { return {model_.ledger().newton_effort()}; }

private:
  using Slots = Model::Slots;

  ScalarElasticNet eased(Index j) const {
    ScalarElasticNet g = problem_->penalty[j];
    g.l1 *= ease_;
    return g;
  }
  // From zero a small l1 is reached by way of larger ones, a quarter of the last each round: with all slopes
  // far above it, too many features would join W, and the wrong ones. Where W may hold them all, no harm is
  // done by that.
  void ease() {
    const Real before = ease_;
    ease_ = std::max(fresh_ ? largest_violation() / 4 : ease_ / 4, 1.0);
    fresh_ = false;
    if (ease_ != before) penalise();
  }
  Real largest_violation() const { // |slope| / l1; at zero, else none
    Real most = 1;
    if (few(Index(slot_.size()))) return most;
    for (Index j = 0; j < problem_->penalty.penalised(); ++j) {
      if (here_.x[j] != 0) return 1;
      if (const Real l1 = problem_->penalty[j].l1; l1 > 0)
        most = std::max(most, std::abs(here_.slopes[j]) / l1);
    }
    return most;
  }
  void penalise() {
    for (std::size_t k = 0; k < names_.size(); ++k) model_.coordinates()[k].g = eased(names_[k]);
  }

  void enter(std::span<const Index> names) {
    columns_.join(names);
    for (const Index j : names) {
      slot_[j] = std::int32_t(names_.size());
      names_.push_back(j);
      model_.coordinates().push_back({here_.x[j], eased(j)});
    }
  }
  void choose() {
    Joining joining = joining_beyond(strong_);
    // Sparse data that lie by rows are read as a whole, whatever joins: those that will in the next few
    // points of a path come along.
    if (strong_ < 1 && !joining.names.empty() && problem_->design.lies_by_rows() && !few(Index(slot_.size())))
      joining.names = joining_beyond(std::pow(strong_, 4)).names;
    complete_ = begun() && joining.complete;
    enter(joining.names);
    foreseen_ = strong_ < 1;
    strong_ = 1;
  }
  // Those whose slopes are beyond this part of l1.
  Joining joining_beyond(Real part) {
    const bool plain = problem_->penalty.plain();
    const Real enough = plain ? part * eased(0).l1 : 0;
    const auto off = [&](Index j) {
      const Real z = here_.slopes[j];
      if (plain && !(std::abs(z) > enough)) return Real(0); // as most are, at a glance
      if (screening_.feature(j)) return Real(0);
      ScalarElasticNet g = eased(j);
      g.l1 *= part;
      return g.subdifferential(0).distance(-z);
    };
    const CVec norms = screening_.column_norms();
    return choose_joining(slot_, here_.x, norms, screening_.total_norm(), off);
  }
  Real penalty_value() const {
    Real total = 0;
    for (const Coordinate& c : model_.coordinates()) total += c.g.value(c.x);
    return total;
  }
  void compute_margins() { // from the gathered columns: x is zero elsewhere
    std::vector<Real> zero(names_.size());
    if (problem_->has_intercept()) zero[slot_.back()] = here_.x.back();
    model_.gained(zero, here_.margins);
    if (problem_->has_intercept()) settle_intercept();
  }
  // Certificates want the best intercept of the loss itself. The softened loss has another, which rounds
  // arrive at; but they begin there.
  void settle_intercept() {
    const Real own = here_.x.back();
    solve_intercept(*problem_, here_);
    best_intercept_ = here_.x.back();
    if (loss_.kinked() && !fresh_) place_intercept(here_, own);
  }
  static void place_intercept(Point& point, Real intercept) {
    point.margins = margins_with(point, intercept);
    point.x.back() = intercept;
  }

  Index intercept() const { return problem_->has_intercept() ? slot_.back() : -1; } // its slot

  // First and second derivatives at the present margins, and the model there.
  void linearise() {
    loss_.derivative(here_.margins, here_.y);
    loss_.curvature(here_.y, h_);
    const CVec s = problem_->loss.weights();
    model_.flats(floor_.part(),
                 floor_.pieces()     ? loss_.most_curvature()
                 : floor_.part() > 0 ? largest(h_, s)
                                     : 0,
                 s);
    for (std::size_t i = 0; i < h_.size(); ++i) residual_[i] = s[i] * here_.y[i];
    // A model that is steep and straight has no minimum: the logistic loss is so, far on the wrong side.
    if (!problem_->loss.piecewise())
      for (std::size_t i = 0; i < h_.size(); ++i) h_[i] = std::max(h_[i], 1e-4 * std::abs(residual_[i]));
    model_.begin(residual_, h_, problem_->loss.quadratic(), intercept());
    start_.resize(names_.size());
    for (std::size_t k = 0; k < names_.size(); ++k) start_[k] = model_.coordinates()[k].x;
  }
  // About the gap of the problem restricted to W, with y scaled to be feasible there; its second-order part
  // is rough.
  Real restricted_gap() const {
    const auto free = [](const Coordinate& c) { return c.g.feasible_scale(-c.slope) == 0; };
    Real scale = 1, total = 0;
    for (const Coordinate& c : model_.coordinates())
      scale = free(c) ? scale : std::min(scale, c.g.feasible_scale(-c.slope));
    for (const Coordinate& c : model_.coordinates()) {
      const Real z = scale * c.slope;
      if (free(c))
        total += c.curvature > 0 ? z * z / c.curvature : 0;
      else
        total += std::max(c.g.value(c.x) + c.g.conjugate(-z) + z * c.x, 0.0);
    }
    return total + (1 - scale) * (1 - scale) * std::abs(value_);
  }

  // Sweeps over those that may move, until the model is solved well enough to be worth a new one. A Newton
  // step on the support comes once as much has been spent on sweeps as it costs, if they promise to cost as
  // much again: whichever is better, no more than twice its price is paid. True: leave the epoch now.
  bool solve_model(Real& before) {
    Slots hot;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const Coordinate& c = model_.coordinates()[k];
      if (Index(k) == intercept()) continue;
      if (c.x != 0 || c.g.l1 == 0 || std::abs(c.slope) > 0.9 * c.g.l1) hot.push_back(std::int32_t(k));
    }
    if (model_.through_hessian().pays(hot)) {
      const Real part = problem_->loss.quadratic() ? 1e-9 : 1e-3; // the model is the problem, or near it
      before = model_.through_hessian().solve(hot, part, thinning(hot));
      return model_.ledger().stopped();
    }
    Slots support = support_of();
    const bool smooth = support == hot && std::all_of(hot.begin(), hot.end(), [&](Index k) {
                          return model_.coordinates()[k].g.l1 == 0;
                        });
    if (smooth && model_.newton_cost(hot) <= 10 * Real(columns_.entries())) { // no signs to find first
      sure_ = model_.newton(support);
      if (sure_ || model_.ledger().stopped()) return model_.ledger().stopped();
    }
    Real first = 0, now = infinity, goal = 0, pace = 0.9999;
    model_.begin_sweeps(hot);
    for (int k = 0; k < 10 && now > goal; ++k) {
      const Index work = model_.ledger().work();
      const Real last = std::exchange(now, model_.sweep(hot)), price = Real(model_.ledger().work() - work);
      spent_ += price;
      if (model_.ledger().stopped()) return true;
      if (k == 0) {
        first = now;
        goal = 0.1 * std::min(first, before);
      }
      model_.extrapolate(hot);
      Slots next = support_of();
      const bool settled = 20 * difference(support, next) <= Index(next.size()) + 20;
      support = std::move(next);
      if (!(now > goal) || !settled) continue;
      if (k > 0) pace = clip(now / last, 0.01, 0.9999);
      // The gap falls with the square of the changes.
      const Real cost = model_.newton_cost(support),
                 to_come = price * std::log(std::max(gap_ / goal_, 2.0)) / (-2 * std::log(pace));
      if (spent_ >= (sure_ ? 0.1 : 1) * cost && to_come >= cost) {
        sure_ = model_.newton(support);
        spent_ = 0;
        if (model_.ledger().stopped()) return true;
        if (sure_) k = std::max(k, 7);
        support = support_of();
        model_.begin_sweeps(hot);
      }
    }
    before = first;
    return false;
  }
  // While steps are large, H need not be precise: of every so many rows one will do, if they are many.
  Index thinning(const Slots& hot) const {
    if (!rough_ || gap_ < 0.1 * unit_) return 1;
    if (problem_->loss.piecewise()) return 1; // where pieces meet, a sample tells nothing of others
    const Real every = model_.samples() / std::max(20 * Real(hot.size()), 2000.0);
    return every >= 3 ? Index(every) : 1;
  }
  static Index difference(const Slots& a, const Slots& b) { // how many are in one alone
    Index common = 0;
    for (std::size_t s = 0, t = 0; s < a.size() && t < b.size();)
      if (a[s] == b[t]) {
        ++common, ++s, ++t;
      } else {
        a[s] < b[t] ? ++s : ++t;
      }
    return Index(a.size() + b.size()) - 2 * common;
  }
  Slots support_of() const {
    Slots support;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      if (model_.coordinates()[k].supports() && Index(k) != intercept()) support.push_back(std::int32_t(k));
    }
    return support;
  }
  // Along the model's step, until P falls as it should. False: it is at rest.
  bool search_line() {
    model_.gained(start_, step_);
    std::vector<Real> end(names_.size());
    Real promised = model_.descent(start_);
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const Coordinate& c = model_.coordinates()[k];
      end[k] = c.x;
      promised += c.g.value(end[k]) - c.g.value(start_[k]);
    }
    const Real rounding =
        1e-13 * std::abs(value_); // near the optimum P cannot tell steps apart; slopes still can
    for (Real part = 1; part > 1e-12; part /= 2) {
      for (std::size_t i = 0; i < trial_.size(); ++i) trial_[i] = here_.margins[i] + part * step_[i];
      if (part < 1)
        for (std::size_t k = 0; k < names_.size(); ++k)
          model_.coordinates()[k].x = start_[k] + part * (end[k] - start_[k]);
      const Real value = loss_.value(trial_) + penalty_value();
      if (value <= value_ + 0.01 * part * promised + rounding) {
        const bool moved = value < value_ || promised < 0;
        rough_ = rough_ && value_ - value > 0.01 * unit_;
        value_ = value;
        here_.margins.swap(trial_);
        floor_.gone(part);
        return moved;
      }
    }
    restore(start_);
    floor_.gone(0);
    return false;
  }
  static Real largest(CVec h, CVec s) { // curvature of a sample
    Real most = 0;
    for (std::size_t i = 0; i < h.size(); ++i) most = s[i] > 0 ? std::max(most, h[i] / s[i]) : most;
    return most;
  }
  void restore(CVec x) {
    for (std::size_t k = 0; k < names_.size(); ++k) model_.coordinates()[k].x = x[k];
  }

  const Problem* problem_;
  Screening& screening_;
  NewtonSpec spec_;
  WorkingColumns columns_;
  Model model_;
  SoftLoss loss_;
  Floor floor_;
  Point here_; // between certificates its margins are those of the model's x, the rest is of the last one
  std::vector<std::int32_t> slot_; // of each feature in W, or -1
  std::vector<Index> names_;       // of each slot
  std::vector<Real> h_, residual_, trial_, step_, start_;
  Real value_ = infinity, gap_ = infinity, goal_ = 0, unit_ = 0;
  // The part of l1 beyond which slopes make a feature join; at a new penalty, by the strong rule
  // |z_j| > 2 l1 - l1_before, it is less.
  Real strong_ = 1;
  Real best_intercept_ = 0;
  Real ease_ = 1;         // l1 is this many times as large; see ease()
  bool fresh_ = true;     // has it not moved yet?
  Real spent_ = 0;        // entries touched by sweeps since the last Newton step
  int unsolved_ = 0;      // rounds since centres last moved, when they should not
  bool rough_ = true;     // are steps still large?
  bool sure_ = false;     // was the last Newton step taken in full?
  bool complete_ = false; // did few features have to join W?
  bool foreseen_ = false; // or has the strong rule named those that will?
  bool moved_ = true;     // since the last certificate
};

} // namespace southwell
