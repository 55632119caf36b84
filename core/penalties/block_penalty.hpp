// g(x) = strength N(x) + l1 ||x||_1 + (l2/2) ||x||^2 on a block of numbers, N a norm (norms/norm.hpp): group
// lasso, sparse group lasso, rows of a coefficient matrix, all with the elastic part; perhaps on a box alone
// that contains zero. With a norm it must be a cone, x >= 0 or x <= 0: as norms are absolute, a sign replaces
// soft(v, l1) by its positive or negative part, and nothing else. Other ends need strength 0, where the
// penalty is a sum over numbers.
#pragma once
#include "core/penalties/all.hpp"
#include <vector>

namespace southwell {

class BlockPenalty {
public:
  BlockPenalty() = default; // none at all
  BlockPenalty(AnyNorm norm, Real strength, Real l1, Real l2, Interval box = everywhere)
      : norm_(norm), strength_(strength), l1_(l1), l2_(l2), box_(box) {}

  bool kinked() const { return kink() > 0 || sign() != 0; } // may it hold the block at zero?
  // Is it no penalty at all, so that x may be of any size, or grow along the sign of v?
  bool free() const { return kink() == 0 && l2_ == 0 && !bounded(); }
  bool open(Real v) const { return kink() == 0 && l2_ == 0 && !std::isfinite(end(v)); }
  Real kink() const { return strength_ > 0 ? strength_ : l1_; }
  Real l2() const { return l2_; }
  bool bounded() const { return std::isfinite(box_.lo) || std::isfinite(box_.hi); }
  bool capped() const { // by an end other than zero: it is a sum over numbers
    return (std::isfinite(box_.lo) && box_.lo != 0) || (std::isfinite(box_.hi) && box_.hi != 0);
  }
  int sign() const { return box_.lo == 0 ? 1 : box_.hi == 0 ? -1 : 0; } // that all numbers have, or 0
  Interval box() const { return box_; }
  ScalarElasticNet number() const { return {l1_, l2_, box_.lo, box_.hi}; } // on each, where strength is 0
  bool by_numbers() const { return strength_ == 0; } // is it a sum over the numbers of the block?
  BlockPenalty eased(Real times) const { return {norm_, times * strength_, times * l1_, l2_, box_}; }
  BlockPenalty with_ridge(Real more) const { return {norm_, strength_, l1_, l2_ + more, box_}; }

  Real value(CVec x) const {
    Real sum = 0;
    for (const Real v : x) {
      if (v < box_.lo || v > box_.hi) return infinity;
      sum += std::abs(v);
    }
    Real total = l1_ * sum;
    if (strength_ > 0) total += strength_ * norm_value(x);
    if (l2_ > 0) {
      const Real size = length(x, [](Real v) { return v; });
      total += l2_ / 2 * size * size;
    }
    return total;
  }
  // argmin_x  g(x) + ||x - v||^2 / (2 step), in place
  void prox(Vec v, Real step) const {
    for (Real& u : v) u = shrunk(u, step * l1_);
    norm_prox(v, step * strength_, 1 / (1 + step * l2_));
    cap(v);
  }
  Real prox_of_number(Real v, Real step) const { return number().prox(v, step); }
  // Less one number for each stretch of k, as far as the penalty falls: of x >= 0 the least of them, of x <=
  // 0 the largest; else that for which N of the stretch is least or, with an l1, one that makes a number
  // zero.
  void balance(Vec x, Index k, std::vector<Real>& buffer) const {
    if (strength_ == 0) return;
    buffer.assign(x.begin(), x.end());
    for (std::size_t first = 0; first < x.size(); first += std::size_t(k)) {
      const Vec own = Vec(buffer).subspan(first, std::size_t(k));
      if (sign() > 0)
        less(own, *std::min_element(own.begin(), own.end()));
      else if (sign() < 0)
        less(own, *std::max_element(own.begin(), own.end()));
      else
        std::visit([&](const auto& norm) { norm.balance(own); }, norm_);
    }
    Real least = value(x);
    if (const Real found = value(buffer); found < least) {
      std::copy(buffer.begin(), buffer.end(), x.begin());
      least = found;
    }
    for (std::size_t e = 0; l1_ > 0 && sign() == 0 && e < x.size(); ++e) {
      if (x[e] == 0) continue;
      buffer.assign(x.begin(), x.end());
      less(Vec(buffer).subspan(e / std::size_t(k) * std::size_t(k), std::size_t(k)), x[e]);
      if (const Real found = value(buffer); found < least) {
        std::copy(buffer.begin(), buffer.end(), x.begin());
        least = found;
      }
    }
  }
  // argmax_x  <v, x> - g(x), in place; needs l2 > 0
  void conjugate_gradient(Vec v) const {
    for (Real& u : v) u = shrunk(u, l1_);
    norm_prox(v, strength_, 1 / l2_);
    cap(v);
  }
  // How far `scale` v is from the subdifferential at zero: its length beyond soft thresholding and N.
  Real distance(CVec v, Real scale = 1) const {
    return std::visit(
        [&](const auto& norm) {
          return norm.distance(v, strength_, [&](Real u) { return excess(scale * u); });
        },
        norm_);
  }
  Real conjugate(CVec v, Real scale = 1) const {
    if (capped()) {
      Real total = 0;
      for (const Real u : v) total += number().conjugate(scale * u);
      return total;
    }
    const Real over = distance(v, scale);
    if (l2_ > 0) return over * over / (2 * l2_);
    // the distance adds rounding of its own, of the size of v
    return over > 1e-12 * (strength_ + l1_) ? infinity : 0;
  }
  // By how much `scale` v breaks the optimality of zero, rounding apart.
  Real violation(CVec v, Real scale) const {
    const Real over = distance(v, scale);
    return over > 1e-13 * (strength_ + l1_) ? over : 0;
  }
  // Is zero the best, whatever slope within `radius` of `scale` v there is? Soft thresholding makes no
  // distance larger, and N* at most by a factor.
  bool surely_zero(CVec v, Real scale, Real radius) const {
    const Real size = std::abs(scale) * length(v, [](Real u) { return u; }),
               room = radius + 1e-10 * (size + strength_ + l1_);
    if (strength_ > 0) return dual(v, scale) + lipschitz(v.size()) * room < strength_;
    return std::all_of(v.begin(), v.end(), [&](Real u) { return sided(scale * u) + room < l1_; });
  }
  // The largest t <= 1 with t sign v in dom g*, l2 not counted.
  Real feasible_scale(CVec v, Real sign = 1) const {
    if (!capped()) return zero_scale(v, sign);
    Real scale = 1;
    for (const Real u : v)
      scale = std::min(scale, ScalarElasticNet{l1_, 0, box_.lo, box_.hi}.feasible_scale(sign * u));
    return scale;
  }
  // The largest t <= 1 for which zero is the best at the slope -t sign v: N*(soft(t v, l1)) <= strength. That
  // is convex and rises in t, so Newton from the right comes down to the root and never falls short of it.
  Real zero_scale(CVec v, Real sign = 1) const {
    Real size = dual(v, sign);
    if (!(size > strength_)) return 1;
    if (!(size > 1e-140 && size < 1e140)) { // in other units, or squares would overflow or vanish
      std::vector<Real> scaled(v.begin(), v.end());
      for (Real& u : scaled) u /= size;
      return BlockPenalty{norm_, strength_ / size, l1_ / size, l2_, box_}.zero_scale(scaled, sign);
    }
    if (strength_ == 0) {
      Real most = 0;
      for (const Real u : v) most = std::max(most, sided(sign * u));
      return l1_ / most;
    }
    Real t = 1;
    for (int step = 0; step < 100 && size > strength_ * (1 + 1e-15); ++step) {
      const Real growth = std::visit(
          [&](const auto& norm) { return norm.dual_growth(v, [&](Real u) { return excess(t * sign * u); }); },
          norm_);
      const Real next = t - (size - strength_) / growth;
      if (!(next < t && next > 0)) break;
      t = next;
      size = dual(v, t * sign);
    }
    return t;
  }

  // The same with all rounding errors counted; `sizes` bound from above what counts of the numbers of
  // -slopes.
  Real value_above(CVec x) const {
    return (1 + 2 * Real(x.size() + 8) * rounding::unit) * value(x) + rounding::tiny;
  }
  Real conjugate_above(CVec sizes) const {
    const std::vector<Real> beyond = excess_above(sizes);
    const Real strength = below(strength_);
    if (l2_ > 0) {
      const Real over =
          std::visit([&](const auto& norm) { return norm.distance_above(beyond, strength); }, norm_);
      return over > 0 ? (1 + 16 * rounding::unit) * over * (over / (2 * l2_)) + rounding::tiny : 0;
    }
    return dual_above(beyond) > strength ? infinity : 0;
  }
  // l2 not counted; `sizes` of what an end does not hold.
  Real feasible_scale_below(CVec sizes) const {
    std::vector<Real> scaled(sizes.begin(), sizes.end());
    Real scale = BlockPenalty{norm_, strength_, l1_, l2_}.zero_scale(sizes); // signs apart
    for (int k = 0; k < 60 && scale > 0; ++k) {                              // until it surely is one
      for (std::size_t t = 0; t < scaled.size(); ++t) scaled[t] = scale * sizes[t] * (1 + 4 * rounding::unit);
      if (dual_above(excess_above(scaled)) <= below(strength_)) return scale;
      scale *= 1 - std::ldexp(rounding::unit, k + 2);
    }
    return 0;
  }
  // What counts of the number -slope, at most: all of it, or what lies towards no finite end, as a size.
  Real size_above(Real slope, Real radius) const {
    return size_above(slope, radius, box_.hi > 0, box_.lo < 0);
  }
  Real open_size_above(Real slope, Real radius) const {
    return size_above(slope, radius, !std::isfinite(box_.hi), !std::isfinite(box_.lo));
  }

private:
  friend class BlockPiece;

  static constexpr Interval everywhere{-infinity, infinity};
  Real end(Real v) const { return v > 0 ? box_.hi : box_.lo; } // where x goes that grows along v
  // What counts of a slope: by how much it pulls away from zero into the box.
  Real sided(Real v) const { return std::max(box_.hi > 0 ? v : -infinity, box_.lo < 0 ? -v : -infinity); }
  static Real size_above(Real slope, Real radius, bool up, bool down) {
    const Real off = std::abs(slope) * 4 * rounding::unit + 1.01 * radius;
    return std::max({up ? -slope + off : 0, down ? slope + off : 0, 0.0});
  }
  Real excess(Real v) const { return std::max(sided(v) - l1_, 0.0); }
  Real shrunk(Real v, Real l1) const { // up to finite ends, which come last
    return clip(soft(v, l1), box_.lo == 0 ? 0 : -infinity, box_.hi == 0 ? 0 : infinity);
  }
  void cap(Vec v) const {
    if (!capped()) return;
    for (Real& u : v) u = clip(u, box_);
  }
  static Real below(Real strength) { return strength * (1 - 4 * rounding::unit); } // it was computed
  static void less(Vec v, Real number) {
    for (Real& u : v) u -= number;
  }

  Real dual(CVec v, Real scale) const {
    return std::visit(
        [&](const auto& norm) { return norm.dual(v, [&](Real u) { return excess(scale * u); }); }, norm_);
  }
  Real norm_value(CVec x) const {
    return std::visit([&](const auto& norm) { return norm.value(x); }, norm_);
  }
  void norm_prox(Vec v, Real radius, Real factor) const {
    if (radius > 0) return std::visit([&](const auto& norm) { norm.prox(v, radius, factor); }, norm_);
    for (Real& u : v) u *= factor;
  }
  Real lipschitz(std::size_t size) const {
    return std::visit([&](const auto& norm) { return norm.lipschitz(Index(size)); }, norm_);
  }
  Real dual_above(CVec w) const {
    return std::visit([&](const auto& norm) { return southwell::dual_above(norm, w); }, norm_);
  }
  std::vector<Real> excess_above(CVec sizes) const {
    std::vector<Real> beyond(sizes.begin(), sizes.end());
    for (Real& v : beyond) v = (1 + 4 * rounding::unit) * std::max(v - below(l1_), 0.0);
    return beyond;
  }

  AnyNorm norm_;
  Real strength_ = 0, l1_ = 0, l2_ = 0;
  Interval box_ = everywhere;
};

} // namespace southwell
