// All contracts of the core as C++ concepts. The two that are type-erased, Rule and Algorithm, are base
// classes in rules/rule.hpp and drive.hpp.
//
//   Problem   = Design x Loss x Penalty          the optimisation problem
//   Coupling  = updates the kept products        what is stored, what a move costs
//   Rule      = selects the next coordinate
//   Algorithm = moves the coordinates
//   drive     = epoch, certificate, status       the only loop with a stopping test
//
// Data may be float32 or float64; all arithmetic and every kept vector is float64 (`Real`).
#pragma once
#include <concepts>
#include <cstdint>
#include <span>
#include <string_view>

namespace southwell {

using Real = double;
using Index = std::int64_t;
using Vec = std::span<Real>;
using CVec = std::span<const Real>;

// A fiber is one row or one column of the data. Dense and sparse fibers have the same interface, so
// algorithms never loop over nonzeros themselves, and none is written twice.
template <class F>
concept Fiber = requires(const F f, Real a, Vec v, CVec u) {
  { f.size() } -> std::same_as<Index>; // stored entries: the cost of a visit
  { f.dot(u) } -> std::same_as<Real>;  // sum_k f_k u_k
  { f.add_to(v, a) };                  // v += a f
  {
    f.sum([](Index, Real) { return Real{}; })
  } -> std::same_as<Real>; // sum over entries of h(position, value)
  {
    f.visit([](Index, Real) {})
  }; // h(position, value) for each entry
  {
    f.visit_between(Index{}, Index{}, [](Index, Real) {})
  }; // the same for positions from, ..., to - 1
  { F::empty() } -> std::same_as<F>; // a fiber without entries
};

// Fibers is a stored matrix seen along its contiguous axis: the columns of a CSC or Fortran-ordered matrix,
// the rows of a CSR or C-ordered one.
template <class S>
concept Fibers = requires(const S s, Index k) {
  { s.count() } -> std::same_as<Index>;   // how many fibers
  { s.length() } -> std::same_as<Index>;  // positions in each
  { s.entries() } -> std::same_as<Index>; // stored in all
  { s[k] } -> Fiber;
  { s.prefetch_start(k) }; // prefetches the pointer to fiber k,
  { s.prefetch(k) };       // and fiber k itself
};

// An interval of the extended real line.
struct Interval {
  Real lo, hi;

  Real distance(Real v) const { return v < lo ? lo - v : v > hi ? v - hi : 0; }
};

// phi(m; b): the loss of one sample with margin m and target b. `width` is the number of margins of a sample;
// losses over several margins (softmax) have more than one.
template <class L>
concept Loss = requires(const L l, Real m, Real y, Real y0, Real q, Real b) {
  { L::name } -> std::convertible_to<std::string_view>;
  { L::width } -> std::convertible_to<Index>;
  { l.value(m, b) } -> std::same_as<Real>;
  { l.derivative(m, b) } -> std::same_as<Real>; // where phi has a kink: one subgradient
  { l.curvature(y, b) } -> std::same_as<Real>;  // phi'' at the margin whose derivative is y
  { l.conjugate(y, b) } -> std::same_as<Real>;
  { l.value_rounding(m, b, y) } -> std::same_as<Real>;     // bounds of the rounding errors of value and
  { l.conjugate_rounding(y, b, m) } -> std::same_as<Real>; // conjugate as computed, for y in the domain
  { l.conjugate_subdifferential(y, b) } -> std::same_as<Interval>;
  {
    l.conjugate_bregman(y, y0, m, b)
  } -> std::same_as<Real>;                           // phi*(y) - phi*(y0) - m (y - y0), m a slope at y0
  { l.domain(b) } -> std::same_as<Interval>;         // dom phi*; contains 0
  { l.maximise(m, y0, q, b) } -> std::same_as<Real>; // argmax_y  y m - phi*(y) - (q/2) (y - y0)^2
  { l.smoothness() } -> std::same_as<Real>;          // 1/gamma >= phi''; infinity if there is no bound
  // What it says about itself; losses/loss.hpp explains these and has their defaults.
  { L::smooth } -> std::convertible_to<bool>;
  { L::quadratic } -> std::convertible_to<bool>;
  { L::piecewise } -> std::convertible_to<bool>;
  { L::self_concordance } -> std::convertible_to<Real>;
  { L::targets } -> std::convertible_to<std::string_view>;
};

// Coordinate descent on the primal needs a gradient and a bound on its change.
template <class L>
concept SmoothLoss = Loss<L> && L::smooth;

// g_j(x): the penalty on one coordinate, a small value with its own l1, l2 and bounds.
template <class G>
concept ScalarPenalty = requires(const G g, Real x, Real v, Real step) {
  { g.value(x) } -> std::same_as<Real>;
  { g.prox(v, step) } -> std::same_as<Real>;                  // argmin_x  g(x) + (x - v)^2 / (2 step)
  { g.conjugate(v) } -> std::same_as<Real>;                   // infinity outside its domain
  { g.feasible_scale(v) } -> std::same_as<Real>;              // largest t <= 1 with t v in dom g*
  { g.conjugate_gradient(v, step, x) } -> std::same_as<Real>; // argmax_u  v u - g(u) - (step/2) (u - x)^2
  { g.minimiser(x) } -> std::same_as<Real>;                   // argmin g, the one nearest x
  { g.subdifferential(x) } -> std::same_as<Interval>;
  { g.bregman(x, v, step) } -> std::same_as<Real>; // g(x) - g(v) - step (x - v), step a slope at v
  { g.conjugate_subdifferential(v, step) } -> std::same_as<Interval>; // kinks within `step` of v count as met
};

// A separable penalty: a scalar penalty for each coordinate.
template <class P>
concept Penalty = requires(const P p, Index j) {
  { P::width } -> std::convertible_to<Index>;
  { p[j] } -> ScalarPenalty;
};

// A penalty on blocks differs from others in its norm alone: `BlockNorm` is in penalties/norms/norm.hpp.

// Updates one product with the data while coordinates move.
template <class C>
concept Coupling = requires(C c, const C k, Index j, Real d, CVec v) {
  { C::keeps_potential } -> std::convertible_to<bool>; // what `reset` takes: the product p, or the readings
  { c.reset(v) };                                      // replaces what is kept by newly computed numbers
  { c.read(j) } -> std::same_as<Real>;                 // the slope (primal) or margin (dual) of coordinate j
  { c.move(j, d) };                                    // coordinate j has moved by d
  { k.read_cost(j) } -> std::same_as<Index>;
  { k.move_cost(j) } -> std::same_as<Index>;
  { k.prefetch_start(j) };
  { k.prefetch(j) };
};

} // namespace southwell
