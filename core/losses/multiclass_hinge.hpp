// The multi-class hinge of Crammer and Singer (2001), its corners rounded as in Shalev-Shwartz and Zhang
// (2014):
//
//     phi*(p - e_b) = -(1 - p_b) + (corner/2) ||p - e_b||^2      on probability vectors p,
//     phi(m)        = max_p  <p - e_b, m + 1 - e_b> - (corner/2) ||p - e_b||^2,
//
// zero where m_b is ahead of all others by 1. Of two classes it is the smooth hinge of m_b - m_other with
// twice the corner.
#pragma once
#include "core/losses/loss.hpp"
#include "core/losses/simplex.hpp"
#include "core/support/rounding.hpp"
#include <vector>

namespace southwell {

struct MulticlassHinge : ManyMargins {
  static constexpr std::string_view name = "multiclass_hinge";
  static constexpr bool piecewise = true;

  Real corner = 1;
  static constexpr Parameter<MulticlassHinge> parameter{.name = "corner", .field = &MulticlassHinge::corner};

  Real value(const Real* m, Index k, Index b) const {
    thread_local std::vector<Real> y;
    y.resize(std::size_t(k));
    derivative(m, k, b, y.data());
    Real total = 0;
    for (Index c = 0; c < k; ++c) total += y[c] * (m[c] + (c != b)) - corner / 2 * y[c] * y[c];
    return total;
  }
  void derivative(const Real* m, Index k, Index b, Real* y) const {
    for (Index c = 0; c < k; ++c) y[c] = (m[c] - m[b] + (c != b)) / corner + (c == b);
    settle(k, b, y);
  }
  Real conjugate(const Real* y, Real scale, Index k, Index b) const {
    Real total = 0, square = 0;
    for (Index c = 0; c < k; ++c) {
      const Real v = scale * y[c];
      if (v + (c == b) < -1e-12) return infinity;
      total += v;
      square += v * v;
    }
    return std::abs(total) > 1e-11 ? infinity : scale * y[b] + corner / 2 * square;
  }
  // The nearest point of the simplex is off by k u times the size of what is projected, in each of k entries.
  Real value_rounding(const Real* m, Index k, Index) const {
    Real most = 1;
    for (Index c = 0; c < k; ++c) most = std::max(most, std::abs(m[c]) + 1);
    const Real entries = Real(k + 4);
    return 32 * entries * entries * rounding::unit * (most + corner) * (1 + most / corner) + rounding::tiny;
  }
  Real conjugate_rounding(const Real* y, Index k, Index b) const {
    Real square = 0;
    for (Index c = 0; c < k; ++c) square += y[c] * y[c];
    return 8 * Real(k + 4) * rounding::unit * (std::abs(y[b]) + corner * square) + rounding::tiny;
  }
  void curvature(const Real* y, Index k, Index b, Real* h) const {
    for (Index c = 0; c < k; ++c) h[c] = y[c] + (c == b) > 0 ? 1 / corner : 0;
  }
  void maximise(const Real* m, const Real* y0, Real q, Index k, Index b, Real* y) const {
    for (Index c = 0; c < k; ++c)
      y[c] = (m[c] + (c != b) + corner * (c == b) + q * (y0[c] + (c == b))) / (corner + q);
    settle(k, b, y);
  }
  Real largest_conjugate() const { return corner; } // over the domain: ||p - e_b||^2 <= 2
  Real smoothness() const { return 1 / corner; }

private:
  static void settle(Index k, Index b, Real* y) { // the nearest p, less e_b
    simplex::project(y, k);
    Real others = 0;
    for (Index c = 0; c < k; ++c) others += c == b ? 0 : y[c];
    y[b] = y[b] > 0 ? std::max(-others, -1 + 1e-16) : -1; // whether p_b is zero must not be lost in rounding
  }
};

} // namespace southwell
