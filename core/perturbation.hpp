// Quadratic terms that replace missing strong convexity (Zhang and Xiao 2015, section 3.1): (dx/2)||x - c||^2
// is added to g, and (dy/2)(y - e_i)^2 to each phi_i*.
//
// The paper leaves the centres c and e at 0 and takes dx and dy as small as the wanted accuracy. Here they
// may follow the iterate: the proximal point method (Rockafellar 1976), which converges to the saddle point
// of the unperturbed problem, so that dx and dy may be large.
#pragma once
#include "core/problem.hpp"

namespace southwell {

class Perturbation {
public:
  // `every`: epochs between recentrings; 0 leaves the centres at 0.
  Perturbation(const Problem& problem, Real dx, Real dy, Index every)
      : problem_(problem), dx_(dx), dy_(dy), every_(dx > 0 || dy > 0 ? every : 0),
        x_(dx > 0 ? problem.design.cols() : 0), y_(dy > 0 ? problem.design.rows() : 0) {}

  Real dx() const { return dx_; }
  // What the primal term adds to slope j (at x = 0).
  Real slope(Index j) const { return dx_ > 0 ? -dx_ * x_[j] : 0; }

  // argmax_y  y m - phi_i*(y) - (dy/2)(y - e_i)^2 - (q/2)(y - y0)^2
  SOUTHWELL_INLINE Real maximise(Index i, Real m, Real y0, Real q) const {
    if (dy_ == 0) return problem_.loss.maximise(i, m, y0, q);
    return problem_.loss.maximise(i, m, (dy_ * y_[i] + q * y0) / (dy_ + q), dy_ + q);
  }
  // argmin_x  g_j(x) + (dx/2)(x - c_j)^2 + u x + (x - x0)^2 / (2 tau)
  SOUTHWELL_INLINE Real minimise(Index j, Real u, Real x0, Real tau) const {
    return problem_.penalty[j].with_ridge(dx_).prox(x0 - tau * (u + slope(j)), tau);
  }

  // argmin_x  g_j(x) + (dx/2)(x - c_j)^2 + z x, where g_j or the perturbation is strongly convex
  SOUTHWELL_INLINE Real best(Index j, Real z) const {
    return problem_.penalty[j].conjugate_gradient(-z, dx_, dx_ > 0 ? x_[j] : 0);
  }
  // How much lower that minimum is than the value at x.
  SOUTHWELL_INLINE Real excess(Index j, Real z, Real x) const {
    return problem_.penalty[j].with_ridge(dx_).bregman(x, best(j, z), -(z + slope(j)));
  }
  // The same for sample i: how much higher the maximum over y is than the value at y_i. At least 0.
  Real shortfall(Index i, Real m, Real y) const {
    if (dy_ == 0) return problem_.loss.bracket(i, m, y);
    const Real top = maximise(i, m, 0, 0), centre = y_[i];
    const auto value = [&](Real at) {
      return problem_.loss.bracket(i, m, at) + dy_ / 2 * (at - centre) * (at - centre);
    };
    return std::max(value(y) - value(top), 0.0);
  }

  // The saddle function at (x, y) with margins m, up to a constant that depends on the centres alone.
  Real saddle(CVec x, CVec y, CVec m) const {
    Real sum = problem_.loss.value(m);
    const CVec s = problem_.loss.weights();
    for (Index j = 0; j < Index(x.size()); ++j)
      sum += problem_.penalty[j].with_ridge(dx_).value(x[j]) + slope(j) * x[j];
    for (Index i = 0; i < Index(y.size()); ++i) {
      if (s[i] == 0) continue;
      const Real apart = dy_ > 0 ? y[i] - y_[i] : 0;
      sum -= s[i] * (problem_.loss.bracket(i, m[i], y[i]) + dy_ / 2 * apart * apart);
    }
    return sum;
  }

  // Sets the first centres, unless they stay at 0.
  void begin(CVec x, CVec y) {
    if (every_ > 0) recentre(x, y);
  }
  // Called after each epoch: whether new centres are due.
  bool due() { return every_ > 0 && ++epochs_ >= every_; }
  void recentre(CVec x, CVec y) {
    epochs_ = 0;
    if (dx_ > 0) x_.assign(x.begin(), x.end());
    if (dy_ > 0) y_.assign(y.begin(), y.end());
  }
  void begin_recentring() { epochs_ = 0; } // followed by recentre_x and recentre_y for each coordinate
  void recentre_x(Index j, Real x) {
    if (dx_ > 0) x_[j] = x;
  }
  void recentre_y(Index i, Real y) {
    if (dy_ > 0) y_[i] = y;
  }

private:
  const Problem& problem_;
  Real dx_, dy_;
  Index every_, epochs_ = 0;
  std::vector<Real> x_, y_;
};

} // namespace southwell
