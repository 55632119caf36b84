// The scalar problem of one coordinate. A step answers by how much the coordinate's share of the product moves, and
// knows how its side of the problem becomes a point.
#pragma once
#include "core/coupling/gram.hpp"
#include "core/coupling/mirror.hpp"
#include "core/problem.hpp"
#include <utility>

namespace southwell {

// Primal: minimise  slope d + (H/2) d^2 + g_j(x_j + d).
//
// H is the bound L_j = sum_i s_i a_ij^2 / gamma, exact for the squared loss. Where |phi'''| <= M phi'' (logistic,
// Poisson) the true curvature h serves instead, made safe without a line search: for |d| <= r / (M max_i |a_ij|)
//
//     f(x_j + d) <= f + slope d + kappa(r) h d^2/2,       kappa(r) = 2 (e^r - r - 1) / r^2        (Bach 2010, lemma 1)
//
// and the step with curvature h itself is never shorter than the one with kappa(r) h, which settles r.
template <SmoothLoss L> class PrimalStep {
public:
  template <class D>
  PrimalStep(const Problem& problem, L loss, const D& design, std::vector<Real> start)
      : problem_(problem), x_(std::move(start)), bound_(design.cols()) {
    const CVec s = problem.loss.weights();
    problem.design.column_squared_norms(s, bound_);
    if constexpr (L::self_concordance > 0) {
      reach_.resize(design.cols());
      for (Index j = 0; j < design.cols(); ++j) {
        const Real largest = design.largest_entry(j);
        reach_[j] = largest > 0 ? L::self_concordance * largest : 0;
      }
    }
    for (Real& bound : bound_)
      if (bound > 0) bound *= loss.smoothness();
    for (Index j = 0; j < coordinates(); ++j) x_[j] = clip(x_[j], problem.penalty[j].lo, problem.penalty[j].hi);
  }

  Index coordinates() const { return Index(x_.size()); }

  template <class C> SOUTHWELL_INLINE Real operator()(Index j, Real slope, C& coupling) {
    const ScalarElasticNet g = problem_.penalty[j];
    const Real before = x_[j];
    if (before == 0 && std::abs(slope) <= g.l1 && g.lo <= 0 && g.hi >= 0) return 0;
    if (bound_[j] == 0) { // an empty column: only the penalty speaks
      x_[j] = g.minimiser(before);
      return x_[j] - before;
    }
    x_[j] = clip(before + newton(j, slope, g, before, coupling), g.lo, g.hi);
    return x_[j] - before;
  }

  template <class C> void locate(Point& point, C&) {
    point.x = x_;
    complete_from_primal(problem_, point);
  }
  template <class C> void resync(const Point& point, C& coupling) {
    x_ = point.x;
    coupling.reset(C::keeps_potential ? point.margins : point.slopes);
  }

private:
  static Real towards(Real slope, Real curvature, const ScalarElasticNet& g, Real x) {
    return g.prox(x - slope / curvature, 1 / curvature) - x;
  }
  template <class C> Real newton(Index j, Real slope, const ScalarElasticNet& g, Real x, C& coupling) const {
    if constexpr (L::self_concordance > 0) {
      const Real h = coupling.curvature(j);
      if (h > 0) {
        constexpr Real widest = 2; // trust region, in units of r
        const Real longest = std::abs(towards(slope, h, g, x)) * reach_[j], r = std::min(longest, widest);
        const Real kappa = r < 1e-3 ? 1 + r / 3 : 2 * (std::exp(r) - r - 1) / (r * r);
        if (kappa * h < bound_[j]) {
          const Real d = towards(slope, kappa * h, g, x);
          return longest > widest ? clip(d, -widest / reach_[j], widest / reach_[j]) : d;
        }
      } else if (bound_[j] == infinity) { // flat to rounding: walk downhill by the trust region
        return clip(slope == 0 ? 0 : -std::copysign(2 / reach_[j], slope), g.lo - x, g.hi - x);
      }
    }
    return towards(slope, bound_[j], g, x);
  }

  const Problem& problem_;
  std::vector<Real> x_, bound_, reach_;
};

// Dual: maximise  y m_i - phi_i*(y) - (q_i/2)(y - y_i)^2,  q_i = s_i sum_j a_ij^2 / l2_j  (SDCA).
template <Loss L> class DualStep {
public:
  // `norms` holds sum_j a_ij^2 / l2_j for each sample.
  DualStep(const Problem& problem, L loss, std::vector<Real> norms, std::vector<Real> start)
      : problem_(problem), loss_(loss), y_(std::move(start)), q_(std::move(norms)) {
    const CVec s = problem.loss.weights(), b = problem.loss.targets();
    for (Index i = 0; i < coordinates(); ++i) {
      q_[i] *= s[i];
      y_[i] = clip(y_[i], loss.domain(b[i]));
    }
  }

  Index coordinates() const { return Index(y_.size()); }

  template <class C> SOUTHWELL_INLINE Real operator()(Index i, Real margin, C&) {
    const Real s = problem_.loss.weights()[i];
    if (s == 0) return 0;
    const Real before = y_[i];
    y_[i] = loss_.maximise(margin, before, q_[i], problem_.loss.targets()[i]);
    return s * (y_[i] - before);
  }

  template <class C> void locate(Point& point, C& coupling) {
    point.y = y_;
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
      coupling.reset(margins);
    }
  }

private:
  const Problem& problem_;
  L loss_;
  std::vector<Real> y_, q_;
};

} // namespace southwell
