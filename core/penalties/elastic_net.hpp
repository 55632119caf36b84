// g_j(x) = w_j (l1 |x| + (l2/2) x^2) on [lo_j, hi_j]; w_j = 0 leaves the coordinate unpenalised.
#pragma once
#include "core/support/rounding.hpp"
#include <span>
#include <utility>
#include <vector>

namespace southwell {

namespace kernels {

SOUTHWELL_CLONES inline Real largest(const Real* z, Index n) { // max |z_j|; NaN if one is not finite
  Real most = 0, nothing = 0;
#pragma omp simd reduction(max : most) reduction(+ : nothing)
  for (Index j = 0; j < n; ++j) {
    most = std::abs(z[j]) > most ? std::abs(z[j]) : most;
    nothing += 0 * z[j];
  }
  return most + nothing;
}
// sum_j (unit max(|scale z_j| - l1, 0))^2
SOUTHWELL_CLONES inline Real excess(const Real* z, Real scale, Real l1, Real unit, Index n) {
  Real total = 0;
#pragma omp simd reduction(+ : total)
  for (Index j = 0; j < n; ++j) {
    const Real over = unit * std::max(std::abs(scale * z[j]) - l1, 0.0);
    total += over * over;
  }
  return total;
}

} // namespace kernels

struct ScalarElasticNet {
  Real l1, l2, lo, hi; // read by penalties/ alone: see ScalarPenalty for what others ask

  bool operator==(const ScalarElasticNet&) const = default;
  SOUTHWELL_INLINE Interval domain() const { return {lo, hi}; }
  SOUTHWELL_INLINE bool free() const { return l1 == 0 && l2 == 0; }
  SOUTHWELL_INLINE Real kink() const { return l1; }
  SOUTHWELL_INLINE bool zero_is_optimal(Real slope) const {
    return std::abs(slope) <= l1 && lo <= 0 && hi >= 0;
  }
  bool smooth_at(Real x) const { return x > lo && x < hi && (x != 0 || l1 == 0); }
  Real gradient(Real x) const { return l2 * x + (x > 0 ? l1 : x < 0 ? -l1 : 0); }
  Real curvature(Real) const { return l2; }
  Real held(Real from, Real to) const {
    if (l1 > 0 && from > 0) to = std::max(to, 0.0);
    if (l1 > 0 && from < 0) to = std::min(to, 0.0);
    return clip(to, lo, hi);
  }
  SOUTHWELL_INLINE Real strong_convexity() const { return l2; }
  SOUTHWELL_INLINE ScalarElasticNet with_ridge(Real extra) const { return {l1, l2 + extra, lo, hi}; }
  Shrinkage shrinkage(Real step) const { return {step * l1, 1 / (1 + step * l2)}; }
  Shrinkage conjugate_shrinkage() const { return {l1, 1 / l2}; }

  Real value(Real x) const { return x < lo || x > hi ? infinity : l1 * std::abs(x) + l2 / 2 * x * x; }
  SOUTHWELL_INLINE Real prox(Real v, Real step) const {
    return clip(soft(v, step * l1) / (1 + step * l2), lo, hi);
  }

  // argmax_x  v x - g(x) - (mu/2)(x - centre)^2: the gradient of g* for mu = 0, which needs l2 > 0.
  SOUTHWELL_INLINE Real conjugate_gradient(Real v, Real mu = 0, Real centre = 0) const {
    return clip(soft(v + mu * centre, l1) / (l2 + mu), lo, hi);
  }
  Real conjugate(Real v) const {
    if (l2 > 0) {
      const Real x = conjugate_gradient(v);
      return v * x - value(x);
    }
    if (feasible_scale(v) < 1 - 1e-12) return infinity;
    if (std::abs(v) > l1) { // linear towards a finite bound, or rounding
      const Real end = v > 0 ? hi : lo;
      return std::isfinite(end) ? v * end - value(end) : 0;
    }
    const Real x = minimiser(0); // |v| <= l1: best at 0, or at the bound nearest to it
    return v * x - value(x);
  }
  Real feasible_scale(Real v) const {
    if (l2 > 0 || std::abs(v) <= l1 || std::isfinite(v > 0 ? hi : lo)) return 1;
    return l1 / std::abs(v);
  }
  // The same with all rounding errors counted, those of l1 and l2 (a weight times a strength) included: of g,
  // and of g* at any point of [from, to]; infinity where that may be outside dom g*.
  Real value_above(Real x) const { return (1 + 16 * rounding::unit) * value(x) + rounding::tiny; }
  Real conjugate_above(Real from, Real to) const {
    constexpr Real off = 4 * rounding::unit;
    const auto at = [&](Real v, Real x) { // v x - g(x)
      const Real size = std::abs(v * x) + (l1 + l2 / 2 * std::abs(x)) * std::abs(x);
      return v * x - (l1 + l2 / 2 * std::abs(x)) * std::abs(x) + 16 * rounding::unit * size + rounding::tiny;
    };
    const auto bound = [&](Real v) {
      const Real l1_less = l1 * (1 - off), l1_more = l1 * (1 + off), size = std::abs(v);
      if (l2 == 0) {
        if (size > l1_less && !std::isfinite(v > 0 ? hi : lo)) return v == 0 ? 0 : infinity;
        Real most = at(v, minimiser(0)); // concave and in pieces: the best is at zero or at an end
        if (std::isfinite(lo)) most = std::max(most, at(v, lo));
        if (std::isfinite(hi)) most = std::max(most, at(v, hi));
        return most;
      }
      // Where the maximiser without bounds is surely beyond one, the best is there; else that is an upper
      // bound.
      const Real sign = v > 0 ? 1 : -1, least = sign * std::max(size - l1_more, 0.0) / l2 * (1 - off),
                 most = sign * std::max(size - l1_less, 0.0) / l2 * (1 + off);
      if (std::min(least, most) >= hi) return at(v, hi);
      if (std::max(least, most) <= lo) return at(v, lo);
      const Real pull = std::max(size * (1 + off) - l1_less, 0.0);
      return pull * (pull / (2 * l2)) * (1 + 4 * off) + rounding::tiny;
    };
    return std::max(bound(from), bound(to)); // g* is convex
  }
  // A scale of y that surely brings slopes of at most this size on the open side of dom g* into it; `l2`
  // apart if it is not to be counted.
  Real feasible_scale_below(Real size, bool with_l2) const {
    return (l2 > 0 && with_l2) || size == 0 ? 1 : std::min(1.0, l1 / size * (1 - 16 * rounding::unit));
  }
  Interval subdifferential(Real x) const {
    const Real at = l2 * x;
    return {x <= lo ? -infinity : at + (x > 0 ? l1 : -l1), x >= hi ? infinity : at + (x < 0 ? -l1 : l1)};
  }
  // All argmax_x  v' x - g(x) for v' within `slack` of v; needs l2 > 0 or a bounded box.
  Interval conjugate_subdifferential(Real v, Real slack) const {
    const auto argmax = [&](Real u) {
      const Real pull = soft(u, l1);
      if (l2 > 0) return clip(pull / l2, lo, hi);
      return pull > 0 ? hi : pull < 0 ? lo : clip(0, lo, hi);
    };
    return {argmax(v - slack), argmax(v + slack)};
  }
  // The largest |x| with l1 |x| + (l2/2) x^2 <= level, the box apart.
  Real reach(Real level) const {
    return level > 0 ? 2 * level / (l1 + std::hypot(l1, std::sqrt(2 * l2) * std::sqrt(level))) : 0;
  }
  ScalarElasticNet within(Real from, Real to) const { return {l1, l2, std::max(lo, from), std::min(hi, to)}; }
  // g(x) - g(u) - r (x - u) for a subgradient r of g at u, as a sum of terms >= 0: nothing cancels.
  Real bregman(Real x, Real u, Real r) const {
    const Real d = u - x, rest = r - l2 * u; // the part of r that belongs to |u| and to the box
    const Real sign = u > 0   ? l1
                      : u < 0 ? -l1
                              : clip(rest, -l1, l1),
               push = u <= lo || u >= hi ? rest - sign : 0;
    return l2 / 2 * d * d + std::max(l1 * std::abs(x) - sign * x, 0.0) + std::max(push * d, 0.0);
  }
  Real minimiser(Real x) const { return clip(l1 > 0 || l2 > 0 ? 0 : x, lo, hi); }
};

class ElasticNet {
public:
  static constexpr Index width = 1;

  // Empty arrays mean: every weight 1, those of l2 the same, no bounds. Coordinates from `penalised` on (the
  // intercept) are free.
  ElasticNet(Real l1, Real l2, std::vector<Real> weights, std::vector<Real> ridge_weights,
             std::vector<Real> lower, std::vector<Real> upper, Index penalised)
      : l1_(l1), l2_(l2), weights_(std::move(weights)), ridge_weights_(std::move(ridge_weights)),
        lower_(std::move(lower)), upper_(std::move(upper)), penalised_(penalised) {}

  SOUTHWELL_INLINE ScalarElasticNet operator[](Index j) const {
    if (j >= penalised_) return {0, 0, -infinity, infinity};
    const Real w = weights_.empty() ? 1 : weights_[j], r = ridge_weights_.empty() ? w : ridge_weights_[j];
    return {w * l1_, r * l2_, lower_.empty() ? -infinity : lower_[j], upper_.empty() ? infinity : upper_[j]};
  }
  // Over all coordinates. Where the formula is the same for all, the loop vectorises.
  Real value(CVec x) const {
    if (plain() && penalised_ > 0)
      return unrolled(penalised_, [&, l1 = l1_, l2 = l2_](Index j) {
        return (l1 + l2 / 2 * std::abs(x[j])) * std::abs(x[j]);
      });
    Real total = 0;
    for (Index j = 0; j < Index(x.size()); ++j) total += (*this)[j].value(x[j]);
    return total;
  }
  Real conjugate(CVec slopes, Real scale) const {
    Real total = 0;
    Index j = 0;
    if (plain() && penalised_ > 0) {
      j = penalised_;
      total += l2_ > 0 ? kernels::excess(slopes.data(), scale, l1_, 1 / std::sqrt(2 * l2_), j)
                       : (*this)[0].conjugate(scale * kernels::largest(slopes.data(), j)); // 0, or infinity
    }
    for (; j < Index(slopes.size()); ++j) total += (*this)[j].conjugate(-scale * slopes[j]);
    return total;
  }
  Real feasible_scale(CVec slopes, bool with_l2) const {
    const auto at = [&](Index j) {
      const ScalarElasticNet g = (*this)[j];
      return with_l2 ? g : g.with_ridge(-g.l2);
    };
    Real scale = 1;
    Index j = 0;
    if (plain()) { // the largest slope decides
      j = penalised_;
      if (j > 0) scale = at(0).feasible_scale(kernels::largest(slopes.data(), j));
    }
    for (; j < Index(slopes.size()); ++j) scale = std::min(scale, at(j).feasible_scale(-slopes[j]));
    return scale;
  }
  // Over all coordinates but the intercept, with all rounding errors counted; slopes are known within radii.
  Real value_above(CVec x) const {
    rounding::SumAbove sum;
    for (Index j = 0; j < penalised_; ++j)
      if (x[j] != 0 || bounded()) sum.add((*this)[j].value_above(x[j]));
    return sum.above();
  }
  Real conjugate_above(CVec slopes, CVec radii, Real scale) const {
    if (plain() && penalised_ > 0) { // most slopes are well inside [-l1, l1], where g* is zero
      const ScalarElasticNet g = (*this)[0];
      const Real inside = g.l1 * (1 - 16 * rounding::unit);
      rounding::SumAbove sum;
      for (Index j = 0; j < penalised_; ++j)
        if (const Real most = scale * reach_of(slopes, radii, j); !(most < inside))
          sum.add(g.conjugate_above(-most, most));
      return sum.above();
    }
    rounding::SumAbove sum;
    for (Index j = 0; j < penalised_; ++j) {
      const Real at = -scale * slopes[j], off = scale * (reach_of(slopes, radii, j) - std::abs(slopes[j]));
      sum.add((*this)[j].conjugate_above(at - off, at + off));
    }
    return sum.above();
  }
  Real feasible_scale_below(CVec slopes, CVec radii, bool with_l2) const {
    Real scale = 1, most = 0;
    for (Index j = 0; j < penalised_; ++j) {
      const Real off = reach_of(slopes, radii, j) - std::abs(slopes[j]);
      if (plain()) {
        most = std::max(most, std::abs(slopes[j]) + off);
        continue;
      }
      const ScalarElasticNet g = (*this)[j];
      const auto keep = [&](Real size) { scale = std::min(scale, g.feasible_scale_below(size, with_l2)); };
      if (!std::isfinite(g.hi)) keep(std::max(off - slopes[j], 0.0));
      if (!std::isfinite(g.lo)) keep(std::max(off + slopes[j], 0.0));
    }
    return penalised_ > 0 ? std::min(scale, (*this)[0].feasible_scale_below(most, with_l2)) : scale;
  }

  // Its units, which are zero or not as a whole: single features, the intercept among them. See Groups.
  using Unit = ScalarElasticNet;
  static constexpr bool intercept_apart = false;
  Index units(Index features) const { return features; }
  template <class F> void each_feature(Index u, F&& f) const { f(u); }
  bool whole() const { return false; } // is there no working set to choose? Sweeps want columns anyway
  Real kink() const { return l1_; }    // the strength that a path lowers
  Real ridge() const { return l2_; }   // before weights
  bool kinked(Index u) const { return (*this)[u].l1 > 0; }
  ScalarElasticNet eased(Index u, Real times) const { // with kinks so many times as strong
    ScalarElasticNet g = (*this)[u];
    g.l1 *= times;
    return g;
  }
  // By how much slopes then break the optimality of x_u = 0.
  Real violation(Index u, CVec slopes, Real times) const {
    if (plain() && std::abs(slopes[u]) <= times * l1_ && u < penalised_) return 0; // as most do not
    return eased(u, times).subdifferential(0).distance(-slopes[u]);
  }
  // How many times as strong kinks must be for zero to be optimal.
  Real times_needed(Index u, CVec slopes) const { return std::abs(slopes[u]) / (*this)[u].l1; }
  // Can zero be optimal for more than one slope, so that it can be proved?
  bool holds_zero(Index u) const {
    const Interval quiet = (*this)[u].subdifferential(0);
    return u < penalised_ && quiet.lo < quiet.hi;
  }
  Real least_l2() const { // of all features
    Real least = infinity;
    for (Index j = 0; j < penalised_ && least > 0; ++j) least = std::min(least, (*this)[j].l2);
    return least;
  }
  // Marks units that are zero in every solution: optimal slopes are within `reach` times a unit's length of
  // these, scaled.
  void mark_zeros(CVec slopes, Real scale, CVec lengths, Real reach, std::span<char> zero) const {
    const auto room = [&](Index j, Real z, Real l1) {
      return reach * lengths[j] + 1e-10 * (std::abs(z) + l1);
    };
    if (plain()) { // one condition for all: the loop vectorises
      for (Index j = 0; j < penalised_; ++j) {
        const Real z = scale * slopes[j];
        zero[j] |= char(std::abs(z) + room(j, z, l1_) < l1_);
      }
      return;
    }
    for (Index j = 0; j < penalised_; ++j) {
      const ScalarElasticNet g = (*this)[j];
      if (zero[j] || g.lo > 0 || g.hi < 0) continue;
      const Interval quiet = g.subdifferential(0);
      const Real z = scale * slopes[j], far = room(j, z, g.l1);
      zero[j] = -z - far > quiet.lo && -z + far < quiet.hi;
    }
  }
  bool weighted() const { return !weights_.empty() || !ridge_weights_.empty(); }
  bool plain() const { return !weighted() && !bounded(); } // the same on every coefficient but the intercept
  bool bounded() const { return !lower_.empty() || !upper_.empty(); }
  bool quadratic() const { return l1_ == 0 && !bounded(); } // then grad g* is linear
  Index penalised() const { return penalised_; }

private:
  // The largest size that slope j may have.
  static Real reach_of(CVec slopes, CVec radii, Index j) {
    return std::abs(slopes[j]) * (1 + 5 * rounding::unit) + 1.01 * radii[j];
  }

  Real l1_, l2_;
  std::vector<Real> weights_, ridge_weights_, lower_, upper_;
  Index penalised_;
};

static_assert(ShrinkingPenalty<ScalarElasticNet> && Penalty<ElasticNet>);

} // namespace southwell
