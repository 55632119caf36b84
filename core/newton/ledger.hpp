// Counts the work on a model, and says when to interrupt it.
#pragma once
#include "core/drive.hpp"

namespace southwell {

class Ledger {
public:
  // From now on work is counted by this pulse, and interrupted when it says so.
  void attend(Pulse& pulse) {
    pulse_ = &pulse;
    stopped_ = false;
  }
  bool operator()(Index entries) { // touched; true: interrupt the work
    work_ += entries;
    return stopped_ = pulse_->spend(entries) || stopped_;
  }
  bool stopped() const { return stopped_; }
  Index work() const { return work_; } // entries touched so far

  const Effort& newton_effort() const { return newton_effort_; }
  void forget_efforts() { newton_effort_ = {"newton"}; }
  // Books the time and the work of a Newton step.
  class NewtonStep {
  public:
    explicit NewtonStep(Ledger& ledger) : ledger_(ledger), begun_(ledger.work_) {}
    NewtonStep(const NewtonStep&) = delete;
    ~NewtonStep() {
      Effort& effort = ledger_.newton_effort_;
      ++effort.rounds;
      effort.entries += ledger_.work_ - begun_;
      effort.seconds += clock_.seconds();
    }

  private:
    Ledger& ledger_;
    Index begun_;
    Clock clock_;
  };

private:
  Pulse* pulse_ = nullptr;
  bool stopped_ = false;
  Index work_ = 0;
  Effort newton_effort_{"newton"};
};

} // namespace southwell
