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
        weights_(weights.begin(), weights.end()) {}

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
    std::fill(out.begin(), out.end(), 0.0);
    for (Index a = 0; a < size(); ++a)
      if (std::any_of(v.begin() + a * k, v.begin() + (a + 1) * k, [](Real u) { return u != 0; }))
        add(a, v.data() + a * k, k, out);
  }
  // out += column a of G, times k numbers
  void add(Index a, const Real* by, Index k, Vec out) const {
    if (k == 1)
      kernels::add(line(a), *by, out.data(), size());
    else
      kernels::wide_add_in_row(line(a), size(), by, k, out.data());
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
  template <class Spend>
  void solve(std::span<const BlockAt> blocks, Index k, Real target, Real value, Vec u, Vec z,
             Spend&& spend) const {
    bool left = false;
    std::vector<Real> diagonal(u.size());
    for (std::size_t e = 0; e < u.size(); ++e) diagonal[e] = line(Index(e) / k)[Index(e) / k];
    std::vector<Real> steep;
    for (const BlockAt& block : blocks) steep.push_back(largest(block.first / k, block.size / k));
    std::vector<Real> buffer, d, image;
    Manifold::Buffers buffers;
    const Index f = size();
    for (int round = 0; round < int(weighted_.policy.gram_rounds) && !left; ++round) {
      Real first = 0;
      for (int sweep = 0; sweep < int(weighted_.policy.block_sweeps) && !left; ++sweep) {
        Real moved = 0;
        for (std::size_t b = 0; b < blocks.size(); ++b) {
          const BlockAt& block = blocks[b];
          const Real worth =
              propose(block, k, u, block.of(CVec(z)), steep[b], block.of(CVec(diagonal)), buffer);
          if (!(worth > 0)) continue;
          moved += worth;
          for (Index s = 0; s < block.size / k; ++s) add(block.first / k + s, buffer.data() + s * k, k, z);
          left = spend(read(block.size * f));
        }
        if (sweep == 0) first = moved;
        if (moved <= weighted_.policy.block_sweep_part * first) break;
      }
      if (restricted_gap(blocks, u, z, diagonal, value) <= weighted_.policy.gram_part * target) break;
      const Manifold manifold(blocks, u, diagonal, 0, true, weighted_.policy);
      const auto by_gram = [&](CVec v, Vec out) { product(v, k, out); };
      d.resize(u.size());
      image.resize(u.size());
      manifold.solve(
          z, diagonal, by_gram, [](CVec, Vec) { return 0.0; }, [&] { return left = spend(read(f * f * k)); },
          weighted_.policy.block_precise, Index(weighted_.policy.block_steps), buffers, d, image);
      if (!shorten(manifold, z, by_gram, d, image)) continue;
      by_gram(d, image); // outside too
      for (std::size_t e = 0; e < u.size(); ++e) {
        u[e] += d[e];
        z[e] += image[e];
      }
    }
  }

private:
  Index read(Index numbers) const { return Index(Real(numbers) / weighted_.policy.sums_at_once); }

  Expansion none_; // weights are given
  Weighted weighted_;
  Rows rows_;
  ColumnProducts products_;
  bool centred_;
  std::vector<Real> weights_;
  std::vector<std::int32_t> slots_;
  std::vector<Real> matrix_;
};

} // namespace southwell
