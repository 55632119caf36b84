// g(x) = strength ||x|| + l1 ||x||_1 + (l2/2) ||x||^2 on a block of numbers: group lasso, sparse group lasso,
// rows of a coefficient matrix, all with the elastic part. Their sum over a partition of the features, each
// with k coefficients, is `Groups`.
#pragma once
#include "core/support/rounding.hpp"
#include <span>
#include <utility>
#include <vector>

namespace southwell {

// The norm of of(v_1), of(v_2), ...; in units of the largest where squares would overflow or vanish.
template <class Of> Real norm(CVec v, Of&& of) {
  Real square = 0;
  for (const Real u : v) {
    const Real at = of(u);
    square += at * at;
  }
  if (square > 1e-280 && square < 1e280) return std::sqrt(square);
  Real most = 0;
  for (const Real u : v) most = std::max(most, std::abs(of(u)));
  if (!(most > 0) || !std::isfinite(most)) return most;
  square = 0;
  for (const Real u : v) {
    const Real at = of(u) / most;
    square += at * at;
  }
  return most * std::sqrt(square);
}

struct BlockPenalty {
  Real strength, l1, l2;

  bool kinked() const { return strength > 0 || l1 > 0; } // may it hold the block at zero?
  bool free() const { return !kinked() && l2 == 0; }     // is it no penalty at all?
  Real value(CVec x) const {
    Real sum = 0;
    for (const Real v : x) sum += std::abs(v);
    const Real size = norm(x, [](Real v) { return v; });
    return strength * size + l1 * sum + (l2 > 0 ? l2 / 2 * size * size : 0);
  }
  // ||soft(v, l1)||, whose excess over `strength` is what breaks the optimality of x = 0
  Real pull(CVec v, Real scale = 1) const {
    return norm(v, [&](Real u) { return std::max(std::abs(scale * u) - l1, 0.0); });
  }
  // argmin_x  g(x) + ||x - v||^2 / (2 step), in place
  void prox(Vec v, Real step) const {
    for (Real& u : v) u = soft(u, step * l1);
    const Real size = norm(v, [](Real u) { return u; });
    const Real factor = size > step * strength ? (1 - step * strength / size) / (1 + step * l2) : 0;
    for (Real& u : v) u *= factor;
  }
  // argmax_x  <v, x> - g(x), in place; needs l2 > 0
  void conjugate_gradient(Vec v) const {
    const Real size = pull(v), factor = size > strength ? (1 - strength / size) / l2 : 0;
    for (Real& u : v) u = factor * soft(u, l1);
  }
  Real conjugate(CVec v, Real scale = 1) const {
    const Real excess = pull(v, scale) - strength;
    if (l2 > 0) return excess > 0 ? excess * excess / (2 * l2) : 0;
    // pull adds rounding of its own, of the size of v
    return excess > 1e-12 * (strength + l1) ? infinity : 0;
  }
  // The largest t <= 1 with t v in dom g*, l2 not counted: ||soft(t v, l1)|| <= strength. That is convex and
  // rises in t, so Newton from the right comes down to the root and never falls short of it.
  Real feasible_scale(CVec v) const {
    Real size = pull(v);
    if (!(size > strength)) return 1;
    if (!(size > 1e-140 && size < 1e140)) { // in other units, or squares would overflow or vanish
      std::vector<Real> scaled(v.begin(), v.end());
      for (Real& u : scaled) u /= size;
      return BlockPenalty{strength / size, l1 / size, l2}.feasible_scale(scaled);
    }
    if (strength == 0) {
      Real most = 0;
      for (const Real u : v) most = std::max(most, std::abs(u));
      return l1 / most;
    }
    Real t = 1;
    for (int step = 0; step < 100 && size > strength * (1 + 1e-15); ++step) {
      Real slope = 0;
      for (const Real u : v) slope += std::max(std::abs(t * u) - l1, 0.0) * std::abs(u);
      const Real next = t - (size - strength) * (size / slope);
      if (!(next < t && next > 0)) break;
      t = next;
      size = pull(v, t);
    }
    return t;
  }
};

// The same with all rounding errors counted; `sizes` bound the numbers of a block of slopes from above.
inline Real value_above(const BlockPenalty& g, CVec x) {
  return (1 + 2 * Real(x.size() + 8) * rounding::unit) * g.value(x) + rounding::tiny;
}
inline Real pull_above(const BlockPenalty& g, CVec sizes) { // ||soft(v, l1)||
  const Real l1 = g.l1 * (1 - 4 * rounding::unit);
  const Real most = norm(sizes, [&](Real v) { return std::max(v - l1, 0.0); });
  return (1 + 2 * Real(sizes.size() + 8) * rounding::unit) * most;
}
inline Real conjugate_above(const BlockPenalty& g, CVec sizes) {
  const Real excess = pull_above(g, sizes) - g.strength * (1 - 4 * rounding::unit);
  if (!(excess > 0)) return 0;
  return g.l2 > 0 ? (1 + 16 * rounding::unit) * excess * (excess / (2 * g.l2)) + rounding::tiny : infinity;
}
inline Real feasible_scale_below(const BlockPenalty& g, CVec sizes) { // l2 not counted
  std::vector<Real> scaled(sizes.begin(), sizes.end());
  Real scale = g.feasible_scale(sizes);
  for (int k = 0; k < 60 && scale > 0; ++k) { // until it surely is one
    for (std::size_t t = 0; t < scaled.size(); ++t) scaled[t] = scale * sizes[t] * (1 + 4 * rounding::unit);
    if (pull_above(g, scaled) <= g.strength * (1 - 4 * rounding::unit)) return scale;
    scale *= 1 - std::ldexp(rounding::unit, k + 2);
  }
  return 0;
}

class Groups {
public:
  // `members` lists the features group by group; group g owns those from starts[g] to starts[g + 1].
  Groups(Index width, std::vector<Index> members, std::vector<Index> starts, std::vector<BlockPenalty> blocks,
         Index features)
      : width_(width), members_(std::move(members)), starts_(std::move(starts)), blocks_(std::move(blocks)),
        group_of_(std::size_t(features)) {
    for (Index g = 0; g < count(); ++g)
      for (const Index j : of(g)) group_of_[j] = g;
  }

  Index width() const { return width_; }
  Index count() const { return Index(blocks_.size()); }
  Index penalised() const { return Index(group_of_.size()); } // features; an intercept beyond is free
  Index group_of(Index j) const { return group_of_[j]; }
  std::span<const Index> of(Index g) const {
    return {members_.data() + starts_[g], std::size_t(starts_[g + 1] - starts_[g])};
  }
  const BlockPenalty& operator[](Index g) const { return blocks_[g]; }
  Index size(Index g) const { return (starts_[g + 1] - starts_[g]) * width_; }
  Index largest() const {
    Index most = 0;
    for (Index g = 0; g < count(); ++g) most = std::max(most, size(g));
    return most;
  }
  // The block of group g: where it lies in a row, as it is; else gathered into `buffer`.
  CVec block(CVec x, Index g, std::vector<Real>& buffer) const {
    const auto features = of(g);
    if (features.back() - features.front() + 1 == Index(features.size()))
      return x.subspan(std::size_t(features.front() * width_), std::size_t(size(g)));
    buffer.clear();
    for (const Index j : features)
      buffer.insert(buffer.end(), x.begin() + j * width_, x.begin() + (j + 1) * width_);
    return buffer;
  }
  void put(CVec block, Index g, Vec x) const {
    for (std::size_t t = 0; t < of(g).size(); ++t)
      std::copy_n(block.begin() + std::ptrdiff_t(t) * width_, width_, x.begin() + of(g)[t] * width_);
  }
  // sum_g of something of the group's penalty and its block
  template <class Term> Real sum(CVec x, Term&& term) const {
    std::vector<Real> buffer;
    Real total = 0;
    for (Index g = 0; g < count(); ++g) total += term(blocks_[g], block(x, g, buffer));
    return total;
  }
  Real value(CVec x) const {
    return sum(x, [](const BlockPenalty& g, CVec block) { return g.value(block); });
  }
  // See ElasticNet: over all groups, but for an intercept.
  Real value_above(CVec x) const {
    rounding::SumAbove sum;
    std::vector<Real> buffer;
    for (Index g = 0; g < count(); ++g) sum.add(southwell::value_above(blocks_[g], block(x, g, buffer)));
    return sum.above();
  }
  Real conjugate_above(CVec slopes, CVec radii, Real scale) const {
    rounding::SumAbove sum;
    std::vector<Real> buffer;
    const std::vector<Real> most = sizes_above(slopes, radii, scale);
    for (Index g = 0; g < count(); ++g)
      sum.add(southwell::conjugate_above(blocks_[g], block(most, g, buffer)));
    return sum.above();
  }
  Real feasible_scale_below(CVec slopes, CVec radii, bool with_l2) const {
    Real scale = 1;
    std::vector<Real> buffer;
    const std::vector<Real> most = sizes_above(slopes, radii, 1);
    for (Index g = 0; g < count(); ++g)
      if (!(blocks_[g].l2 > 0 && with_l2))
        scale = std::min(scale, southwell::feasible_scale_below(blocks_[g], block(most, g, buffer)));
    return scale;
  }

  // Its units, which are zero or not as a whole: the groups. The intercept is none of them. See ElasticNet.
  using Unit = BlockPenalty;
  static constexpr bool intercept_apart = true;
  Index units(Index) const { return count(); }
  template <class F> void each_feature(Index u, F&& f) const {
    for (const Index j : of(u)) f(j);
  }
  bool whole() const { return smooth(); }
  Real kink() const { // of the first group that has one: a path lowers all in proportion
    for (const BlockPenalty& g : blocks_)
      if (g.kinked()) return g.strength > 0 ? g.strength : g.l1;
    return 0;
  }
  bool kinked(Index u) const { return blocks_[u].kinked(); }
  BlockPenalty eased(Index u, Real times) const {
    BlockPenalty g = blocks_[u];
    g.strength *= times;
    g.l1 *= times;
    return g;
  }
  Real violation(Index u, CVec slopes, Real times) const {
    std::vector<Real> buffer;
    const BlockPenalty g = eased(u, times);
    const Real over = g.pull(block(slopes, u, buffer)) - g.strength;
    return over > 1e-13 * (g.strength + g.l1) ? over : 0;
  }
  Real times_needed(Index u, CVec slopes) const {
    std::vector<Real> buffer;
    return 1 / blocks_[u].feasible_scale(block(slopes, u, buffer));
  }
  bool holds_zero(Index u) const { return kinked(u); }
  Real ridge() const { return least_l2(); }
  Real least_l2() const {
    Real least = infinity;
    for (const BlockPenalty& g : blocks_) least = std::min(least, g.l2);
    return least;
  }
  // Slopes of a block are off by at most its radius in norm, and soft thresholding makes no distance larger.
  void mark_zeros(CVec slopes, Real scale, CVec lengths, Real reach, std::span<char> zero) const {
    std::vector<Real> buffer;
    for (Index u = 0; u < count(); ++u) {
      if (zero[u]) continue;
      const BlockPenalty& g = blocks_[u];
      const CVec own = block(slopes, u, buffer);
      const Real size = scale * norm(own, [](Real v) { return v; }),
                 room = reach * lengths[u] + 1e-10 * (size + g.strength + g.l1);
      zero[u] = g.strength > 0
                    ? g.pull(own, scale) + room < g.strength
                    : std::all_of(
                          own.begin(), own.end(), [&](Real v) { return std::abs(scale * v) + room < g.l1; });
    }
  }
  bool smooth() const { // is there only l2?
    return std::all_of(blocks_.begin(), blocks_.end(),
                       [](const BlockPenalty& g) { return g.strength == 0 && g.l1 == 0; });
  }

private:
  static std::vector<Real> sizes_above(CVec slopes, CVec radii, Real scale) {
    std::vector<Real> sizes(slopes.size());
    for (std::size_t k = 0; k < sizes.size(); ++k)
      sizes[k] = scale * (std::abs(slopes[k]) * (1 + 4 * rounding::unit) + 1.01 * radii[k]);
    return sizes;
  }

  Index width_;
  std::vector<Index> members_, starts_;
  std::vector<BlockPenalty> blocks_;
  std::vector<Index> group_of_;
};

} // namespace southwell
