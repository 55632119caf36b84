// The sum of penalties on blocks over a partition of the features, each with k coefficients.
#pragma once
#include "core/penalties/block_penalty.hpp"
#include <utility>

namespace southwell {

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
    for (Index g = 0; g < count(); ++g) sum.add(blocks_[g].value_above(block(x, g, buffer)));
    return sum.above();
  }
  Real conjugate_above(CVec slopes, CVec radii, Real scale) const {
    rounding::SumAbove sum;
    std::vector<Real> buffer;
    const std::vector<Real> most = sizes_above(slopes, radii, scale, &BlockPenalty::size_above);
    for (Index g = 0; g < count(); ++g) {
      if (!blocks_[g].capped()) {
        sum.add(blocks_[g].conjugate_above(block(most, g, buffer)));
        continue;
      }
      const ScalarElasticNet number = blocks_[g].number();
      for (const Index j : of(g))
        for (Index e = j * width_; e < (j + 1) * width_; ++e) {
          const Real at = -scale * slopes[e],
                     off = 1.01 * scale * radii[e] + 4 * rounding::unit * std::abs(at);
          sum.add(number.conjugate_above(at - off, at + off));
        }
    }
    return sum.above();
  }
  Real feasible_scale_below(CVec slopes, CVec radii, bool with_l2) const {
    Real scale = 1;
    std::vector<Real> buffer;
    const std::vector<Real> most = sizes_above(slopes, radii, 1, &BlockPenalty::open_size_above);
    for (Index g = 0; g < count(); ++g)
      if (!(blocks_[g].l2() > 0 && with_l2))
        scale = std::min(scale, blocks_[g].feasible_scale_below(block(most, g, buffer)));
    return scale;
  }

  // Its units, which are zero or not as a whole: the groups. The intercept is none of them. See ElasticNet.
  using Unit = BlockPenalty;
  static constexpr bool intercept_apart = true;
  Index units(Index) const { return count(); }
  template <class F> void each_feature(Index u, F&& f) const {
    for (const Index j : of(u)) f(j);
  }
  bool whole() const { return smooth(); } // numbers at a bound leave it by sweeps alone
  Real kink() const {                     // of the first group that has one: a path lowers all in proportion
    for (const BlockPenalty& g : blocks_)
      if (g.kink() > 0) return g.kink();
    return 0;
  }
  bool kinked(Index u) const { return blocks_[u].kinked(); }
  BlockPenalty eased(Index u, Real times) const { return blocks_[u].eased(times); }
  Real violation(Index u, CVec slopes, Real times) const {
    std::vector<Real> buffer;
    return eased(u, times).violation(block(slopes, u, buffer), -1);
  }
  Real times_needed(Index u, CVec slopes) const {
    std::vector<Real> buffer;
    if (!(blocks_[u].kink() > 0)) return 1; // a sign alone does not become stronger
    return 1 / blocks_[u].zero_scale(block(slopes, u, buffer), -1);
  }
  bool holds_zero(Index u) const { return kinked(u); }
  Real ridge() const { return least_l2(); }
  Real least_l2() const {
    Real least = infinity;
    for (const BlockPenalty& g : blocks_) least = std::min(least, g.l2());
    return least;
  }
  // Slopes of a block are off by at most its radius in norm.
  void mark_zeros(CVec slopes, Real scale, CVec lengths, Real reach, std::span<char> zero) const {
    std::vector<Real> buffer;
    for (Index u = 0; u < count(); ++u)
      zero[u] = zero[u] || blocks_[u].surely_zero(block(slopes, u, buffer), -scale, reach * lengths[u]);
  }
  bool smooth() const { // is there only l2?
    return std::none_of(blocks_.begin(), blocks_.end(),
                        [](const BlockPenalty& g) { return g.kinked() || g.bounded(); });
  }

private:
  using SizeAbove = Real (BlockPenalty::*)(Real, Real) const;
  std::vector<Real> sizes_above(CVec slopes, CVec radii, Real scale, SizeAbove size) const {
    std::vector<Real> sizes(slopes.size());
    for (Index j = 0; j < penalised(); ++j)
      for (Index k = j * width_; k < (j + 1) * width_; ++k)
        sizes[k] = scale * (blocks_[group_of_[j]].*size)(slopes[k], radii[k]);
    return sizes;
  }

  Index width_;
  std::vector<Index> members_, starts_;
  std::vector<BlockPenalty> blocks_;
  std::vector<Index> group_of_;
};

} // namespace southwell
