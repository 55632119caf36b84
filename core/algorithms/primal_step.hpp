// The scalar problem of one feature: minimise  slope d + (H/2) d^2 + g_j(x_j + d).
//
// H is the bound L_j = sum_i s_i a_ij^2 / gamma, exact for the squared loss. Where |phi'''| <= M phi''
// (logistic, Poisson) the true curvature h is used instead, made safe without a line search: for |d| <= r /
// (M max_i |a_ij|)
//
//     f(x_j + d) <= f + slope d + kappa(r) h d^2/2,       kappa(r) = 2 (e^r - r - 1) / r^2        (Bach 2010,
//     lemma 1)
//
// and the step with curvature h itself is never shorter than the one with kappa(r) h, so its length
// determines r.
//
// A step computes the change of the coordinate, its scores (how far it is from its optimum), and the Point
// (x, y) of its side of the problem.
#pragma once
#include "core/problem.hpp"
#include "core/rules/score.hpp"
#include <utility>

namespace southwell {

// The H of a step: the true curvature where that is safe; the bound L_j; or the largest L_j for every
// feature, as theorems about L_max have it.
#define SOUTHWELL_CURVATURES(one) one(local) one(coordinate) one(largest)
SOUTHWELL_ENUMERATION(Curvature, SOUTHWELL_CURVATURES)

template <SmoothLoss L> class PrimalStep {
public:
  static constexpr Real direction = 1;           // a reading is the gradient of the coupled part
  static constexpr bool parabola = L::quadratic; // whether several candidates may compete in acceleration

  template <class D>
  PrimalStep(const Problem& problem, L loss, const D& design, CVec start,
             Curvature curvature = Curvature::local)
      : problem_(problem), norms_(design.cols()) {
    problem.design.column_squared_norms(problem.loss.weights(), norms_);
    features_.reserve(norms_.size());
    for (Index j = 0; j < design.cols(); ++j)
      features_.push_back(
          {clip(start[j], problem.penalty[j].domain()), norms_[j] > 0 ? norms_[j] * loss.smoothness() : 0});
    for (Index j = 0; j < design.cols(); ++j) {
      largest_ = std::max(largest_, features_[j].bound);
      steepest_ = std::max(steepest_, features_[j].bound + problem.penalty[j].curvature(features_[j].x));
    }
    if (curvature == Curvature::largest)
      for (Feature& feature : features_) feature.bound = largest_;
    else
      steepest_ = 0;
    if constexpr (L::self_concordance > 0)
      for (Index j = 0; curvature == Curvature::local && j < design.cols(); ++j)
        bends_.push_back(L::self_concordance * design.largest_entry(j, problem.loss.weights()));
  }

  Index coordinates() const { return Index(features_.size()); }
  void prefetch(Index j) const { SOUTHWELL_PREFETCH(&features_[j]); }

  template <class C> SOUTHWELL_INLINE Real operator()(Index j, Real slope, C& coupling) {
    const ScalarElasticNet g = problem_.penalty[j];
    auto& [x, bound] = features_[j];
    const Real before = x;
    if (before == 0 && g.zero_is_optimal(slope)) return 0;
    x = bound == 0 ? g.minimiser(before) // an empty column: x_j minimises the penalty alone
                   : clip(before + newton(j, slope, g, before, bound, coupling), g.domain());
    return x - before;
  }

  // Scores. If l2 = 0, g_j* is infinite beyond l1, and so would be the scores. But no iterate of a descent
  // method has g_j(x_j) > level - g_j*(0), level = P(start) - D(0), so x_j may be bounded there, which makes
  // g_j* finite (Perekrestenko et al., section 4.1).
  void prepare_scores() {
    std::vector<Real> x(features_.size()), margins(problem_.design.rows());
    for (Index j = 0; j < coordinates(); ++j) x[j] = features_[j].x;
    problem_.design.apply(x, margins);
    const Real start = problem_.loss.value(margins) + problem_.penalty.value(x);
    const Real level = std::max(start - problem_.dual_at_zero(), 0.0);
    const Real largest = *std::max_element(norms_.begin(), norms_.end());
    scales_.clear();
    for (Index j = 0; j < coordinates(); ++j) {
      const ScalarElasticNet g = problem_.penalty[j];
      const Real norm = norms_[j];
      scales_.push_back(
          {std::sqrt(norm > 0 ? norm : largest),
           !g.free()  ? g.reach(level - g.conjugate(0))
           : norm > 0 ? std::sqrt(2 * level / norm)
                      : 1,
           g.strong_convexity() > 0 ? 0 : 1e-12 * (g.kink() + std::sqrt(norm) * std::sqrt(level))});
    }
  }
  Real score(Score kind, Index j, Real slope) const {
    const ScalarElasticNet g = problem_.penalty[j];
    const auto [x, bound] = features_[j];
    switch (kind) {
    case Score::none:
      return 0;
    case Score::reach: {
      if (norms_[j] == 0 && g.minimiser(x) == x) return 0; // an empty column at its optimum
      const Interval h = g.within(-scales_[j].reach, scales_[j].reach).domain();
      return std::max(std::abs(h.lo), std::abs(h.hi)) * scales_[j].size;
    }
    case Score::residual:
      return bounded(j, g, x, slope).conjugate_subdifferential(-slope, scales_[j].kink).distance(x) *
             scales_[j].size;
    case Score::bracket: {
      const ScalarElasticNet h = bounded(j, g, x, slope);
      return std::max(h.value(x) + h.conjugate(-slope) + slope * x, 0.0);
    }
    case Score::violation:
      return g.subdifferential(x).distance(-slope);
    case Score::step:
    case Score::decrease:
      break;
    }
    const Real d = bound == 0 ? g.minimiser(x) - x : towards(slope, bound, g, x);
    if (kind == Score::step) return std::abs(d);
    // -(slope d + (L/2) d^2 + g(x + d) - g(x)); -slope - L d is a subgradient of g at x + d
    return bound / 2 * d * d + g.bregman(x, x + d, -slope - bound * d);
  }

  // Readings for which the score is zero while x_j stays where it is.
  Interval quiet(Index j) const {
    const Interval by_penalty = problem_.penalty[j].subdifferential(features_[j].x);
    return {-by_penalty.hi, -by_penalty.lo};
  }

  // For accelerated descent: the proximal step from `from` with curvature `stretch` L_j, and, where g is
  // smooth, gradient and curvature of f + g_j.
  Real prox(Index j, Real slope, Real from, Real stretch) const {
    const Real bound = stretch * features_[j].bound;
    const ScalarElasticNet g = problem_.penalty[j];
    return bound == 0 ? g.minimiser(from) : g.prox(from - slope / bound, 1 / bound);
  }
  std::pair<Real, Real> smooth(Index j, Real slope, Real x) const {
    const ScalarElasticNet g = problem_.penalty[j];
    return {slope + g.gradient(x), steepest_ > 0 ? steepest_ : features_[j].bound + g.curvature(x)};
  }
  Real convexity(Index j) const { // of g_j, in units of L_j
    return features_[j].bound > 0 ? problem_.penalty[j].strong_convexity() / features_[j].bound : infinity;
  }
  Real share(Index) const { return 1; }
  Real coupled_value(CVec margins) const { return problem_.loss.value(margins); }
  Real own_value(CVec x) const { return problem_.penalty.value(x); }
  Real at(Index j) const { return features_[j].x; }
  void place(Index j, Real x) { features_[j].x = x; }

  bool has_intercept() const { return problem_.has_intercept(); }
  static CVec readings(const Point& point) { return point.slopes; }
  static CVec product(const Point& point) { return point.margins; }
  template <class C> void locate(Point& point, C&) {
    for (std::size_t j = 0; j < features_.size(); ++j) point.x[j] = features_[j].x;
    complete_from_primal(problem_, point);
  }
  template <class C> void resync(const Point& point, C& coupling) {
    for (std::size_t j = 0; j < features_.size(); ++j) features_[j].x = point.x[j];
    coupling.reset(C::keeps_potential ? point.margins : point.slopes);
  }

private:
  static Real towards(Real slope, Real curvature, const ScalarElasticNet& g, Real x) {
    return g.prox(x - slope / curvature, 1 / curvature) - x;
  }
  template <class C>
  Real newton(Index j, Real slope, const ScalarElasticNet& g, Real x, Real bound, C& coupling) const {
    if constexpr (L::self_concordance > 0) {
      if (bends_.empty()) return towards(slope, bound, g, x);
      const Real h = coupling.curvature(j);
      if (h > 0) {
        constexpr Real widest = 2; // trust region, in units of r
        const Real longest = std::abs(towards(slope, h, g, x)) * bends_[j], r = std::min(longest, widest);
        const Real kappa = r < 1e-3 ? 1 + r / 3 + r * r / 10 : 2 * (std::exp(r) - r - 1) / (r * r);
        if (kappa * h < bound) {
          const Real d = towards(slope, kappa * h, g, x);
          return longest > widest ? clip(d, -widest / bends_[j], widest / bends_[j]) : d;
        }
      } else if (bound == infinity) { // curvature 0 up to rounding: to the end of the trust region
        const Interval box = g.domain();
        return clip(slope == 0 ? 0 : -std::copysign(2 / bends_[j], slope), box.lo - x, box.hi - x);
      }
    }
    return towards(slope, bound, g, x);
  }
  ScalarElasticNet bounded(Index j, const ScalarElasticNet& g, Real x, Real slope) const {
    if (g.strong_convexity() > 0) return g;
    if (g.free()) {
      // Unpenalised: bounded by the length of a gradient step; otherwise its score would exceed all others
      // near the optimum.
      const Real curvature = std::isfinite(features_[j].bound) ? features_[j].bound : norms_[j];
      const Real reach = curvature > 0 ? std::abs(slope) / curvature : 0;
      return g.within(x - reach, x + reach);
    }
    const Real far = std::max(scales_[j].reach, std::abs(x));
    return g.within(-far, far);
  }

  struct Feature {
    Real x, bound; // bound = L_j
  };
  struct Scale {
    Real size, reach, kink;
  };
  const Problem& problem_;

  std::vector<Real> norms_; // sum_i s_i a_ij^2
  std::vector<Feature> features_;
  std::vector<Real> bends_; // M max_i |a_ij|, if steps use the true curvature
  Real largest_ = 0;        // L_j
  Real steepest_ = 0;       // the largest L_j + l2_j, if all steps have the same curvature
  std::vector<Scale> scales_;
};

} // namespace southwell
