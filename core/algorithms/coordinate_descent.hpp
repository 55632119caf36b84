// Coordinate descent, on either side, with any rule, loss, layout and coupling.
//
//   primal   min_x  sum_i s_i phi_i(a_i'x) + sum_j g_j(x_j)         coordinates: features, fibers: columns
//   dual     max_y  -sum_i s_i phi_i*(y_i) - sum_j g_j*(-z_j)       coordinates: samples,  fibers: rows
//   (SDCA)
//
// Both are min over alpha of f(A alpha) + sum_k h_k(alpha_k) (Perekrestenko, Cevher, Jaggi 2017, eq. 1), so
// one class serves both: the coupling computes the reading of coordinate k (its slope or margin), the step
// solves the scalar problem of k, and the coupling updates the product. An epoch is as many moves as
// coordinates. With rules that use no scores, or recompute them once an epoch, it costs at most three passes
// over the stored entries (four if steps use the curvature). A rule with several candidates reads each of
// them; a rule that needs all scores at every move costs what AllReadings says.
#pragma once
#include "core/algorithms/dual_step.hpp"
#include "core/algorithms/primal_step.hpp"
#include "core/algorithms/rest.hpp"
#include "core/algorithms/scoreboard.hpp"
#include "core/coupling/all_readings.hpp"
#include "core/drive.hpp"
#include "core/rules/rule.hpp"
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <type_traits>
#include <variant>

namespace southwell {

template <Coupling C, class Step> class CoordinateDescent final : public Algorithm {
public:
  // `crossing` and `room` are for rules that need all scores at every move; see AllReadings. The anchors of
  // proximal terms, if there are any, move every `recentre_every` epochs; or, if `eta` is not 0, when the gap
  // of the problem with these terms is at most eta/2 times the gap at the start and, after t moves of the
  // anchors, (1 - eta/2)^t (Shalev-Shwartz and Zhang 2014, figure 1).
  CoordinateDescent(C coupling, Step step, std::unique_ptr<Rule> rule, bool shrinking, bool focused,
                    std::unique_ptr<AnyFibers> crossing, Index room, Index recentre_every, Real eta = 0)
      : coupling_(std::move(coupling)), step_(std::move(step)), rule_(std::move(rule)),
        rest_(step_.coordinates(), shrinking), board_(rule_->keeps_scores() ? step_.coordinates() : 0),
        recentre_every_(recentre_every), eta_(eta), focused_(focused) {
    if constexpr (requires { step_.brackets_are_the_gap(coupling_); })
      estimates_ = focused_ && step_.brackets_are_the_gap(coupling_);
    if (rule_->score() != Score::none) step_.prepare_scores();
    if (rule_->keeps_scores() && rule_->refresh_every() == 0)
      readings_.emplace(coupling_, std::move(crossing), room);
    group_.resize(rule_->candidates());
    until_refresh_ = rule_->keeps_scores() ? 0 : Rule::never;
  }
  CoordinateDescent(const CoordinateDescent&) = delete; // readings_ refers to coupling_

  void epoch(Pulse& pulse) override {
    if (readings_) {
      for (Index left = step_.coordinates(); left > 0; --left)
        if (pulse.beat(follow())) return;
    } else if (rule_->candidates() > 1 || rule_->aims()) {
      for (Index left = step_.coordinates(); left > 0; --left)
        if (pulse.beat(compete()) || (rule_->aims() && pulse.look())) return; // a search is slow
    } else {
      if (sweep(pulse) || (focused_ && focus(pulse))) return;
    }
    if constexpr (requires { coupling_.recentre(); })
      if (anchors_are_due(pulse)) {
        alone();
        if (coupling_.recentre() && readings_) {
          readings_->refresh();
          rescore();
        }
      }
  }

  Real estimate() const override { return tally_.estimate; }
  void judge(const Certifier& certifier, const Unit& unit) override {
    if (inner_goal_ == 0) inner_goal_ = eta_ / 2 * certifier.best().gap();
    least_goal_ = std::max(unit.rounding, certifier.best().rounding());
  }
  void locate(Point& point) override { step_.locate(point, coupling_); }
  void resync(const Point& point) override {
    alone();
    step_.resync(point, coupling_);
    if (rule_->aims())
      for (Index k = 0; k < step_.coordinates(); ++k) rule_->placed(k, step_.at(k));
    if (!rule_->keeps_scores()) return;
    if (readings_) {
      readings_->refresh(Step::readings(point));
      rescore();
    } else if (until_refresh_ == 0 && !step_.has_intercept()) {
      // Scores are due, and the certificate has just computed all readings.
      refresh_scores([&, readings = Step::readings(point)](Index k) { return readings[k]; });
    }
  }

  std::vector<Index> draw(Index count) override {
    std::vector<Index> drawn(count);
    for (Index& k : drawn) k = choose();
    return drawn;
  }
  std::vector<Index> lead(Index moves) override {
    std::vector<Index> led(moves);
    for (Index& k : led) {
      k = choose();
      readings_ ? move_and_follow(k) : move(k, coupling_.read(k));
      if (rule_->aims()) rule_->placed(k, step_.at(k));
      if (until_refresh_ != Rule::never) --until_refresh_;
    }
    return led;
  }

private:
  bool anchors_are_due(Pulse& pulse) {
    if (eta_ == 0) return ++epochs_ % recentre_every_ == 0;
    Real gap = 0; // a pass over the data
    Index cost = 0;
    for (Index k = 0; k < step_.coordinates(); ++k) {
      gap += step_.score(Score::bracket, k, coupling_.read(k));
      cost += coupling_.read_cost(k);
    }
    pulse.spend(cost);
    if (gap > std::max(inner_goal_, least_goal_)) return false;
    inner_goal_ *= 1 - eta_ / 2;
    return true;
  }
  // An epoch with a rule that selects without readings: batches are known in advance and can be prefetched.
  bool sweep(Pulse& pulse) {
    clear();
    const Index begun = pulse.work(), expected = std::exchange(swept_, 0);
    const bool stop = sweep(pulse, expected);
    swept_ = (pulse.work() - begun) / 2; // read and written
    return stop;
  }
  bool sweep(Pulse& pulse, Index expected) { // to touch so many entries, about; 0: not known
    if (const Deal deal = dealt_for(expected); deal.parts > 1) {
      order_.resize(std::size_t(step_.coordinates()));
      rule_->next(order_);
      return in_parts(order_, deal, pulse);
    }
    alone();
    std::array<Index, 512> batch; // prefetching begins anew in each
    for (Index left = step_.coordinates(); left > 0;) {
      if (rule_->keeps_scores() && until_refresh_ == 0 && pulse.spend(refresh_scores())) return true;
      const Index take = std::min({left, rule_->lookahead(), until_refresh_, Index(batch.size())});
      rule_->next({batch.data(), std::size_t(take)});
      if (pass({batch.data(), std::size_t(take)}, coupling_, tally_,
               [&](Index entries) { return pulse.beat(entries); }))
        return true;
      left -= take;
      if (until_refresh_ != Rule::never) until_refresh_ -= take;
    }
    return false;
  }
  // Moves the coordinates of a batch by turns, and prefetches: first where a fiber starts, then the fiber.
  template <class Hand, class Beat>
  bool pass(std::span<const Index> batch, Hand& hand, Tally& tally, Beat&& beat) {
    const std::size_t size = batch.size();
    for (std::size_t t = 0; t < size; ++t) {
      if (t + 8 < size && !rest_.asleep(batch[t + 8])) {
        hand.prefetch_start(batch[t + 8]);
        step_.prefetch(batch[t + 8]);
      }
      if (t + 3 < size && !rest_.asleep(batch[t + 3])) hand.prefetch(batch[t + 3]);
      if (beat(visit(batch[t], hand, tally))) return true;
    }
    return false;
  }
  // If fewer than a quarter of the coordinates have moved, only those are visited again, until they move by a
  // tenth of what they did at first, or until this has taken four times the work of the pass. An alternative
  // to shrinking that visits the other coordinates regularly.
  bool focus(Pulse& pulse) {
    const Index before = std::exchange(work_, pulse.work());
    const Index most = work_ + 4 * (work_ - before);
    Real first = 0;
    while (4 * Index(tally_.moved.size()) < step_.coordinates() && !tally_.moved.empty() &&
           pulse.work() < most) {
      focus_.swap(tally_.moved);
      const Index entries = tally_.entries;
      clear(); // of those that did not move the parts of the estimate are about zero
      if (again(focus_, entries, pulse)) return true;
      if (first == 0) first = tally_.distance;
      if (tally_.distance <= 0.1 * first) break;
    }
    work_ = pulse.work();
    return false;
  }
  bool again(std::span<Index> coordinates, Index entries, Pulse& pulse) {
    const Deal deal = dealt_for(entries);
    if (deal.parts == 1) {
      alone();
      return pass(coordinates, coupling_, tally_, [&](Index entries) { return pulse.beat(entries); });
    }
    for (Index left = Index(coordinates.size()); left > 1; --left) // dealt anew
      std::swap(coordinates[left - 1], coordinates[dealer_.below(left)]);
    return in_parts(coordinates, deal, pulse);
  }
  // Threads share passes of the default method's mover, see DealtSweep.
  Deal dealt_for(Index entries) {
    if constexpr (Dealable<C, Step>) {
      if (!focused_ || !step_.shares() || (unshared_ > 0 && unshared_-- > 0)) return {};
      const auto& design = coupling_.design();
      return dealt(entries > 0 ? entries : design.stored(), design.positions());
    }
    return {};
  }
  void alone() {
    if constexpr (Dealable<C, Step>) dealt_.forget();
  }
  bool in_parts(std::span<const Index> order, Deal deal, Pulse& pulse) {
    if constexpr (Dealable<C, Step>) {
      const Index size = Index(order.size());
      for (Index b = 0; b < deal.joins; ++b) {
        const Index from = size * b / deal.joins, to = size * (b + 1) / deal.joins;
        const auto own = [&](std::span<const Index> batch, auto& hand, Tally& tally) {
          pass(batch, hand, tally, [&](Index entries) {
            ++tally.moves;
            tally.work += entries;
            return false;
          });
        };
        const Real t = dealt_(order.subspan(from, to - from), deal.parts, coupling_, step_, own);
        if (t < 0.1) unshared_ = 8; // passes: parts get in each other's way
        bool stop = false;
        dealt_.each_tally([&](const Tally& tally) {
          tally_.add(tally);
          stop = pulse.beats(tally.moves, tally.work) || stop;
        });
        if (stop) return true;
      }
    }
    return false;
  }
  void clear() {
    tally_.moved.clear();
    tally_.entries = 0;
    tally_.distance = 0;
    if (estimates_) tally_.estimate = 0;
  }
  template <class Hand> Index visit(Index k, Hand& hand, Tally& tally) {
    if (rest_.asleep(k)) {
      rest_.sleep_on(k);
      return 0;
    }
    return move(k, hand.read(k), hand, tally);
  }
  Index move(Index k, Real reading) { return move(k, reading, coupling_, tally_); }
  template <class Hand>
  Index move(Index k, Real reading, Hand& hand, Tally& tally) { // returns the entries touched
    if constexpr (requires { step_.estimate(k, reading); })
      if (estimates_) tally.estimate += step_.estimate(k, reading);
    const Real before = step_.at(k), delta = step_(k, reading, hand);
    rest_.visited(k, delta != 0);
    const Index cost = hand.read_cost(k);
    if (delta == 0) return cost;
    if (focused_) {
      tally.moved.push_back(k);
      tally.entries += cost;
      tally.distance += std::abs(delta);
    }
    if constexpr (!std::is_same_v<Hand, C>) tally.steps.push_back({k, before});
    hand.move(k, delta);
    return cost + hand.move_cost(k);
  }
  // Out of line, like `best`: a call is nothing beside the work, and the class is compiled many times.
  template <class Reading> SOUTHWELL_NOINLINE void refresh_scores(Reading&& reading) {
    Index movable = 0;
    Real error = 0, farthest = 0;
    const bool balances = rule_->balances();
    for (Index k = 0; k < step_.coordinates(); ++k) {
      const Real at = reading(k);
      score(k, at);
      if (!balances) continue;
      const Real most = step_.score(Score::reach, k, at);
      movable += most > 0;
      farthest += most;
      error += step_.score(Score::bracket, k, at);
    }
    if (balances) rule_->balance(movable, error, farthest * std::sqrt(step_.smoothness()));
    rule_->refresh(board_.scores());
    until_refresh_ = rule_->refresh_every();
  }
  Index refresh_scores() { // by a pass over the data
    Index cost = 0;
    refresh_scores([&](Index k) {
      cost += coupling_.read_cost(k);
      return coupling_.read(k);
    });
    return cost;
  }

  // Reads a group of candidates and moves the one with the best score.
  Index compete() {
    const auto [k, reading, cost] = best();
    const Index moved = move(k, reading);
    if (rule_->aims()) rule_->placed(k, step_.at(k));
    return cost - coupling_.read_cost(k) + moved;
  }
  struct Winner {
    Index k;
    Real reading;
    Index cost;
  };
  SOUTHWELL_NOINLINE Winner best() {
    if constexpr (requires { coupling_.image(); })
      if (rule_->aims()) rule_->aim(coupling_.image());
    rule_->gather(group_);
    Winner winner{group_[0], 0, 0};
    Real most = -1;
    const Index size = Index(group_.size());
    for (Index t = 0; t < std::min<Index>(size, 8); ++t) coupling_.prefetch_start(group_[t]);
    for (Index t = 0; t < size; ++t) {
      if (t + 8 < size) coupling_.prefetch_start(group_[t + 8]);
      if (t + 3 < size) coupling_.prefetch(group_[t + 3]);
      const Index k = group_[t];
      const Real reading = coupling_.read(k);
      winner.cost += coupling_.read_cost(k);
      if (const Real score = size == 1 ? 0 : step_.score(rule_->score(), k, reading); score > most) {
        most = score;
        winner.k = k;
        winner.reading = reading;
      }
    }
    return winner;
  }

  // For rules that need all scores at every move.
  Index follow() {
    Index k;
    rule_->next({&k, 1});
    return move_and_follow(k);
  }
  Index move_and_follow(Index k) {
    const Real delta = step_(k, readings_->read(k), coupling_);
    if (delta == 0) {
      rule_->stuck(k);
      return 1;
    }
    const Index cost = readings_->move(k, delta);
    stale_.assign(1, k);
    // The intercept. On the dual side this is the last sample; scoring it again is harmless.
    if (step_.has_intercept()) stale_.push_back(step_.coordinates() - 1);
    const CVec plain = readings_->plain();
    const auto look = [&](Index l) {
      if (board_.restless(l, readings_->read(l)))
        stale_.push_back(l);
      else
        readings_->settle(l, board_.quiet(l));
    };
    if (!readings_->all_changed())
      for (const Index l : readings_->changed()) look(l);
    else if (!plain.empty())
      board_.visit_restless(plain, [&](Index l) { stale_.push_back(l); });
    else
      for (Index l = 0; l < step_.coordinates(); ++l) look(l);
    for (const Index l : stale_) score(l, readings_->read(l));
    rule_->update(stale_, board_.scores());
    return cost + (readings_->all_changed() ? step_.coordinates() : Index(readings_->changed().size()));
  }
  void rescore() {
    refresh_scores([&](Index k) { return readings_->read(k); });
  }
  void score(Index k, Real reading) {
    const Real score = step_.score(rule_->score(), k, reading);
    const Interval quiet = score == 0 ? step_.quiet(k) : Interval{1, -1};
    board_.set(k, score, quiet);
    if (readings_) readings_->settle(k, quiet);
  }

  Index choose() {
    if (rule_->candidates() > 1 || rule_->aims()) return best().k;
    if (rule_->keeps_scores() && !readings_ && until_refresh_ == 0) refresh_scores();
    Index k;
    rule_->next({&k, 1});
    return k;
  }

  C coupling_;
  Step step_;
  std::unique_ptr<Rule> rule_;
  Rest rest_;
  std::vector<Index> group_, stale_;
  Scoreboard board_;
  std::optional<AllReadings<C>> readings_;
  Index until_refresh_ = 0; // moves
  Index recentre_every_, epochs_ = 0;
  Real eta_, inner_goal_ = 0, least_goal_ = 0; // of the problem with proximal terms
  bool focused_, estimates_ = false;
  Tally tally_{.estimate = std::numeric_limits<Real>::quiet_NaN()}; // of the last pass
  std::vector<Index> order_, focus_;                                // of a pass; visited by `focus`
  Index work_ = 0, swept_ = 0; // when the pass began; entries that the last sweep touched
  Index unshared_ = 0;         // passes that are not dealt
  Random dealer_{0};
  [[no_unique_address]] std::conditional_t<Dealable<C, Step>, DealtSweep<C, Step>, std::monostate> dealt_;
};

} // namespace southwell
