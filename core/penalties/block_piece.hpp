// A penalty on a block around the block's numbers u, where it is smooth: on a manifold through u. A zero
// block does not move on it, nor do zero entries that l1 or a sign holds, nor entries at a bound; where the
// norm has kinks besides, it says which entries move together (norms/norm.hpp).
#pragma once
#include "core/penalties/block_penalty.hpp"

namespace southwell {

class BlockPiece {
public:
  // Fills `inside`, the marks of entries that move, which it refers to as it does to u.
  BlockPiece(const BlockPenalty& g, CVec u, std::span<char> inside)
      : g_(g), at_{u, inside, g.strength_, g.strength_ > 0 ? g.norm_value(u) : 0} {
    const bool zero = std::all_of(u.begin(), u.end(), [](Real v) { return v == 0; });
    for (std::size_t e = 0; e < u.size(); ++e)
      inside[e] =
          zero ? !g.kinked() : (u[e] != 0 || !holds_zeros()) && u[e] != g.box_.lo && u[e] != g.box_.hi;
  }
  bool stops() const { return g_.kinked() || g_.bounded(); } // may numbers stop at zero or at a bound?
  bool active() const {                                      // does any entry move?
    return std::any_of(at_.inside.begin(), at_.inside.end(), [](char mark) { return mark; });
  }
  // v += the gradient, inside
  void add_gradient(Vec out) const {
    for (std::size_t e = 0; e < out.size(); ++e)
      if (at_.inside[e]) out[e] += g_.l2_ * at_.u[e] + (at_.u[e] == 0 ? 0 : std::copysign(g_.l1_, at_.u[e]));
    if (at_.size > 0) std::visit([&](const auto& norm) { norm.add_gradient(at_, out); }, g_.norm_);
  }
  // out += the curvature times v
  void add_curvature(CVec v, Vec out) const {
    for (std::size_t e = 0; e < out.size(); ++e) out[e] += g_.l2_ * v[e];
    if (at_.size > 0) std::visit([&](const auto& norm) { norm.add_curvature(at_, v, out); }, g_.norm_);
  }
  // With the diagonal `inverse` > 0 of another curvature added: see BlockNorm::invert.
  Real invert(bool exact, Vec inverse, Vec along) const {
    for (Real& v : inverse) v += g_.l2_;
    if (at_.size > 0)
      return std::visit([&](const auto& norm) { return norm.invert(at_, exact, inverse, along); }, g_.norm_);
    for (Real& v : inverse) v = 1 / v;
    return 0;
  }
  // Of the step d only what stays in the piece: numbers and blocks that would pass zero or a bound stop
  // there. True if that is all of it.
  bool keep(Vec d) const {
    bool all = true;
    if (at_.size > 0) all = std::visit([&](const auto& norm) { return norm.keep(at_, d); }, g_.norm_);
    if (!holds_zeros() && !g_.bounded()) return all;
    for (std::size_t e = 0; e < d.size(); ++e) {
      if (!at_.inside[e]) continue;
      const Real u = at_.u[e], to = u + d[e], kept = holds_zeros() && u * to < 0 ? 0 : clip(to, g_.box_);
      if (kept == to) continue;
      d[e] = kept - u;
      all = false;
    }
    return all;
  }

private:
  bool holds_zeros() const { return g_.l1_ > 0 || g_.sign() != 0; } // may single numbers be held at zero?

  BlockPenalty g_;
  Around at_;
};

} // namespace southwell
