// g_j(x) = w_j (l1 |x| + (l2/2) x^2) on [lo_j, hi_j]; w_j = 0 leaves the coordinate unpenalised.
#pragma once
#include "core/support/math.hpp"
#include <utility>
#include <vector>

namespace southwell {

struct ScalarElasticNet {
  Real l1, l2, lo, hi;

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

  // Empty arrays mean: every weight 1, no bounds. Coordinates from `penalised` on (the intercept) are free.
  ElasticNet(Real l1, Real l2, std::vector<Real> weights, std::vector<Real> lower, std::vector<Real> upper,
             Index penalised)
      : l1_(l1), l2_(l2), weights_(std::move(weights)), lower_(std::move(lower)), upper_(std::move(upper)),
        penalised_(penalised) {}

  SOUTHWELL_INLINE ScalarElasticNet operator[](Index j) const {
    if (j >= penalised_) return {0, 0, -infinity, infinity};
    const Real w = weights_.empty() ? 1 : weights_[j];
    return {w * l1_, w * l2_, lower_.empty() ? -infinity : lower_[j], upper_.empty() ? infinity : upper_[j]};
  }
  bool weighted() const { return !weights_.empty(); }
  bool plain() const {
    return weights_.empty() && !bounded();
  } // the same on every coefficient but the intercept
  bool bounded() const { return !lower_.empty() || !upper_.empty(); }
  bool quadratic() const { return l1_ == 0 && !bounded(); } // then grad g* is linear
  Index penalised() const { return penalised_; }

private:
  Real l1_, l2_;
  std::vector<Real> weights_, lower_, upper_;
  Index penalised_;
};

static_assert(ScalarPenalty<ScalarElasticNet> && Penalty<ElasticNet>);

} // namespace southwell
