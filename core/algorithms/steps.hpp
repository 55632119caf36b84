// The scalar problem of one coordinate. A step answers by how much the coordinate's share of the product
// moves, and knows how its side of the problem becomes a point.
#pragma once
#include "core/coupling/gram.hpp"
#include "core/coupling/mirror.hpp"
#include "core/problem.hpp"
#include <utility>

namespace southwell {

// Primal: minimise  slope d + (H/2) d^2 + g_j(x_j + d).
//
// H is the bound L_j = sum_i s_i a_ij^2 / gamma, exact for the squared loss. Where |phi'''| <= M phi''
// (logistic, Poisson) the true curvature h serves instead, made safe without a line search: for |d| <= r / (M
// max_i |a_ij|)
//
//     f(x_j + d) <= f + slope d + kappa(r) h d^2/2,       kappa(r) = 2 (e^r - r - 1) / r^2        (Bach 2010,
//     lemma 1)
//
// and the step with curvature h itself is never shorter than the one with kappa(r) h, which settles r.
template <SmoothLoss L> class PrimalStep {
public:
  template <class D>
  PrimalStep(const Problem& problem, L loss, const D& design, CVec start) : problem_(problem) {
    std::vector<Real> norms(design.cols());
    problem.design.column_squared_norms(problem.loss.weights(), norms);
    features_.reserve(norms.size());
    for (Index j = 0; j < design.cols(); ++j)
      features_.push_back({clip(start[j], problem.penalty[j].lo, problem.penalty[j].hi),
                           norms[j] > 0 ? norms[j] * loss.smoothness() : 0});
    if constexpr (L::self_concordance > 0)
      for (Index j = 0; j < design.cols(); ++j)
        reach_.push_back(L::self_concordance * design.largest_entry(j, problem.loss.weights()));
  }

  Index coordinates() const { return Index(features_.size()); }
  void prefetch(Index j) const { SOUTHWELL_PREFETCH(&features_[j]); }

  template <class C> SOUTHWELL_INLINE Real operator()(Index j, Real slope, C& coupling) {
    const ScalarElasticNet g = problem_.penalty[j];
    auto& [x, bound] = features_[j];
    const Real before = x;
    if (before == 0 && std::abs(slope) <= g.l1 && g.lo <= 0 && g.hi >= 0) return 0;
    x = bound == 0 ? g.minimiser(before) // an empty column: only the penalty speaks
                   : clip(before + newton(j, slope, g, before, bound, coupling), g.lo, g.hi);
    return x - before;
  }

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
      const Real h = coupling.curvature(j);
      if (h > 0) {
        constexpr Real widest = 2; // trust region, in units of r
        const Real longest = std::abs(towards(slope, h, g, x)) * reach_[j], r = std::min(longest, widest);
        const Real kappa = r < 1e-3 ? 1 + r / 3 + r * r / 10 : 2 * (std::exp(r) - r - 1) / (r * r);
        if (kappa * h < bound) {
          const Real d = towards(slope, kappa * h, g, x);
          return longest > widest ? clip(d, -widest / reach_[j], widest / reach_[j]) : d;
        }
      } else if (bound == infinity) { // flat to rounding: walk downhill by the trust region
        return clip(slope == 0 ? 0 : -std::copysign(2 / reach_[j], slope), g.lo - x, g.hi - x);
      }
    }
    return towards(slope, bound, g, x);
  }

  struct Feature {
    Real x, bound; // bound = L_j
  };
  const Problem& problem_;
  std::vector<Feature> features_;
  std::vector<Real> reach_; // M max_i |a_ij|
};

// Dual: maximise  y m_i - phi_i*(y) - (q_i/2)(y - y_i)^2,  q_i = s_i sum_j a_ij^2 / l2_j  (SDCA).
template <Loss L> class DualStep {
public:
  // `norms` holds sum_j a_ij^2 / l2_j for each sample.
  DualStep(const Problem& problem, L loss, CVec norms, CVec start) : problem_(problem), loss_(loss) {
    const CVec s = problem.loss.weights(), b = problem.loss.targets();
    samples_.reserve(start.size());
    for (std::size_t i = 0; i < start.size(); ++i)
      samples_.push_back({clip(start[i], loss.domain(b[i])), s[i] * norms[i], s[i], b[i]});
  }

  Index coordinates() const { return Index(samples_.size()); }
  void prefetch(Index i) const { SOUTHWELL_PREFETCH(&samples_[i]); }

  template <class C> SOUTHWELL_INLINE Real operator()(Index i, Real margin, C&) {
    Sample& sample = samples_[i];
    if (sample.s == 0) return 0;
    const Real before = sample.y;
    sample.y = loss_.maximise(margin, before, sample.q, sample.b);
    return sample.s * (sample.y - before);
  }

  template <class C> void locate(Point& point, C& coupling) {
    for (std::size_t i = 0; i < samples_.size(); ++i) point.y[i] = samples_[i].y;
    complete_from_dual(problem_, point, [&](CVec z, Vec x) {
      for (Index j = 0; j < Index(x.size()); ++j) x[j] = coupling.map().at(j, z[j]);
    });
  }
  template <class C> void resync(const Point& point, C& coupling) {
    Real shift = 0;
    if (problem_.has_intercept()) { // its anchor goes where its own problem put it
      const Index last = problem_.design.cols() - 1;
      coupling.map().recentre(last, point.x.back());
      shift = coupling.map().at(last, point.slopes.back()) - point.x.back();
    }
    if constexpr (C::keeps_potential) {
      coupling.reset(point.slopes);
    } else {
      std::vector<Real> margins = point.margins;
      for (Real& m : margins) m += shift;
      coupling.reset(margins, point.slopes.back());
    }
  }

private:
  struct Sample { // what one step needs, on one cache line
    Real y, q, s, b;
  };
  const Problem& problem_;
  L loss_;
  std::vector<Sample> samples_;
};

} // namespace southwell
