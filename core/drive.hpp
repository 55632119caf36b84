// The only loop with a stopping test: epoch, certificate, status. It owns history, callback, deadline and
// Ctrl-C.
#pragma once
#include "core/certificate.hpp"
#include "core/problem.hpp"
#include "core/rules/rule.hpp"
#include "core/support/enumeration.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <tuple>
#include <vector>

namespace southwell {

// How a solve ended; Python's Status has a sentence for each.
#define SOUTHWELL_STATUSES(one)                                                                              \
  one(converged) one(max_epochs) one(max_seconds) one(stopped) one(interrupted) one(diverged) one(precision) \
      one(not_begun)
SOUTHWELL_ENUMERATION(Status, SOUTHWELL_STATUSES)

struct Stop {
  Real tol = 1e-6; // relative to the objective of the zero model
  Index max_epochs = 1000;
  Real max_seconds = infinity;
  Index check_every = 0; // epochs between certificates; 0: see Schedule
};

// Decides when a certificate is due. An algorithm whose epochs estimate the gap gets one when the estimate,
// times the ratio of gap and estimate at the last certificate, has reached the goal; and there is one after 5
// epochs and then whenever twice as many as before have passed, at most 20, because a mover may have to be
// replaced. Without estimates: after the number of epochs in which log(gap), extrapolated at its last rate,
// covers four fifths of the way to its goal; after at most 10 epochs, and at most as many as there were so
// far. But never before twice the stored entries have been touched, which is the cost of a certificate:
// epochs with a Gram matrix or with resting coordinates (rest.hpp) are far cheaper. Work is counted, not
// timed, so the schedule is the same on every machine.
class Schedule {
public:
  Schedule(const Stop& stop, Index stored) : every_(stop.check_every), cost_(2 * stored) {}

  bool due(Index epoch, Index work, Real estimate) const { // NaN: there is none
    if (every_ > 0) return epoch >= epoch_;
    const bool near = std::isnan(estimate) ? epoch >= epoch_ : epoch >= latest_ || ratio_ * estimate <= goal_;
    return near && work >= work_;
  }
  void checked(Index epoch, Index work, Real gap, Real goal, Real estimate) {
    goal_ = goal;
    latest_ = epoch + std::clamp<Index>(2 * epoch, 5, 20);
    if (estimate > 0) ratio_ = std::max(gap / estimate, 0.1);
    const Real fall = (std::log(gap_) - std::log(gap)) / Real(epoch - checked_);
    Real ahead = Real(epoch) / 4; // if the gap did not fall
    if (std::isfinite(fall) && fall > 0) ahead = 0.8 * std::log(gap / goal) / fall;
    epoch_ = epoch +
             (every_ > 0 ? every_ : Index(clip(std::ceil(ahead), 1, Real(std::min<Index>(epoch + 1, 10)))));
    work_ = work + cost_;
    checked_ = epoch;
    gap_ = gap;
  }

private:
  Index every_, cost_, epoch_ = 0, work_ = 0;
  Index checked_ = 0; // epoch of the last certificate
  Index latest_ = 0;  // and of the next, if the estimate does not bring it forward
  Real gap_ = infinity, goal_ = 0, ratio_ = 1;
};

// A row of the history. Python has its columns under these names. `primal`, `dual` and `gap` are those of the
// best points so far, `latest_primal` and `latest_dual` those of the point of this certificate itself.
#define SOUTHWELL_HISTORY(one)                                                                               \
  one(Index, epoch) one(Real, seconds) one(Real, primal) one(Real, dual) one(Real, gap) one(Index, nonzeros) \
      one(Index, moves) one(Index, entries) one(Real, latest_primal) one(Real, latest_dual)
struct Record {
#define SOUTHWELL_FIELD(Type, name) Type name = 0;
  SOUTHWELL_HISTORY(SOUTHWELL_FIELD)
#undef SOUTHWELL_FIELD
};

// How the caller can end a solve while it runs: by an interrupt, or by its callback.
class Watch {
public:
  virtual ~Watch() = default;
  virtual bool interrupted() = 0; // called about every 50 ms
  virtual bool report(const Record& record, const Certifier& at,
                      Real scale) = 0; // after each certificate; true: stop
};

class Clock {
public:
  Real seconds() const {
    return std::chrono::duration<Real>(std::chrono::steady_clock::now() - start_).count();
  }

private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// Counts work inside an epoch and says when the epoch must end early.
class Pulse {
public:
  Pulse(Watch& watch, const Clock& clock) : watch_(watch), clock_(clock) {}

  SOUTHWELL_INLINE bool beat(Index entries) { // after each move; true: the epoch must end now
    ++moves_;
    return spend(entries + 1);
  }
  bool beats(Index moves, Index entries) { // after so many moves
    moves_ += moves;
    return spend(entries + moves);
  }
  SOUTHWELL_INLINE bool spend(Index entries) { // for work that is not a move
    entries_ += entries;
    return entries_ >= next_look_ && look();
  }
  bool look() {                      // checks the clock and the interrupt
    next_look_ = entries_ + 200'000; // a fraction of a millisecond
    const Real now = clock_.seconds();
    late_ = now >= deadline_;
    return ask() || late_;
  }
  bool ask() { // whether the caller has interrupted, at most 50 ms ago
    if (const Real now = clock_.seconds(); now - last_ask_ > 0.05) {
      last_ask_ = now;
      interrupted_ = interrupted_ || watch_.interrupted();
    }
    return interrupted_;
  }
  void set_deadline(Real seconds) { deadline_ = seconds; }
  bool interrupted() const { return interrupted_; }
  bool late() const { return late_; }
  Index moves() const { return moves_; }
  Index work() const { return entries_; }             // entries, and one for each visit
  Index entries() const { return entries_ - moves_; } // of the data, read or written

private:
  Watch& watch_;
  const Clock& clock_;
  Index moves_ = 0, entries_ = 0, next_look_ = 0;
  Real deadline_ = infinity, last_ask_ = 0;
  bool interrupted_ = false, late_ = false;
};

// The work of each part (mover) of a method that has several, and what screening has proved.
struct Effort {
  const char* mover;
  Index rounds = 0;  // or steps
  Index entries = 0; // of the data, read or written
  Real seconds = 0;
  Real fall = 0; // decrease of log(gap) while this mover worked
};
struct Account {
  std::vector<Effort> efforts;
  std::vector<char> features, samples; // which are screened, see Screening
};

// An algorithm moves the coordinates; see the loop `drive` below for the order of the calls.
class Algorithm {
public:
  virtual ~Algorithm() = default;
  virtual void epoch(Pulse& pulse) = 0;        // as many moves as coordinates
  virtual void locate(Point& point) = 0;       // fills x and y, with newly computed products
  virtual void resync(const Point& point) = 0; // adopts them, so that rounding errors do not accumulate
  virtual void judge(const Certifier&, const Unit&) {} // called after each certificate, with its result
  virtual bool eager() const { return false; }         // whether it needs a certificate after every epoch
  // Of the gap, each coordinate's part as it was when the last epoch came to it; NaN: none is known.
  virtual Real estimate() const { return std::numeric_limits<Real>::quiet_NaN(); }
  virtual bool begun() const { return true; } // false while it works on a larger penalty first
  virtual Account account() const { return {}; }
  virtual std::vector<Effort> parts() const { return {}; } // of its work that are counted apart
  // Go on from here under another penalty, if it can.
  virtual bool repenalise(const Question&) { return false; }

  // For the study of rules: `draw` returns coordinates that would be selected at the current point; `lead`
  // performs moves and returns the coordinates that were moved.
  virtual std::vector<Index> draw(Index) { return {}; }
  virtual std::vector<Index> lead(Index) { return {}; }
};

// Detects divergence. Steps that are too long multiply the error from one certificate to the next. A large
// error alone is no sign of divergence, since dual methods have one temporarily if l2 is tiny; repeated
// growth is.
class Runaway {
public:
  bool watch(Real error, Real unit) {
    times_ = error > 1e3 * unit && error > 2 * last_ ? times_ + 1 : 0;
    last_ = error;
    return times_ >= 8;
  }

private:
  Real last_ = infinity;
  int times_ = 0;
};

struct Outcome {
  Status status = Status::max_epochs;
  Real scale = 0; // the unit of the gap
  Index epochs = 0;
  Real seconds = 0;
  std::vector<Record> history = {};
  Certificate proof = {};
  std::vector<Real> x = {}, y = {}; // the best of each
  Account account = {};
};

inline Outcome drive(const Question& question, Algorithm& algorithm, const Stop& stop, Watch& watch,
                     bool record_history) {
  const Clock clock;

  Pulse pulse(watch, clock);
  Point point(question);
  Certifier certifier(question, [&] { return pulse.ask() || clock.seconds() >= stop.max_seconds; });
  Unit unit = question.unit(point);
  unit.goal = std::max(stop.tol * unit.scale, unit.rounding);
  Outcome outcome{.scale = unit.scale};
  Schedule schedule(stop, question.stored());
  Runaway runaway;
  bool grows = false;
  Index epoch = 0;
  try {
    for (;; ++epoch) {
      if (pulse.interrupted()) { // the last certificate is the result
        outcome.status = Status::interrupted;
        break;
      }
      const Real estimate = algorithm.estimate();
      if (schedule.due(epoch, pulse.work(), estimate) || algorithm.eager() || epoch >= stop.max_epochs ||
          pulse.late()) {
        const Real begun = clock.seconds();
        algorithm.locate(point);
        const Certificate& proof = certifier(point);
        algorithm.judge(certifier, unit);
        const Real now = clock.seconds();
        pulse.set_deadline(stop.max_seconds - 1.2 * (now - begun)); // leave time for one more certificate

        const Record record{.epoch = epoch,
                            .seconds = now,
                            .primal = proof.primal,
                            .dual = proof.dual,
                            .gap = proof.gap(),
                            .nonzeros = question.nonzeros(certifier.x()),
                            .moves = pulse.moves(),
                            .entries = pulse.entries(),
                            .latest_primal = certifier.latest(),
                            .latest_dual = certifier.latest_dual()};
        if (record_history || outcome.history.empty())
          outcome.history.push_back(record);
        else
          outcome.history.back() = record;
        const bool asked = watch.report(record, certifier, outcome.scale);

        grows =
            runaway.watch(certifier.latest() - proof.primal, std::max(unit.scale, std::abs(proof.primal)));
        const Real size = unrolled(Index(point.x.size()), [&](Index j) { return point.x[j] * point.x[j]; });
        const auto finished = [&]() -> bool {
          const auto end = [&](Status status) {
            outcome.status = status;
            return true;
          };
          const bool known = std::isfinite(record.gap);
          if (known && record.gap <= stop.tol * unit.scale) return end(Status::converged);
          if (known && record.gap <= std::max(unit.rounding, proof.rounding())) return end(Status::precision);
          if (!std::isfinite(size) || grows) return end(Status::diverged);
          if (asked) return end(Status::stopped);
          pulse.look();
          if (pulse.interrupted()) return end(Status::interrupted);
          if (pulse.late()) return end(Status::max_seconds);
          return epoch >= stop.max_epochs && end(Status::max_epochs);
        };
        if (finished()) break;
        algorithm.resync(point);
        schedule.checked(epoch, pulse.work(), record.gap, unit.goal, estimate);
      }
      algorithm.epoch(pulse);
    }
  } catch (const Abandoned&) { outcome.status = Status::interrupted; }
  outcome.epochs = epoch;
  outcome.proof = certifier.best();
  std::tie(outcome.x, outcome.y) = certifier.release();
  outcome.account = algorithm.account();
  outcome.seconds = clock.seconds();
  return outcome;
}

} // namespace southwell
