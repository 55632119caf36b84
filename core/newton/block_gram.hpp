// The squared loss on a few blocks: with the Gram matrix G = A_S'diag(s) A_S of their columns, centred where
// there is an intercept, slopes are updated after a move without reading the data.
#pragma once
#include "core/newton/block_steps.hpp"
#include "core/newton/column_products.hpp"
#include "core/support/powers.hpp"
#include <string>
#include <cstdlib>

namespace southwell {

inline thread_local long dbg_[8];
inline thread_local std::string dbgs_;
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
  template <class Spend>
  void solve(std::span<const BlockAt> blocks, Index k, Real target, Real value, Vec u, Vec z,
             Spend&& spend) const {
    for(auto&v:dbg_)v=0; struct Out{Index f;std::size_t h;Real t,v;~Out(){fprintf(stderr,"gram f=%ld hot=%zu sweeps=%ld moves=%ld newtons=%ld cg=%ld target=%.1e %s\n",f,h,dbg_[0],dbg_[1],dbg_[3],dbg_[2],t/v,dbgs_.c_str());dbgs_.clear();}} out{size(),blocks.size(),target,value};
    bool left = false;
    std::vector<Real> diagonal(u.size());
    for (std::size_t e = 0; e < u.size(); ++e) diagonal[e] = line(Index(e) / k)[Index(e) / k];
    std::vector<Real> steep;
    for (const BlockAt& block : blocks) steep.push_back(largest(block.first / k, block.size / k));
    std::vector<Real> buffer, d, image;
    Manifold::Buffers buffers;
    std::vector<Real> planes(u.size()), slope;
    const Index f = size();
    const auto gap_now = [&] { return restricted_gap(blocks, u, z, diagonal, value); };
    static const double GP=getenv("GP")?atof(getenv("GP")):0.3; const Real goal = GP * target;
    Real gap = gap_now(); dbgs_+=" first "+std::to_string(std::log10(gap/target));
    for (int round = 0; round < int(weighted_.policy.gram_rounds) && !left; ++round) {
      Real last = infinity;
      for (int sweep = 0; sweep < int(weighted_.policy.block_sweeps) && gap > goal && !left; ++sweep) {
        Real moved = 0;
        bool settled = true; // are the same blocks zero as before?
        ++dbg_[0];
        turn(z, f, k, planes);
        for (std::size_t b = 0; b < blocks.size(); ++b) {
          const BlockAt& block = blocks[b];
          slope.resize(std::size_t(block.size));
          for (Index e = 0; e < block.size; ++e) slope[e] = planes[e % k * f + (block.first + e) / k];
          const bool zero = is_zero(block.of(CVec(u)));
          const Real worth = propose(block, k, u, slope, steep[b], block.of(CVec(diagonal)), buffer);
          if (!(worth > 0)) continue;
          settled = settled && zero == is_zero(block.of(CVec(u)));
          ++dbg_[1];moved += worth;
          for (Index e = 0; e < block.size; ++e)
            kernels::add(line((block.first + e) / k), buffer[e], planes.data() + e % k * f, f);
          left = spend(read(block.size * f));
        }
        turn(planes, k, f, z);
        gap = gap_now();
        if (settled && moved > weighted_.policy.gram_pace * std::exchange(last, moved)) break;
      }
      dbgs_+=" swept "+std::to_string(std::log10(gap/target));
      if (!(gap > goal) || left) break;
      ++dbg_[3]; 
      const Manifold manifold(blocks, u, diagonal, 0, true, weighted_.policy);
      const auto by_gram = [&](CVec v, Vec out) { product(v, k, out); };
      d.resize(u.size());
      image.resize(u.size());
      static const double PR=getenv("PR")?atof(getenv("PR")):0.5;
      const Real precision = clip(PR*goal / gap,
                                  weighted_.policy.block_precise, weighted_.policy.block_rough);
      manifold.solve(
          z, diagonal, by_gram, [](CVec, Vec) { return 0.0; }, [&] { ++dbg_[2]; return left = spend(read(f * f * k)); },
          precision, Index(weighted_.policy.block_steps), buffers, d, image);
      if (!shorten(manifold, z, by_gram, d, image)) continue;
      by_gram(d, image); // outside too
      for (std::size_t e = 0; e < u.size(); ++e) {
        u[e] += d[e];
        z[e] += image[e];
      }
      gap = gap_now();
      dbgs_+=" newton "+std::to_string(std::log10(gap/target));
    }
  }

private:
  // The transpose of a table.
  static void turn(CVec from, Index rows, Index columns, Vec to) {
    for (Index i = 0; i < rows; ++i)
      for (Index c = 0; c < columns; ++c) to[c * rows + i] = from[i * columns + c];
  }
  static bool is_zero(CVec v) {
    return std::all_of(v.begin(), v.end(), [](Real e) { return e == 0; });
  }
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
