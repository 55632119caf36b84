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

// g_j(x): the penalty on one coordinate, convex, a small value. It has no kink but one at zero, where its
// slope jumps from -kink() to kink(). Algorithms ask these questions and know no parameter of it.
template <class G>
concept ScalarPenalty = requires(const G g, Real x, Real u, Real v, Real mu, Real step) {
  { g.value(x) } -> std::same_as<Real>;      // infinity outside its domain
  { g.domain() } -> std::same_as<Interval>;  // its bounds
  { g.prox(v, step) } -> std::same_as<Real>; // argmin_x  g(x) + (x - v)^2 / (2 step)
  { g.minimiser(x) } -> std::same_as<Real>;  // argmin g, the one nearest x
  { g.subdifferential(x) } -> std::same_as<Interval>;
  { g.bregman(x, u, v) } -> std::same_as<Real>; // g(x) - g(u) - v (x - u), v a slope at u

  // The conjugate g*.
  { g.conjugate(v) } -> std::same_as<Real>;                 // infinity outside its domain
  { g.feasible_scale(v) } -> std::same_as<Real>;            // largest t <= 1 with t v in dom g*
  { g.conjugate_gradient(v, mu, x) } -> std::same_as<Real>; // argmax_u  v u - g(u) - (mu/2) (u - x)^2
  { g.conjugate_subdifferential(v, step) } -> std::same_as<Interval>; // kinks within `step` of v count as met

  // Its shape.
  { g.free() } -> std::same_as<bool>;             // is it zero on its domain: an unpenalised coordinate?
  { g.kink() } -> std::same_as<Real>;             // 0: it is smooth at zero
  { g.zero_is_optimal(v) } -> std::same_as<bool>; // does zero minimise g(x) + v x? May say no at a bound
  { g.smooth_at(x) } -> std::same_as<bool>;       // is x off the kink and the bounds?
  { g.gradient(x) } -> std::same_as<Real>;        // g' and g'', where it is smooth
  { g.curvature(x) } -> std::same_as<Real>;
  { g.held(x, u) } -> std::same_as<Real>; // the end of a move from x to u that stops at the kink or a bound
  { g.reach(v) } -> std::same_as<Real>;   // the largest |x| with g(x) <= v, the bounds apart

  // Its relatives.
  { g.strong_convexity() } -> std::same_as<Real>; // a mu for which g - (mu/2) x^2 is convex
  { g.with_ridge(mu) } -> std::same_as<G>;        // g + (mu/2) x^2, for mu >= -strong_convexity()
  { g.within(x, u) } -> std::same_as<G>;          // g on the part of its domain in [x, u]
};

// A sum of penalties on units, which are zero or not as a whole: single coordinates, or groups. What working
// sets and screening ask; slopes are those of all features.
template <class P>
concept UnitPenalty = requires(const P p, Index u, Index features, CVec slopes, CVec radii, CVec x,
                               Real times, Real reach, std::span<char> zero, bool with_ridge) {
  typename P::Unit;                                    // the penalty on one unit
  { P::intercept_apart } -> std::convertible_to<bool>; // is the intercept none of the units?
  { p.units(features) } -> std::same_as<Index>;
  {
    p.each_feature(u, [](Index) {})
  }; // h(j) for each feature j of unit u
  { p.penalised() } -> std::same_as<Index>; // features; the intercept, if any, is beyond
  { p.value(x) } -> std::same_as<Real>;
  { p.whole() } -> std::same_as<bool>;    // is there no working set to choose?
  { p.kink() } -> std::same_as<Real>;     // the strength that a path lowers
  { p.ridge() } -> std::same_as<Real>;    // that of the squares, before weights
  { p.least_l2() } -> std::same_as<Real>; // the strong convexity of the sum over features
  { p.kinked(u) } -> std::same_as<bool>;
  { p.eased(u, times) } -> std::same_as<typename P::Unit>; // with kinks so many times as strong
  { p.violation(u, slopes, times) } -> std::same_as<Real>; // by how far zero is not optimal there
  { p.times_needed(u, slopes) } -> std::same_as<Real>;     // how many times as strong zero needs them
  { p.holds_zero(u) } -> std::same_as<bool>;               // can zero be optimal for more than one slope?
  { p.mark_zeros(slopes, times, radii, reach, zero) };     // those that are zero in every solution
  // Bounds that include every rounding error, of slopes known within radii.
  { p.value_above(x) } -> std::same_as<Real>;
  { p.conjugate_above(slopes, radii, times) } -> std::same_as<Real>;
  { p.feasible_scale_below(slopes, radii, with_ridge) } -> std::same_as<Real>;
};

// A separable penalty: a scalar penalty for each coordinate, each of them a unit. `quadratic`: g has neither
// kinks nor bounds and g'' is constant, so that grad g* is linear. `plain`: all coordinates but the intercept
// have the same penalty, without bounds.
template <class P>
concept Penalty = UnitPenalty<P> && requires(const P p, Index j, CVec slopes, Real scale, bool with_ridge) {
  { P::width } -> std::convertible_to<Index>;
  { p[j] } -> ScalarPenalty;
  // sum_j g_j*(-scale z_j), and the largest scale <= 1 for which that is finite
  { p.conjugate(slopes, scale) } -> std::same_as<Real>;
  { p.feasible_scale(slopes, with_ridge) } -> std::same_as<Real>;
  { p.bounded() } -> std::same_as<bool>;  // has a coordinate bounds?
  { p.weighted() } -> std::same_as<bool>; // do coordinates differ in strength?
  { p.quadratic() } -> std::same_as<bool>;
  { p.plain() } -> std::same_as<bool>;
};

// v -> soft(v, threshold) factor
struct Shrinkage {
  Real threshold, factor;
};

// What closed forms ask beyond that: `prox` and `conjugate_gradient`, the bounds apart, are shrinkages. Only
// EagerCoordinates (algorithms/moving_coordinates.hpp) and the passes in turn of Restricted
// (algorithms/restricted.hpp) ask it. Drift (penalties/drift.hpp), which takes many proximal steps at once,
// belongs to the elastic net and reads its numbers.
template <class G>
concept ShrinkingPenalty = ScalarPenalty<G> && requires(const G g, Real step) {
  { g.shrinkage(step) } -> std::same_as<Shrinkage>;
  { g.conjugate_shrinkage() } -> std::same_as<Shrinkage>;
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
