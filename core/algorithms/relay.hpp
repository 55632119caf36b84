// Several movers, one state: whoever brings the gap down fastest moves on.
//
// A primal iterate gives a dual one and the other way round, and the certificate accepts any pair. So a mover
// can take over from another at any certificate: it begins at the best primal and the best dual point seen.
//
// Who begins is decided after a round or two, by what each is expected to cost. Once it has spent a
// trial, the other is given as much; from there on the measured fall of log(gap), by the second or, where
// runs must repeat, by the entry touched, decides. Trials double with every change, so that a mover that
// needs a run-up gets it, and no more than a few times the price of the better one is paid.
#pragma once
#include "core/drive.hpp"
#include "core/screening.hpp"
#include <functional>
#include <memory>

namespace southwell {

class Relay final : public Algorithm {
public:
  using Make = std::function<std::unique_ptr<Algorithm>(CVec x, CVec y, Screening& screening)>;
  struct Mover {
    const char* name;
    Make make;
    Real price; // of touching an entry, in units that are the same for all
    // What a solution will cost, in units of the stored entries: so much, and so much for mean_i ||a_i||^2.
    Real expected, by_square;
    bool sparse; // is that for a solution without zeros, and less for one with?
  };

  // `timed`: rates are by the second.
  Relay(const Problem& problem, std::vector<Mover> movers, bool timed, CVec x, CVec y)
      : problem_(&problem), screening_(problem), timed_(timed), trial_(100 * Real(problem.design.stored())) {
    for (Mover& mover : movers) runners_.push_back({std::move(mover), {}, -1});
    current_ = runners_[0].mover.make(x, y, screening_);
  }

  bool eager() const override { return current_->eager(); }
  void epoch(Pulse& pulse) override {
    const Index before = pulse.entries();
    const Clock clock;
    current_->epoch(pulse);
    Effort& effort = runners_[now_].effort;
    ++effort.rounds;
    effort.entries += pulse.entries() - before;
    effort.seconds += clock.seconds();
    stint_.entries += pulse.entries() - before;
    stint_.seconds += clock.seconds();
  }
  void locate(Point& point) override {
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
    }
    gap_ = gap;
    certifier_ = &certifier;
  }
  void resync(const Point& point) override {
    if (runners_.size() > 1 && undecided_ >= 0) begin(*certifier_);
    if (!successor_ && runners_[now_].mover.price * Real(stint_.entries) >= trial_) decide(*certifier_);
    if (!successor_) return current_->resync(point);
    past_ = parts();
    current_ = std::move(successor_); // it stands elsewhere
    Point own(*problem_);
    current_->locate(own);
    current_->resync(own);
  }
  bool repenalise(const Problem& problem) override {
    if (runners_.size() > 1 || !current_->repenalise(problem)) return false;
    problem_ = &problem;
    screening_.repenalise(problem);
    gap_ = infinity;
    past_.clear();
    for (Runner& runner : runners_) runner.effort = {};
    return true;
  }
  // By mover; what is told apart (Newton steps are parts of primal rounds) is not counted twice.
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
  static constexpr Real digits = 16; // the fall of log(gap) that a solution takes: seven decimal digits

  struct Runner {
    Mover mover;
    Effort effort;
    Real rate; // fall of log(gap) a second or an entry, in its last stint; < 0: unknown
  };
  // Whoever is expected to be done first. What a working set will hold is judged by the features whose
  // conditions are broken, each weighed by its squared norm. At zero too many are: where l1 can make a
  // solution sparse, two rounds go by before that is looked at.
  void begin(const Certifier& certifier) {
    if (--undecided_ > 0 && problem_->penalty[0].l1 > 0) return;
    undecided_ = -1;
    const CVec norms = screening_.column_norms();
    Real broken = 0, all = 0;
    for (Index j = 0; j < problem_->penalty.penalised(); ++j) {
      const bool off =
          problem_->penalty[j].subdifferential(certifier.x()[j]).distance(-certifier.slopes()[j]) > 0;
      broken += off || certifier.x()[j] != 0 ? norms[j] : 0;
      all += norms[j];
    }
    const auto cost = [&](std::size_t k) {
      const Mover& mover = runners_[k].mover;
      const Real whole =
          (mover.expected + mover.by_square * all) * (mover.sparse && all > 0 ? broken / all : 1);
      if (k != now_ || !(stint_.fall > 0)) return whole;
      const Real measured =
          mover.price * Real(stint_.entries) / Real(problem_->design.stored()) * digits / stint_.fall;
      return std::min(whole, measured);
    };
    std::size_t best = now_;
    for (std::size_t k = 0; k < runners_.size(); ++k)
      if (cost(k) < cost(best)) best = k;
    trial_ = clip(4 * cost(best), 100, 400) * Real(problem_->design.stored());
    if (best != now_) hand_over(best, certifier);
  }
  void hand_over(std::size_t to, const Certifier& certifier) {
    now_ = to;
    stint_ = {};
    successor_ = runners_[to].mover.make(certifier.x(), certifier.y(), screening_);
  }
  // Those of movers that were relieved, and of the present one.
  std::vector<Effort> parts() const override {
    std::vector<Effort> all = past_;
    for (const Effort& part : current_->parts()) {
      if (all.empty()) all.push_back({part.mover});
      all[0].rounds += part.rounds;
      all[0].entries += part.entries;
      all[0].seconds += part.seconds;
    }
    return all;
  }
  // The present mover has had its trial: it goes on only if nobody is unknown or was faster.
  void decide(const Certifier& certifier) {
    Runner& runner = runners_[now_];
    runner.rate =
        std::max(stint_.fall / (timed_ ? stint_.seconds : runner.mover.price * Real(stint_.entries)), 0.0);
    stint_ = {};
    std::size_t best = now_;
    for (std::size_t k = 0; k < runners_.size(); ++k)
      if (runners_[k].rate < 0 || (runners_[best].rate >= 0 && runners_[k].rate > runners_[best].rate))
        best = k;
    if (best == now_) return;
    trial_ *= 2;
    hand_over(best, certifier);
  }

  const Problem* problem_;
  Screening screening_;
  const Point* located_ = nullptr; // the last
  bool timed_;
  int undecided_ = 3; // certificates until it is decided who begins
  Real trial_;        // a stint, in the units of prices
  std::vector<Runner> runners_;
  std::size_t now_ = 0;
  std::unique_ptr<Algorithm> current_, successor_;
  const Certifier* certifier_ = nullptr; // the last that judged
  Effort stint_{};
  std::vector<Effort> past_; // parts of movers that were relieved
  Real gap_ = infinity;
};

} // namespace southwell
