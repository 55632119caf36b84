// The squared loss on a few blocks: with the Gram matrix G = A_S'diag(s) A_S of their columns, centred where
// there is an intercept, slopes are updated after a move without reading the data.
#pragma once
#include "core/newton/block_steps.hpp"
#include "core/newton/column_products.hpp"
#include "core/support/powers.hpp"

namespace southwell {

class BlockGram {
public:
  BlockGram(const WorkingColumns& columns, const Policy& policy, CVec weights, bool centred)
      : weighted_{columns, none_, policy}, products_(weighted_, rows_), centred_(centred),
        pace_(policy.gram_pace), weights_(weights.begin(), weights.end()) {}

  // G over these slots, in their order. True if `spend(entries)` interrupted it.
  template <class Spend> bool form(std::span<const std::int32_t> slots, Spend&& spend) {
    if (std::equal(slots.begin(), slots.end(), slots_.begin(), slots_.end())) return false;
    const WorkingColumns& columns = weighted_.columns;
    for (Index s = Index(weighted_.coordinates.size()); s < columns.count(); ++s) {
      weighted_.coordinates.push_back({0, {}});
      weighted_.coordinates.back().gamma =
          centred_ ? -columns.visit([&](const auto& store) { return Real(store[s].dot(weights_)); })
                   : columns.gamma(s);
    }
    if (products_.empty()) products_.begin(weights_);
    if (products_.form(slots, spend)) {
      slots_.clear();
      return true;
    }
    slots_.assign(slots.begin(), slots.end());
    const Index f = size();
    matrix_.resize(std::size_t(f * f));
    for (Index a = 0; a < f; ++a)
      for (Index b = 0; b <= a; ++b)
        matrix_[a * f + b] = matrix_[b * f + a] = products_(slots_[a], slots_[b]);
    return false;
  }
  Index size() const { return Index(slots_.size()); }
  const Real* line(Index a) const { return matrix_.data() + a * size(); }
  // out = (G (x) I_k) v
  void product(CVec v, Index k, Vec out) const {
    const Index f = size();
    std::fill(out.begin(), out.end(), 0.0);
    Index a = 0;
    for (; k > 1 && a + 4 <= f; a += 4) {
      const Real* const lines[] = {line(a), line(a + 1), line(a + 2), line(a + 3)};
      kernels::wide_dots(lines, f, v.data(), k, out.data() + a * k);
    }
    for (; k > 1 && a < f; ++a) kernels::wide_dot_in_row(line(a), f, v.data(), k, out.data() + a * k);
    for (; a < f; ++a) { // half of a symmetric matrix: it is the memory that takes the time
      out[a] += kernels::dot(line(a), v.data(), a + 1);
      if (v[a] != 0) kernels::add(line(a), v[a], out.data(), a);
    }
  }
  // The largest eigenvalue of G on a stretch of slots, about.
  Real largest(Index first, Index count) const {
    if (count == 1) return line(first)[first];
    const Policy& policy = weighted_.policy;
    Real trace = 0;
    for (Index a = first; a < first + count; ++a) trace += line(a)[a];
    std::vector<Real> image(static_cast<std::size_t>(count));
    const Real value = largest_eigenvalue(
        count, int(policy.gram_powers), policy.gram_powers_part, [&](std::vector<Real>& v) {
          for (Index a = 0; a < count; ++a) image[a] = kernels::dot(line(first + a) + first, v.data(), count);
          v = image;
        });
    return value > 0 ? std::min((1 + policy.gram_spare) * value, trace) : trace;
  }

  // Sweeps and Newton steps on blocks of the slots it was formed on, k numbers each, until the gap among them
  // is below a target; slopes z are kept up to date. `spend(entries)` returning true interrupts it.
  //
  // A sweep costs as much as a step of conjugate gradients. Sweeps go on for as long as they find zeros, or
  // bring more than such a step did the last time.
  template <class Spend>
  void solve(std::span<const BlockAt> blocks, Index k, Real target, Real value, Vec u, Vec z, Spend&& spend) {
    const Policy& policy = weighted_.policy;
    const Index f = size();
    std::vector<Real> diagonal(u.size()), d(u.size()), image(u.size()), steep;
    for (Index a = 0; a < f; ++a) std::fill_n(diagonal.begin() + a * k, k, line(a)[a]);
    for (const BlockAt& block : blocks) steep.push_back(largest(block.first / k, block.size / k));
    Manifold::Buffers buffers;
    bool left = false;
    const auto by_gram = [&](CVec v, Vec out) { product(v, k, out); };
    const auto measured = [&] { return restricted_gap(blocks, u, z, diagonal, value); };
    const Real goal = policy.gram_part * target;
    Real gap = measured();
    for (int round = 0; round < int(policy.gram_rounds) && gap > goal && !left; ++round) {
      Real last = infinity, pace = infinity;
      bool settled = false;
      for (int pass = 0; pass < int(policy.block_sweeps) && !left && gap > goal && !(settled && pace < pace_);
           ++pass) {
        const Sweep swept = sweep(blocks, k, steep, diagonal, u, z);
        left = spend(read(swept.numbers * f));
        settled = swept.settled;
        pace = pace_of_sweeps(std::exchange(last, swept.worth), swept.worth);
        gap = measured();
      }
      if (!(gap > goal) || left) return;
      const Manifold manifold(blocks, u, diagonal, 0, true, policy);
      Index steps = 0;
      const auto step = [&] {
        ++steps;
        return left = spend(read(f * f * k));
      };
      manifold.solve(z, diagonal, by_gram, NothingBetter(), step,
                     clip(goal / gap, policy.block_precise, policy.block_rough), Index(policy.block_steps),
                     buffers, d, image);
      if (!shorten(manifold, z, by_gram, d, image)) continue;
      by_gram(d, image); // outside too
      for (std::size_t e = 0; e < u.size(); ++e) {
        u[e] += d[e];
        z[e] += image[e];
      }
      const Real before = std::exchange(gap, measured());
      const Real brought = steps > 0 ? std::log(before / gap) / Real(steps) : 0;
      pace_ = (pace_ + clip(brought, policy.gram_least_pace, policy.gram_most_pace)) / 2;
    }
  }

private:
  struct Sweep {
    Real worth;    // of its steps, about: it falls with the square of the error
    Index numbers; // that were moved
    bool settled;  // are the same blocks zero as before?
  };
  // A proximal step on each block in turn. Slopes are turned meanwhile, so that those of a task, which a move
  // changes by a multiple of a line of G, are beside one another.
  Sweep sweep(std::span<const BlockAt> blocks, Index k, CVec steep, CVec diagonal, Vec u, Vec z) {
    const Index f = size();
    Sweep result{0, 0, true};
    turned_.resize(z.size());
    turn(z, f, k, turned_);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      const BlockAt& block = blocks[b];
      slope_.resize(std::size_t(block.size));
      for (Index s = 0; s < block.size / k; ++s)
        for (Index c = 0; c < k; ++c) slope_[s * k + c] = turned_[c * f + block.first / k + s];
      const bool zero = is_zero(block.of(CVec(u)));
      const Real worth = propose(block, k, u, slope_, steep[b], block.of(diagonal), change_);
      if (!(worth > 0)) continue;
      result.worth += worth;
      result.numbers += block.size;
      result.settled = result.settled && zero == is_zero(block.of(CVec(u)));
      for (Index s = 0; s < block.size / k; ++s)
        for (Index c = 0; c < k; ++c)
          kernels::add(line(block.first / k + s), change_[s * k + c], turned_.data() + c * f, f);
    }
    turn(turned_, k, f, z);
    return result;
  }
  // The transpose of a table.
  static void turn(CVec from, Index rows, Index columns, Vec to) {
    for (Index i = 0; i < rows; ++i)
      for (Index c = 0; c < columns; ++c) to[c * rows + i] = from[i * columns + c];
  }
  Index read(Index numbers) const { return Index(Real(numbers) / weighted_.policy.sums_at_once); }

  Expansion none_; // weights are given
  Weighted weighted_;
  Rows rows_;
  ColumnProducts products_;
  bool centred_;
  Real pace_; // the fall of log(gap) that a step of conjugate gradients brings
  std::vector<Real> weights_;
  std::vector<std::int32_t> slots_;
  std::vector<Real> matrix_;
  std::vector<Real> turned_, slope_, change_; // of a sweep
};

} // namespace southwell
