// Many proximal steps at once: k times x <- prox_tau g (x - tau u) under a slope u that stays.
//
// This is what makes SPDC and SAGA cost the entries of a row and not d (Zhang and Xiao 2015, section 4): a
// coordinate that no row has touched for k steps has seen the same slope all along. While x keeps its side of
// zero a step is affine, x <- rho (x - tau pull) with rho = 1/(1 + tau l2) and pull = u + l1 sign(x), so
//
//     k steps:   x <- rho^k x - pull (rho + ... + rho^k) tau
//
// which is right for l2 = 0 and loses no digits where l2 is tiny, as the fixed point -pull/l2 would. Steps
// never turn round: x crosses zero at most once, rests there if |u| <= l1, and stays at a bound it reaches.
#pragma once
#include "core/penalties/elastic_net.hpp"
#include <array>

namespace southwell {

// `plain`: the same penalty on every coordinate, without bounds.
template <bool plain> class Drift {
public:
  // `extra` is added to every l2.
  Drift(const ElasticNet& penalty, Index coordinates, Real tau, Real extra)
      : penalty_(penalty), coordinates_(coordinates), extra_(extra) {
    pace(tau);
  }
  // Sets the length of the steps.
  void pace(Real tau) {
    tau_ = tau;
    common_ = firm(0);
    each_.clear();
    if constexpr (plain) {
      for (std::size_t level = 0; level < tables_.size(); ++level) {
        const Steps one =
            level == 0 ? common_.one : tables_[level - 1].back() * tables_[level - 1][1]; // fan^level steps
        tables_[level].assign(1, {1, 0});
        while (tables_[level].size() < fan) tables_[level].push_back(tables_[level].back() * one);
      }
    } else {
      for (Index j = 0; j < coordinates_; ++j) each_.push_back(firm(j));
    }
  }

  SOUTHWELL_INLINE Real once(Index j, Real x, Real u) const {
    const Firm& g = at(j);
    const Real next = soft(x - tau_ * u, tau_ * g.l1) * g.one.scale;
    return plain ? next : clip(next, g.lo, g.hi);
  }
  SOUTHWELL_INLINE Real times(Index j, Real x, Real u, Index k) const {
    const Firm& g = at(j);
    const Real end = steps(g, k).of(x, u + std::copysign(g.l1, x));
    if (end * x > 0 || g.l1 == 0) return plain ? end : clip(end, g.lo, g.hi);
    if (std::abs(u) <= g.l1) return plain ? 0 : clip(0, g.lo, g.hi); // at rest, perhaps since a while
    return across(j, x, u, k);
  }

private:
  // k steps on one side of zero, x <- scale x - shift pull; a product is one after the other.
  struct Steps {
    Real scale, shift;
    SOUTHWELL_INLINE Real of(Real x, Real pull) const { return scale * x - shift * pull; }
    SOUTHWELL_INLINE Steps operator*(Steps then) const {
      return {scale * then.scale, shift * then.scale + then.shift};
    }
  };
  struct Firm { // the penalty of a coordinate, the extra l2 included
    Real l1, l2, lo, hi;
    Steps one;
  };
  static constexpr std::size_t fan = 256;

  Firm firm(Index j) const {
    const ScalarElasticNet g = penalty_[j];
    const Real rho = 1 / (1 + tau_ * (g.l2 + extra_));
    return {g.l1, g.l2 + extra_, g.lo, g.hi, {rho, rho * tau_}};
  }
  SOUTHWELL_INLINE const Firm& at(Index j) const {
    if constexpr (plain) return common_;
    return each_[j];
  }
  SOUTHWELL_INLINE Steps steps(const Firm& g, Index k) const {
    if (plain && k < Index(fan * fan)) return tables_[0][k % fan] * tables_[1][k / fan];
    Steps all{1, 0}; // by repeated squaring
    for (Steps power = g.one; k > 0; k /= 2, power = power * power)
      if (k % 2) all = all * power;
    return all;
  }
  // Through zero and on, or from zero.
  Real across(Index j, Real x, Real u, Index k) const {
    const Firm& g = at(j);
    while (k > 0) {
      const Real next = once(j, x, u);
      --k;
      if (next == x) return x;
      x = next;
      if (k == 0 || x == 0) continue;
      const Real pull = u + std::copysign(g.l1, x);
      const Index stay = x * pull > 0 ? std::min(k, safely_before_zero(x / pull, g.l2)) : k;
      x = clip(steps(g, stay).of(x, pull), g.lo, g.hi);
      k -= stay;
    }
    return x;
  }
  // A number of steps after which x has not reached zero, at most a few short of the most; ratio = x / pull.
  Index safely_before_zero(Real ratio, Real l2) const {
    const Real steps = l2 > 0 ? std::log1p(ratio * l2) / std::log1p(tau_ * l2) : ratio / tau_;
    return steps > 2 ? Index(std::min(steps - 2, 1e15)) : 0;
  }

  const ElasticNet& penalty_;
  Index coordinates_;
  Real tau_ = 0, extra_;
  Firm common_ = {};
  std::vector<Firm> each_;
  std::array<std::vector<Steps>, 2> tables_; // of k and of fan k steps
};

} // namespace southwell
