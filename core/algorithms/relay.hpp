// Several movers, one state: the mover that lowers the gap fastest continues.
//
// A primal iterate gives a dual one and the other way round, and the certificate accepts any pair. So a mover
// can take over from another at any certificate: it begins at the best primal and the best dual point seen.
//
// The mover that begins is chosen by what each is expected to cost, and the choice is reviewed after a few
// rounds. Later the measured fall of log(gap), by the second or, where runs must repeat, by the entry
// touched, decides. A stint (the rounds of one mover until the next decision) is twice as long as all before
// it, but the first of a mover is a quarter of that: no more than a few times the price of the better one is
// paid. A mover that has stalled is replaced.
#pragma once
#include "core/drive.hpp"
#include "core/policy.hpp"
#include "core/screening.hpp"
#include "core/support/helpers.hpp"
#include <functional>
#include <memory>

namespace southwell {

// P: a problem over numbers or over blocks.
template <class P> class Relay final : public Algorithm {
public:
  using Make = std::function<std::unique_ptr<Algorithm>(CVec x, CVec y, Screening<P>& screening)>;
  struct Mover {
    const char* name;
    Make make;
    Real price; // of touching an entry, in units that are the same for all
    // Passes over the data that a solution will take: expected + by_square mean_i ||a_i||^2.
    Real expected, by_square;
    bool sparse;      // does a solution with zeros take fewer?
    bool uncertain;   // is this number unreliable where n < d, while a few rounds are cheap?
    Real divided = 0; // the part of its time that threads divide
  };

  // `timed`: rates are by the second.
  Relay(const P& problem, const Policy& policy, std::vector<Mover> movers, bool timed, CVec x, CVec y)
      : problem_(&problem), policy_(policy), screening_(problem), timed_(timed),
        trial_(policy.first_trial * Real(problem.design.stored())), x_(x.begin(), x.end()),
        y_(y.begin(), y.end()) {
    for (Mover& mover : movers) runners_.push_back({std::move(mover)});
  }

  bool eager() const override { return !current_ || current_->eager(); }
  Real estimate() const override {
    return current_ ? current_->estimate() : std::numeric_limits<Real>::quiet_NaN();
  }
  void epoch(Pulse& pulse) override {
    const Index before = pulse.entries();
    const Clock clock;
    current_->epoch(pulse);
    Effort& effort = runners_[now_].effort;
    ++effort.rounds;
    ++stint_.rounds;
    ++recent_.rounds;
    effort.entries += pulse.entries() - before;
    effort.seconds += clock.seconds();
    stint_.entries += round_ = pulse.entries() - before;
    stint_.seconds += clock.seconds();
  }
  void locate(Point& point) override {
    if (!current_) begin();
    current_->locate(point);
    located_ = &point;
  }
  void judge(const Certifier& certifier, const Unit& unit) override {
    current_->judge(certifier, unit);
    screening_.update(*located_, certifier, unit);
    const Real gap = std::max(certifier.best().gap(), unit.rounding);
    if (std::isfinite(gap_) && stint_.entries > 0) {
      const Real fall = std::log(gap_ / gap);
      runners_[now_].effort.fall += fall;
      stint_.fall += fall;
      recent_.fall += fall;
    }
    watch_pace(std::log(gap / unit.goal));
    gap_ = gap;
    certifier_ = &certifier;
  }
  void resync(const Point& point) override {
    if (!current_->begun()) {
      easy_ = stint_.rounds;
    } else if (undecided_ > 0 && stint_.rounds - easy_ >= undecided_) {
      // Dual points may be of little use for a few epochs, until an intercept has found its place; and these
      // are cheap.
      const bool early = runners_[now_].mover.uncertain && !(stint_.fall > policy_.judged_from) &&
                         Real(undecided_) < policy_.judged_by * policy_.rounds_at_first;
      undecided_ = early ? 2 * undecided_ : 0;
      if (early) return current_->resync(point);
      if (const std::size_t best = expect(); best != now_) hand_over(best, *certifier_);
    }
    // Rounds may be long: a trial ends with the round whose end is nearest to the trial's length.
    if (!successor_ &&
        (runners_[now_].mover.price * (Real(stint_.entries) + Real(round_) / 2) >= trial_ || slow_))
      decide(*certifier_);
    if (!successor_) return current_->resync(point);
    past_ = parts();
    current_ = std::move(successor_); // it has a point of its own
    Point own(*problem_);
    current_->locate(own);
    current_->resync(own);
  }
  bool repenalise(const Question& question) override {
    const P* problem = dynamic_cast<const P*>(&question);
    if (!problem || !current_ || now_ != 0 || successor_ || !current_->repenalise(question)) return false;
    runners_.resize(1); // the others were made for another penalty
    undecided_ = 0;
    problem_ = problem;
    screening_.repenalise(*problem);
    gap_ = infinity;
    past_.clear();
    for (Runner& runner : runners_) runner.effort = {};
    return true;
  }
  // By mover; Newton steps, which are counted apart too, are parts of primal rounds, and not counted twice.
  Account account() const override {
    Account account{{}, screening_.features(), screening_.samples()};
    for (const Runner& runner : runners_) {
      account.efforts.push_back(runner.effort);
      account.efforts.back().mover = runner.mover.name;
    }
    for (const Effort& part : parts()) {
      account.efforts[0].entries -= part.entries; // of the first mover, the primal one
      account.efforts[0].seconds -= part.seconds;
      account.efforts.push_back(part);
    }
    return account;
  }

private:
  struct Runner {
    Mover mover;
    Effort effort{};
    Real outlook = 0; // what it is expected to cost, in units of the stored entries
    Real rate = -1;   // fall of log(gap) a second or an entry, in its last stint; < 0: unknown
  };
  // Here it is known whether there are threads to share the work, from which movers gain more or less: as
  // much as from two, so that more of them make the same choices.
  void begin() {
    const Real others = threads_given > 1 ? 0.5 : 0;
    for (Runner& runner : runners_) {
      Mover& mover = runner.mover;
      for (Real* number : {&mover.price, &mover.expected, &mover.by_square})
        *number *= 1 - mover.divided * others;
    }
    if (runners_.size() > 1) {
      if (!sparse()) now_ = first_mover();
      undecided_ = Index(sparse() ? policy_.rounds_if_sparse : policy_.rounds_at_first);
    }
    current_ = runners_[now_].mover.make(x_, y_, screening_);
    x_ = y_ = {};
  }
  // With fewer samples than features the mover whose cost is uncertain begins, unless Newton's method is
  // expected to take hardly more than the rounds before the first decision.
  std::size_t first_mover() {
    if (problem_->design.rows() < problem_->design.cols() && runners_[0].mover.expected > policy_.hardly_more)
      for (std::size_t k = 0; k < runners_.size(); ++k)
        if (runners_[k].mover.uncertain) return k;
    return expect();
  }
  // Can kinks of the penalty make a solution sparse?
  bool sparse() const { return problem_->penalty.kink() > 0; }
  // Is the unit in the support, or on its way there?
  bool at_work(Index u) const {
    bool nonzero = false;
    const Index k = problem_->width();
    problem_->penalty.each_feature(u, [&](Index j) {
      for (Index c = 0; c < k; ++c) nonzero = nonzero || certifier_->x()[j * k + c] != 0;
    });
    return nonzero || problem_->penalty.violation(u, certifier_->slopes(), 1) > 0;
  }
  Real mean_square() { // mean_i ||a_i||^2
    const CVec squares = screening_.row_norms(), s = problem_->loss.weights();
    Real total = 0;
    for (std::size_t i = 0; i < squares.size(); ++i) total += s[i] * squares[i];
    return total;
  }
  // The mover that is expected to finish first. The part of the data in the final working set is estimated
  // from the units at work, weighted by their squared norms. At x = 0 that is too much: where l1 can make a
  // solution sparse, the choice is made after two rounds.
  std::size_t expect() {
    Real broken = 0, all = 0;
    if (sparse()) {
      const CVec norms = screening_.unit_norms();
      for (Index u = 0; u < Index(norms.size()); ++u) {
        if (!problem_->penalty.kinked(u)) continue;
        broken += at_work(u) ? norms[u] : 0;
        all += norms[u];
      }
    } else {
      all = broken = mean_square();
    }
    for (Runner& runner : runners_) {
      const Mover& mover = runner.mover;
      runner.outlook =
          (mover.expected + mover.by_square * all) * (mover.sparse && all > 0 ? broken / all : 1);
    }
    const auto cost = [&](std::size_t k) {
      const Mover& mover = runners_[k].mover;
      const Real outlook = runners_[k].outlook;
      if (k != now_ || stint_.entries == 0) return outlook;
      if (!(stint_.fall > 0)) return infinity;
      const Real measured =
          mover.price * Real(stint_.entries) / Real(problem_->design.stored()) * policy_.digits / stint_.fall;
      return mover.sparse ? std::min(outlook, measured) : measured;
    };
    std::size_t best = now_;
    for (std::size_t k = 0; k < runners_.size(); ++k)
      if (cost(k) < (best == now_ && stint_.entries > 0 ? policy_.change_of_mover : 1) * cost(best)) best = k;
    trial_ = clip(policy_.trial_by_outlook * cost(best), policy_.shortest_trial, policy_.longest_trial) *
             Real(problem_->design.stored());
    return best;
  }
  void hand_over(std::size_t to, const Certifier& certifier) {
    now_ = to;
    stint_ = recent_ = {};
    successor_ = runners_[to].mover.make(certifier.x(), certifier.y(), screening_);
  }
  // The parts of movers that were replaced, and of the present one.
  std::vector<Effort> parts() const override {
    std::vector<Effort> all = past_;
    if (!current_) return all;
    for (const Effort& part : current_->parts()) {
      if (all.empty()) all.push_back({part.mover});
      all[0].rounds += part.rounds;
      all[0].entries += part.entries;
      all[0].seconds += part.seconds;
    }
    return all;
  }
  // Rounds may be so cheap that a trial takes more of them than a solve has, a thousand by default. A mover
  // that would need more than pace_ahead times its last pace_window rounds is slow, and is replaced.
  void watch_pace(Real left) { // log(gap / goal)
    const bool due = Real(recent_.rounds) >= policy_.pace_window;
    slow_ = due && runners_.size() > 1 && policy_.pace_ahead * recent_.fall < left;
    if (due) recent_ = {};
  }
  // The trial of the present mover is over: it continues unless another was faster, or one that has not moved
  // yet is expected to be twice as fast.
  void decide(const Certifier& certifier) {
    Runner& runner = runners_[now_];
    const Real units = runner.mover.price * Real(stint_.entries), spent = timed_ ? stint_.seconds : units;
    const bool stuck = stint_.fall < policy_.stuck || slow_;
    runner.rate = stuck ? 0 : stint_.fall / spent;
    stint_ = {};
    const auto rate = [&](std::size_t k) {
      const auto& [mover, effort, outlook, rate] = runners_[k];
      return rate >= 0 ? rate
                       : policy_.change_of_mover * policy_.digits /
                             (outlook * Real(problem_->design.stored())) * units / spent;
    };
    const bool replace = stuck && runners_.size() > 1;
    std::size_t best = replace ? (now_ + 1) % runners_.size() : now_;
    for (std::size_t k = 0; k < runners_.size(); ++k)
      if (rate(k) > rate(best) && !(replace && k == now_)) best = k;
    if (best == now_) return;
    spent_ += units;
    // A mover that has not moved yet is given a short stint at first, so that little is lost on it.
    trial_ = runners_[best].rate < 0
                 ? std::max(policy_.probe_part * spent_, policy_.probe * Real(problem_->design.stored()))
                 : policy_.longer_trial * spent_;
    hand_over(best, certifier);
  }

  const P* problem_;
  const Policy policy_;
  Screening<P> screening_;
  const Point* located_ = nullptr; // the last
  bool timed_;
  Index undecided_ = 0; // rounds until the next mover is chosen, or 0
  Index easy_ = 0;      // rounds at easier problems
  Real trial_;          // a stint, in the units of prices
  Real spent_ = 0;      // by all movers, at the last change of mover
  std::vector<Runner> runners_;
  std::vector<Real> x_, y_; // where it begins
  std::size_t now_ = 0;
  std::unique_ptr<Algorithm> current_, successor_;
  const Certifier* certifier_ = nullptr; // that of the last call of `judge`
  Effort stint_{}, recent_{};            // the latter: since its pace was last looked at
  bool slow_ = false;                    // was that pace too slow?
  Index round_ = 0;                      // entries touched by the last
  std::vector<Effort> past_;             // parts of movers that were replaced
  Real gap_ = infinity;
};

} // namespace southwell
