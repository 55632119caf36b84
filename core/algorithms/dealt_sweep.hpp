// A pass of coordinate ascent that two threads share (SDCA on the dual side).
//
// A block of coordinates, in random order, is dealt to P parts. Each part moves its coordinates on its own
// copy of the coupling's state, as if the others made the same moves: it adds P times its own ones to the
// copy. Since the deal is random, that is what the others do on average, and directions that all rows share,
// such as those of frequent words, are not overshot P times. The mean of the copies then is the state after
// the moves of all parts together.
//
// With d these moves, y goes on to y + t d: to t = 1 where D cannot fall by it, else to a t in [0, 1] where
// D, which is concave along the way, is about highest. So no join lowers D. Since every pass is dealt anew,
// no two coordinates stay apart; fixed parts, as in CoCoA (Jaggi et al. 2014), need several times as many
// passes.
//
// Numbers depend on the number of parts, but not on which thread runs which part, or when.
#pragma once
#include "core/concepts.hpp"
#include "core/support/helpers.hpp"
#include "core/support/math.hpp"
#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace southwell {

struct Moved { // a coordinate, and where it was
  Index k;
  Real before;
};

// Couplings whose state can be copied and joined, and steps that can be shortened.
template <class C, class Step>
concept Dealable =
    requires(C c, const Step step, typename C::State& state, Real delta, std::span<const Moved> steps) {
      c.move_in(state, Index{}, delta);
      step.slope_along(steps, delta);
    };

// What a pass does to the sums that the algorithm keeps.
struct Tally {
  Real estimate = 0, distance = 0; // of the gap; the sum of |delta|
  Index work = 0, moves = 0;       // entries touched, and coordinates visited
  std::vector<Index> moved = {};   // those that moved,
  Index entries = 0;               // the entries of their fibers,
  std::vector<Moved> steps = {};   // and from where they moved

  void clear() {
    moved.clear();
    steps.clear();
    estimate = distance = 0;
    work = moves = entries = 0;
  }
  void add(const Tally& other) {
    estimate += other.estimate;
    distance += other.distance;
    entries += other.entries;
    moved.insert(moved.end(), other.moved.begin(), other.moved.end());
  }
};

// How a pass is dealt: into how many parts, and how often they are joined. 1 part: it is not.
struct Deal {
  int parts = 1;
  Index joins = 1;
};
// A pass over so many entries, with a state of so many numbers. A join costs a few passes over these, so it
// comes after ten times as many entries at least; and before so many that Ctrl-C, which is looked at after
// joins, would have to wait.
inline Deal dealt(Index entries, Index state) {
  constexpr Index least = 50'000, by_state = 10, most = 4'000'000;
  constexpr int most_parts = 2;
  if (threads_given == 1 || entries < std::max(least, by_state * state)) return {};
  return {std::min(threads_given, most_parts), 1 + entries / std::max(most, by_state * state)};
}

template <class C, class Step> class DealtSweep {
public:
  using State = typename C::State;

  // The coupling as one of several parts sees it.
  struct Hand {
    C& coupling;
    State& state;
    Real parts;
    Real read(Index k) const { return coupling.read(k, state); }
    void move(Index k, Real delta) { coupling.move_in(state, k, parts * delta); }
    // Steps must be shorter along what all fibers have in common, such as an intercept: the moves of the
    // other parts, which are added there, would take each row to the other side of where it is best.
    Real added_norm(Index k) const { return (parts - 1) * coupling.frame_norm(k); }
    Index read_cost(Index k) const { return coupling.read_cost(k); }
    Index move_cost(Index k) const { return coupling.move_cost(k); }
    void prefetch_start(Index k) const { coupling.prefetch_start(k); }
    void prefetch(Index k) const { coupling.prefetch(k); }
  };

  void forget() { alike_ = false; } // the coupling has moved alone

  // Calls pass(coordinates, hand, tally) for each part of the block, and joins what they did. Returns t.
  template <class Pass>
  Real operator()(std::span<const Index> block, int parts, C& coupling, Step& step, Pass&& pass) {
    const Index size = Index(block.size()), positions = Index(coupling.state().kept.size());
    if (parts_.size() != std::size_t(parts)) {
      parts_ = std::vector<Part>(std::size_t(parts));
      states_.clear();
      for (Part& part : parts_) states_.push_back(&part.state);
      coupling.expect();
      alike_ = false;
    }
    in_parts([&](int p) {
      Part& part = parts_[p];
      if (!alike_) part.state = coupling.state();
      part.tally.clear();
      const Index from = size * p / parts, to = size * (p + 1) / parts;
      Hand hand{coupling, part.state, Real(parts)};
      pass(block.subspan(from, to - from), hand, part.tally);
    });
    in_parts([&](int p) {
      parts_[p].along = coupling.advance(states_, positions * p / parts, positions * (p + 1) / parts);
      parts_[p].slope = step.slope_along(parts_[p].tally.steps, 1);
    });
    typename C::Along along = coupling.advance_frame(states_);
    for (const Part& part : parts_) along += part.along;
    const Real t = length(step, along);
    if (t < 1) {
      for (const Part& part : parts_) step.shorten(part.tally.steps, t);
      coupling.shorten(states_, t);
    }
    coupling.arrive();
    alike_ = true;
    return t;
  }
  template <class F> void each_tally(F&& f) const { // of the last block
    for (const Part& part : parts_) f(part.tally);
  }

private:
  struct alignas(128) Part { // no cache line belongs to two of them
    State state;
    Tally tally;
    typename C::Along along;
    Real slope = 0; // of its own terms of D, along its moves
  };

  void in_parts(Task<int> task) {
    const int parts = int(parts_.size());
    if (helpers_at_hand) return (*helpers_at_hand)(parts, task);
    for (int p = 0; p < parts; ++p) task(p);
  }
  // The length t; `slope` of each part is that at t = 1.
  Real length(Step& step, const typename C::Along& along) {
    const auto slope = [&](Real t) {
      Real total = along.slope + t * along.curvature;
      for (const Part& part : parts_) total += part.slope;
      return total;
    };
    const auto measured = [&](Real t) {
      in_parts([&](int p) { parts_[p].slope = step.slope_along(parts_[p].tally.steps, t); });
      return slope(t);
    };
    Real high = 1, slope_high = slope(1);
    // Slopes fall: D(y + d) - D(y) is at least half their sum at 1/2 and 1. Shorter moves would take
    // coordinates off the bounds that they have just come to.
    if (slope_high >= 0 || measured(0.5) + slope_high >= 0) return 1;
    const Real first = measured(0);
    Real low = 0, slope_low = first;
    for (int k = 0; k < 10; ++k) {
      // A little short of the secant's zero, which is the maximum itself where D is a parabola.
      const Real secant = 0.99 * slope_low / (slope_low - slope_high);
      const Real t = low + (std::isfinite(secant) ? clip(secant, 0.01, 0.99) : 0.5) * (high - low);
      const Real here = measured(t);
      if (here >= 0 && here <= 0.1 * first) return t;
      (here >= 0 ? low : high) = t;
      (here >= 0 ? slope_low : slope_high) = here;
    }
    return low;
  }

  std::vector<Part> parts_;
  std::vector<State*> states_;
  bool alike_ = false; // are the copies those of the state?
};

} // namespace southwell
