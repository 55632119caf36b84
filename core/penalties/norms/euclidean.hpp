// ||x||: the group lasso, and rows of a coefficient matrix that are zero as a whole. It is its own dual norm.
#pragma once
#include "core/penalties/norms/norm.hpp"
#include <numeric>

namespace southwell {

struct Euclidean {
  static constexpr std::string_view name = "euclidean";
  static Real lipschitz(Index) { return 1; }

  Real value(CVec x) const {
    return length(x, [](Real u) { return u; });
  }
  template <class Of> Real dual(CVec v, Of&& of) const { return length(v, of); }
  template <class Of> Real dual_growth(CVec v, Of&& of) const {
    Real along = 0;
    for (const Real u : v) along += of(u) * std::abs(u);
    return along / length(v, of);
  }
  template <class Of> Real distance(CVec v, Real radius, Of&& of) const {
    return std::max(length(v, of) - radius, 0.0);
  }
  Real distance_above(CVec w, Real radius) const {
    return (1 + rounding::unit) * std::max(dual_above(*this, w) - radius, 0.0);
  }
  void prox(Vec v, Real radius, Real factor) const {
    const Real size = value(v);
    factor = size > radius ? (1 - radius / size) * factor : 0;
    for (Real& u : v) u *= factor;
  }
  void balance(Vec v) const { // less their mean
    const Real mean = std::reduce(v.begin(), v.end()) / Real(v.size());
    for (Real& u : v) u -= mean;
  }

  // With w = u/||u||: the gradient is w, the curvature (I - w w')/||u||.
  void add_gradient(const Around& at, Vec out) const {
    for (std::size_t e = 0; e < out.size(); ++e)
      if (at.inside[e]) out[e] += at.strength * (at.u[e] / at.size);
  }
  void add_curvature(const Around& at, CVec v, Vec out) const {
    const Real bend = round(at);
    Real along = 0;
    for (std::size_t e = 0; e < out.size(); ++e) along += at.inside[e] ? at.u[e] / at.size * v[e] : 0;
    for (std::size_t e = 0; e < out.size(); ++e) out[e] += bend * (v[e] - along * (at.u[e] / at.size));
  }
  // The roundness c = strength/||u|| is felt across u, and not along it: of rank one below a diagonal
  // S = `inverse` + c (Sherman and Morrison),
  //
  //     (S - c w w')^-1 = S^-1 + c S^-1 w w' S^-1 / (1 - c w'S^-1 w).
  Real invert(const Around& at, bool exact, Vec inverse, Vec along) const {
    const Real bend = at.u.size() > 1 ? round(at) : 0;
    Real left = 0; // 1 - c w'S^-1 w, without cancellation
    for (std::size_t e = 0; e < inverse.size(); ++e) {
      const Real w = at.u[e] / at.size, flat = inverse[e];
      inverse[e] = 1 / (flat + bend);
      along[e] = at.inside[e] ? w * (bend * inverse[e]) : 0;
      left += w * w * flat * inverse[e];
    }
    // A block next to zero does not move along u. Nor is it moved freely where the model only approximates
    // the loss: where the model is flat, steps along u would leave the region in which it is accurate.
    const Real times = exact && left > 0 && bend > 0 ? 1 / (bend * left) : 0;
    return std::isfinite(times) ? times : 0;
  }
  // A block that would pass zero stops there.
  bool keep(const Around& at, Vec d) const {
    Real along = 0;
    for (std::size_t e = 0; e < d.size(); ++e) along += at.u[e] * (at.u[e] + d[e]);
    if (along > 0) return true;
    for (std::size_t e = 0; e < d.size(); ++e) d[e] = -at.u[e];
    return false;
  }

private:
  static Real round(const Around& at) {
    return std::min(at.strength / at.size, std::numeric_limits<Real>::max());
  }
};

static_assert(BlockNorm<Euclidean>);

} // namespace southwell
