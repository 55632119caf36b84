// A rigorous certificate: an upper bound of P(x) and a lower bound of D(y) that include every rounding error.
//
//   margins   are sums whose terms have known absolute values, so they lie in known intervals; phi is convex,
//   so
//             its largest value there is at an end;
//   y         is not feasible in exact arithmetic, but a point that satisfies all constraints lies within a
//   known
//             distance of it (see Distance);
//   slopes    of that point lie in known intervals; y is scaled until these intervals are in dom g*, and g*
//   is
//             convex too.
//
// The cost is that of two or three plain certificates: products with |A| and with A, and losses at both ends
// of intervals. If rounding errors are too large for a bound, primal is infinity, or dual is D(0).
#pragma once
#include "core/block_problem.hpp"
#include "core/rigorous_slopes.hpp"

namespace southwell {

template <class P> class Rigorous {
public:
  explicit Rigorous(const P& problem)
      : problem_(problem), design_(problem.design), width_(problem.width()),
        penalised_(problem.penalty.penalised() * width_), open_(problem.open_features()) {}

  // `slack` bounds the error of the intercepts, if they were converted from another frame.
  Real primal(CVec x, Real slack) const {
    std::vector<Real> without(x.begin(), x.end()), margins(n()), sizes(n());
    std::fill(without.begin() + penalised_, without.end(), 0.0);
    design_.apply_with_sizes(without, width_, margins, sizes);
    const Index terms = terms_of(without);
    for (std::size_t k = 0; k < margins.size(); ++k) {
      const Real own = problem_.has_intercept() ? x[penalised_ + Index(k) % width_] : 0;
      sizes[k] = rounding::of_sum(terms, sizes[k] + std::abs(own)) + 1.01 * slack;
      margins[k] += own;
      if (!std::isfinite(sizes[k])) return infinity; // the sums overflowed: no bound
    }
    const Real value = problem_.loss.value_above(margins, sizes) + problem_.penalty.value_above(x);
    return std::isnan(value) ? infinity : value + 2 * rounding::unit * std::abs(value);
  }

  // Overwrites y with the point whose value is bounded, scaled so that its slopes are in dom g*.
  Real dual(Vec y) const {
    if (problem_.has_intercept()) {
      problem_.loss.balance(y);
      problem_.loss.drop_unbalanced(y);
    }
    const std::vector<Real> given(y.begin(), y.end());
    std::fill(y.begin(), y.end(), 0.0);
    const ConjugateAbove zero = problem_.loss.conjugate_above(y);
    Real best = at_zero(zero.value);
    std::vector<Real> point(given);
    const Real rounded = problem_.loss.strictly_inside(point).part;
    Distance distance = off_constraints(point, rounded);
    distance.part = 2 * distance.part + 0x1p-46; // a margin for scaling and rounding
    distance.weight *= 2;
    std::vector<Real> slopes(d()), sizes(d());
    slopes_and_sizes(point, slopes, sizes);
    const Index terms = design_.longest_column();
    const ZeroedSlopes zeroed =
        zero_slopes(problem_, open_, point, slopes, sizes, terms, rounded, distance.part);
    distance.part += zeroed.part;
    std::vector<Real> radii(sizes);
    for (Real& r : radii) // slopes without terms are zero
      if (r > 0) r = rounding::of_sum(terms, r) + 1.01 * distance.part * r;
    if (distance.weight > 0) add_weights(distance.weight, radii);
    if (!(distance.part < 0.5)) return best;
    Real last = 0;
    for (const bool with_l2 : {true, false}) {
      const Real scale = problem_.penalty.feasible_scale_below(slopes, radii, with_l2);
      if (!(scale > 0) || scale == last) continue;
      last = scale;
      std::vector<Real> scaled(point);
      for (Real& v : scaled) v *= scale;
      const Distance off = off_constraints(scaled, problem_.loss.strictly_inside(scaled).part);
      if (!(off.part <= distance.part && off.weight <= distance.weight))
        continue; // outside the distance that the radii include
      const ConjugateAbove conjugate = problem_.loss.conjugate_above(scaled);
      rounding::SumAbove total;
      total.add(conjugate.value);
      total.add(1.01 * (distance.part + distance.weight) * (conjugate.size + zero.size));
      total.add(problem_.penalty.conjugate_above(slopes, radii, scale));
      total.add(zeroed.loss);
      if (const Real value = -total.above(); value > best) {
        best = value;
        std::copy(scaled.begin(), scaled.end(), y.begin());
      }
    }
    return best;
  }

private:
  // How far a point that is so near to the domain is from one that has an intercept's balance too. Where
  // other slopes must vanish, that of the intercept is one of them.
  Distance off_constraints(CVec y, Real part) const {
    if (!problem_.has_intercept() || !open_.empty()) return {part, 0};
    const Distance balance = problem_.loss.imbalance(y);
    return {part + balance.part, balance.weight};
  }
  std::size_t n() const { return std::size_t(problem_.dual_size()); }
  std::size_t d() const { return std::size_t(problem_.primal_size()); }

  Real at_zero(Real conjugates) const { // D(0)
    const std::vector<Real> flat(d());
    rounding::SumAbove total;
    total.add(conjugates);
    total.add(problem_.penalty.conjugate_above(flat, flat, 1));
    return -total.above();
  }
  // The number of terms in a sum over a row, where x_j = 0 adds none. The longest row is determined only if x
  // has many nonzeros.
  Index terms_of(CVec x) const {
    const Index few = 1000, own = Index(x.size()) - std::ranges::count(x, 0.0) + 16;
    if (design_.right()) return design_.longest_row(); // a product with U of a product with V
    return own <= few ? own : std::min(own, design_.longest_row());
  }
  // A'(s o y) and |A|'(s o |y|)
  void slopes_and_sizes(CVec y, Vec slopes, Vec sizes) const {
    const CVec weights = problem_.loss.weights();
    std::vector<Real> weighted(y.size());
    for (std::size_t i = 0, k = 0; i < weights.size(); ++i)
      for (Index c = 0; c < width_; ++c, ++k) weighted[k] = weights[i] * y[k];
    design_.adjoint_with_sizes(weighted, width_, slopes, sizes);
  }
  // Adds to the radii of the slopes the effect of an error of y_i of up to `part` for each sample.
  void add_weights(Real part, Vec radii) const {
    std::vector<Real> along(std::size_t(design_.cols()));
    design_.adjoint_sizes(problem_.loss.weights(), 1, along);
    for (std::size_t k = 0; k < radii.size(); ++k) radii[k] += 1.01 * part * along[k / std::size_t(width_)];
  }
  const P& problem_;
  const Design& design_;
  Index width_, penalised_;
  std::vector<Index> open_; // features with slopes that must vanish
};

} // namespace southwell
