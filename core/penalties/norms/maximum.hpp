// max_e |x_e|: groups whose coefficients reach the same size (the L1/L-infinity penalty; Turlach, Venables
// and Wright 2005). Its dual norm is the sum of sizes, and its prox clips numbers at a level c,
//
//     prox of radius N at w  =  clip(w, -c, c),     sum_e max(|w_e| - c, 0) = radius.
#pragma once
#include "core/penalties/norms/norm.hpp"

namespace southwell {

struct Maximum {
  static constexpr std::string_view name = "maximum";
  static Real lipschitz(Index size) { return std::sqrt(Real(size)); }

  Real value(CVec x) const {
    Real most = 0;
    for (const Real u : x) most = std::max(most, std::abs(u));
    return most;
  }
  template <class Of> Real dual(CVec v, Of&& of) const {
    Real total = 0;
    for (const Real u : v) total += of(u);
    return total;
  }
  template <class Of> Real dual_growth(CVec v, Of&& of) const {
    Real total = 0;
    for (const Real u : v)
      if (of(u) > 0) total += std::abs(u);
    return total;
  }
  template <class Of> Real distance(CVec v, Real radius, Of&& of) const {
    const Real level = level_of(v, radius, of);
    return length(v, [&](Real u) { return std::min(of(u), level); });
  }
  // That from any point of the ball bounds the distance: of w - clip(w, -c, c) for c somewhat larger.
  Real distance_above(CVec w, Real radius) const {
    const auto self = [](Real u) { return u; };
    const Real most = value(w), margin = 1 + Real(w.size() + 8) * rounding::unit;
    Real level = level_of(w, radius, self);
    for (Real more = 4 * rounding::unit; level < most; more *= 2) {
      const Real beyond = dual(w, [&](Real u) { return std::max(u - level, 0.0); });
      if (margin * margin * beyond <= radius) break;
      level = std::min(level + more * most, most);
    }
    return margin * length(w, [&](Real u) { return std::min(u, level); });
  }
  void prox(Vec v, Real radius, Real factor) const {
    const Real level = level_of(v, radius, [](Real u) { return std::abs(u); });
    for (Real& u : v) u = factor * clip(u, -level, level);
  }
  void balance(Vec v) const { // less the middle of their range; its ends tie, to the last bit
    const auto [low, high] = std::minmax_element(v.begin(), v.end());
    const Real from = *low, to = *high, middle = from + (to - from) / 2, half = (to - from) / 2;
    for (Real& u : v) u = u == to ? half : u == from ? -half : clip(u - middle, -half, half);
  }

  // Entries at the maximum move together, by their signs; the others have no slope, and move freely.
  void add_gradient(const Around& at, Vec out) const {
    const Real share = at.strength / tied(at);
    for (std::size_t e = 0; e < out.size(); ++e)
      if (ties(at, e)) out[e] += std::copysign(share, at.u[e]);
  }
  void add_curvature(const Around&, CVec, Vec) const {}
  Real invert(const Around& at, bool, Vec inverse, Vec along) const {
    Real total = 0;
    for (std::size_t e = 0; e < inverse.size(); ++e) {
      const bool tie = ties(at, e);
      if (tie) total += inverse[e];
      along[e] = tie ? std::copysign(1.0, at.u[e]) : 0;
      inverse[e] = tie ? 0 : 1 / inverse[e];
    }
    return 1 / total;
  }
  // The others stay below the maximum, wherever that goes; where it would pass zero, all stop there.
  bool keep(const Around& at, Vec d) const {
    Real level = infinity;
    for (std::size_t e = 0; e < d.size(); ++e)
      if (ties(at, e)) level = std::min(level, std::copysign(1.0, at.u[e]) * (at.u[e] + d[e]));
    bool all = true;
    for (std::size_t e = 0; e < d.size(); ++e) {
      if (level > 0 && !(std::abs(at.u[e] + d[e]) > level)) continue;
      d[e] = (level > 0 ? std::copysign(level, at.u[e] + d[e]) : 0) - at.u[e];
      all = false;
    }
    return all;
  }

private:
  static bool ties(const Around& at, std::size_t e) { return std::abs(at.u[e]) == at.size; }
  static Real tied(const Around& at) {
    Real count = 0;
    for (std::size_t e = 0; e < at.u.size(); ++e) count += ties(at, e);
    return count;
  }
  // The root c >= 0 of f(c) = sum_e max(of(v_e) - c, 0) - radius, or 0. f is convex, falls, and has a kink at
  // each number, so Newton from the left rises to the root and meets it on its last piece (Michelot 1986).
  // That may take a step for each number; with a bisection after each step it takes no more than the digits
  // of c.
  template <class Of> static Real level_of(CVec v, Real radius, Of&& of) {
    Real lo = 0, hi = 0;
    for (const Real u : v) hi = std::max(hi, of(u));
    for (Index last = -1;;) {
      const auto [sum, count] = beyond(v, lo, of);
      const Real next = (sum - radius) / Real(count); // the root on the piece of lo
      if (!(next > lo) || count == last) return std::max(lo, next);
      last = count;
      lo = std::min(next, hi);
      const Real middle = lo + (hi - lo) / 2;
      if (!(middle > lo && middle < hi)) return lo;
      const auto [sum_there, count_there] = beyond(v, middle, of);
      if (sum_there - Real(count_there) * middle > radius) {
        lo = middle;
        last = -1;
      } else {
        hi = middle;
      }
    }
  }
  // The sum of the numbers above c, and how many they are.
  template <class Of> static std::pair<Real, Index> beyond(CVec v, Real c, Of&& of) {
    Real sum = 0;
    Index count = 0;
    for (const Real u : v)
      if (const Real at = of(u); at > c) {
        sum += at;
        ++count;
      }
    return {sum, count};
  }
};

static_assert(BlockNorm<Maximum>);

} // namespace southwell
