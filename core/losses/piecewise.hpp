// The piecewise quadratic family: nine losses, one formula. Each is given by its conjugate,
//
//     phi*(y) = b y + eps |y| + (kappa/2) y^2    on the interval domain(b),
//     phi(m)  = max over y in domain(b) of  y (m - b) - eps |y| - (kappa/2) y^2.
//
// kappa > 0 makes phi (1/kappa)-smooth; kappa = 0 gives kinks. A member supplies kappa(), eps() and
// domain(b).
#pragma once
#include "core/losses/loss.hpp"
#include "core/penalties/elastic_net.hpp"
#include "core/support/rounding.hpp"

namespace southwell {

template <class Self> struct PiecewiseQuadratic : OneMargin {
  static constexpr bool piecewise = true;

  Real value(Real m, Real b) const {
    const Real y = derivative(m, b), r = m - b;
    return y * r - self().eps() * std::abs(y) - self().kappa() / 2 * y * y;
  }
  Real derivative(Real m, Real b) const { return maximise(m, 0, 0, b); }
  Real curvature(Real y, Real b) const {
    if (self().kappa() == 0 || (y == 0 && self().eps() > 0)) return 0;
    const Interval dom = self().domain(b);
    return y > dom.lo && y < dom.hi ? 1 / self().kappa() : 0;
  }
  Real conjugate(Real y, Real b) const {
    const Interval dom = self().domain(b);
    const Real slack = 1e-12 * (1 + std::abs(y));
    if (!(y >= dom.lo - slack && y <= dom.hi + slack)) return infinity;
    return b * y + self().eps() * std::abs(y) + self().kappa() / 2 * y * y;
  }
  // `value` takes the maximum at a y that is off by at most 4 u (|m| + |b| + eps) / kappa. That costs kappa/2
  // times its square or, for kappa = 0, where the wrong end may be taken, as much as the pull itself is off
  // times the length of the domain. The rest is the rounding of three products and their sum.
  Real value_rounding(Real m, Real b, Real) const {
    using rounding::unit;
    const Interval dom = self().domain(b);
    const Real kappa = self().kappa(), size = std::abs(m) + std::abs(b) + self().eps(), y = derivative(m, b);
    const Real most = kappa > 0 ? std::abs(y) : std::max(-dom.lo, dom.hi), off = unit * size;
    return 16 * unit * (most * size + kappa * y * y) + (kappa > 0 ? 32 * off * (off / kappa) : 0) +
           rounding::tiny;
  }
  Real conjugate_rounding(Real y, Real b, Real) const {
    const Real size = std::abs(y);
    return 8 * rounding::unit * size * (std::abs(b) + self().eps() + self().kappa() * size) + rounding::tiny;
  }
  Interval conjugate_subdifferential(Real y, Real b) const {
    const Interval without_b = net(b).subdifferential(y);
    return {b + without_b.lo, b + without_b.hi};
  }
  Real conjugate_bregman(Real y, Real u, Real r, Real b) const { return net(b).bregman(y, u, r - b); }
  // A weight q + kappa of zero leaves a linear function: its maximiser is an end of the domain, or y0 if it
  // is flat.
  SOUTHWELL_INLINE Real maximise(Real m, Real y0, Real q, Real b) const {
    const Interval dom = self().domain(b);
    const Real pull = soft(m - b + q * y0, self().eps()), weight = q + self().kappa();
    if (weight > 0) return clip(pull / weight, dom);
    return pull > 0 ? dom.hi : pull < 0 ? dom.lo : clip(self().eps() > 0 ? 0 : y0, dom);
  }
  Real smoothness() const { return 1 / self().kappa(); }

private:
  ScalarElasticNet net(Real b) const { // phi* but for b y
    const Interval dom = self().domain(b);
    return {.l1 = self().eps(), .l2 = self().kappa(), .lo = dom.lo, .hi = dom.hi};
  }
  const Self& self() const { return static_cast<const Self&>(*this); }
};

// The half-line or interval of a margin loss: y has the sign of -b and at most the size `cap`.
SOUTHWELL_INLINE Interval against(Real b, Real cap) { return b > 0 ? Interval{-cap, 0} : Interval{0, cap}; }

} // namespace southwell
