// Newton where the penalty is smooth: on blocks that are not zero and, where there is an l1, their entries
// that are not (block_piece.hpp). What is solved for there, along the manifold, is
//
//     (Q + g''(u)) d = -(z + g'(u)),
//
// by conjugate gradients, Q being the curvature of the loss, known by its products alone.
#pragma once
#include "core/penalties/block_piece.hpp"
#include <vector>

namespace southwell {

// Where a block of numbers lies in a longer vector.
struct BlockAt {
  Index first, size;
  BlockPenalty g;
  CVec of(CVec v) const { return v.subspan(std::size_t(first), std::size_t(size)); }
  Vec of(Vec v) const { return v.subspan(std::size_t(first), std::size_t(size)); }
};

struct NothingBetter { // than the diagonal
  static void factor(CVec, CVec, std::span<const char>) {}
  static Real times(CVec, Vec) { return 0; }
};

class Manifold {
public:
  // `free`: unpenalised numbers after the blocks. `exact`: the loss is quadratic, so steps of any length
  // agree with it. Numbers with neither curvature nor penalty (empty columns, or constant ones after
  // centring, whose slopes are rounding errors) stay where they are; `diagonal` is that of the curvature.
  Manifold(std::span<const BlockAt> blocks, CVec u, CVec diagonal, Index free, bool exact,
           const Policy& policy)
      : policy_(policy), blocks_(blocks), u_(u), inside_(u.size(), 1), free_(u.size() - std::size_t(free)),
        exact_(exact) {
    pieces_.reserve(blocks.size());
    for (const BlockAt& block : blocks) {
      const auto marks = std::span(inside_).subspan(std::size_t(block.first), std::size_t(block.size));
      stops_ = pieces_.emplace_back(block.g, block.of(u), marks).stops() || stops_;
      if (block.g.free())
        for (Index e = block.first; e < block.first + block.size; ++e) inside_[e] = diagonal[e] > 0;
    }
  }
  Manifold(const Manifold&) = delete;                              // its pieces refer to its marks
  bool active(std::size_t b) const { return pieces_[b].active(); } // does any of its numbers move?

  Real shortest_step() const { return policy_.block_shortest; }
  bool stops() const { return stops_; } // whether numbers or blocks may stop at zero or at a bound

  // Vectors as long as u, kept between solves, because clearing new memory takes long where u is long.
  struct Buffers {
    std::vector<Real> residual, direction, bent, about, scale, along;
  };
  // d, and its image Q d inside. `product(v, out)` is Q v; `diagonal` is about that of Q, and `better`
  // improves on its inverse in places: `better.factor(diagonal, inverse, marks)` is told the inverse with the
  // penalty, where marks say that it is a diagonal, and `better.times(r, out)` changes its product with r,
  // and returns by how much <r, out> changes. `spend()` is asked each step; true: leave it.
  template <class Product, class Better, class Spend>
  void solve(CVec z, CVec diagonal, Product&& product, Better&& better, Spend&& spend, Real part, Index most,
             Buffers& buffers, Vec d, Vec image) const {
    auto& [residual, direction, bent, about, scale, along] = buffers;
    const std::size_t size = u_.size();
    for (std::vector<Real>* one : {&residual, &direction, &bent, &about}) one->resize(size);
    std::fill(d.begin(), d.end(), 0.0);
    gradient(z, residual);
    for (Real& v : residual) v = -v;
    const AboutInverse inverse(*this, diagonal, scale, along);
    better.factor(diagonal, scale, inverse.marks());
    const auto precondition = [&](CVec r, Vec out) {
      const Real product = inverse.times(r, out);
      return product + better.times(r, out);
    };
    Real rho = precondition(residual, direction);
    const Real goal = part * part * rho;
    for (Index step = 0; step < most && rho > goal && rho > 0; ++step) {
      product(direction, bent);
      if (spend()) break;
      const Real curvature = add_penalty(direction, bent);
      if (!(curvature > 1e-12 * rho)) break; // no curvature in this direction: the step has no minimiser
      const Real by = rho / curvature;
      for (std::size_t e = 0; e < size; ++e) d[e] += by * direction[e]; // which is zero outside
      for (std::size_t e = 0; e < size; ++e) residual[e] -= by * bent[e];
      const Real next = precondition(residual, about), kept = next / rho;
      for (std::size_t e = 0; e < size; ++e) direction[e] = about[e] + kept * direction[e];
      rho = next;
      if (stops_ && Real(step) >= policy_.block_signs) {
        about.assign(d.begin(), d.end());
        if (!keep_signs(about)) break; // a number or block would pass zero
      }
    }
    // The residual is -(gradient + (Q + penalty) d).
    gradient(z, image);
    std::fill(bent.begin(), bent.end(), 0.0);
    add_penalty(d, bent);
    for (std::size_t e = 0; e < size; ++e) image[e] = inside_[e] ? -image[e] - residual[e] - bent[e] : 0;
  }
  // Of d only what stays on the manifold, or at its ends: numbers and blocks that would pass zero stop there.
  // True if that is all of it.
  bool keep_signs(Vec d) const {
    if (!stops_) return true;
    bool all = true;
    for (std::size_t b = 0; b < pieces_.size(); ++b) all = pieces_[b].keep(blocks_[b].of(d)) && all;
    return all;
  }
  Real penalty() const { // at u
    Real total = 0;
    for (const BlockAt& block : blocks_) total += block.g.value(block.of(u_));
    return total;
  }
  Real penalty(CVec d) const { // at u + d
    std::vector<Real> buffer;
    Real total = 0;
    for (const BlockAt& block : blocks_) {
      buffer.resize(std::size_t(block.size));
      for (Index t = 0; t < block.size; ++t) buffer[t] = u_[block.first + t] + d[block.first + t];
      total += block.g.value(buffer);
    }
    return total;
  }

private:
  void gradient(CVec z, Vec out) const { // zero outside
    for (std::size_t e = 0; e < out.size(); ++e) out[e] = inside_[e] ? z[e] : 0;
    for (std::size_t b = 0; b < pieces_.size(); ++b) pieces_[b].add_gradient(blocks_[b].of(out));
  }
  // out += the penalty's curvature times v; returns v'out, inside
  Real add_penalty(CVec v, Vec out) const {
    for (std::size_t b = 0; b < pieces_.size(); ++b)
      pieces_[b].add_curvature(blocks_[b].of(v), blocks_[b].of(out));
    Real total = 0;
    for (std::size_t e = 0; e < u_.size(); ++e) total += inside_[e] ? v[e] * out[e] : 0;
    return total;
  }
  // The inverse with the diagonal of Q in its place, block by block, on steps along the manifold: each is a
  // diagonal D plus a matrix of rank one, D + c w w'.
  class AboutInverse {
  public:
    AboutInverse(const Manifold& on, CVec diagonal, std::vector<Real>& inverse, std::vector<Real>& along)
        : on_(on), inverse_(inverse), along_(along) {
      inverse_.resize(diagonal.size());
      if (on.stops_) along_.resize(diagonal.size());
      Real most = 0;
      for (const Real v : diagonal) most = std::max(most, v);
      const Real least = most > 0 ? 1e-30 * most : 1; // columns may be of very different sizes
      for (std::size_t e = 0; e < inverse_.size(); ++e) inverse_[e] = std::max(diagonal[e], least);
      for (std::size_t b = 0; b < on.pieces_.size(); ++b) {
        const BlockAt& block = on.blocks_[b];
        const Vec w = on.stops_ ? block.of(Vec(along_)) : Vec();
        times_.push_back(on.pieces_[b].invert(on.exact_, block.of(Vec(inverse_)), w));
      }
      for (std::size_t e = on.free_; e < inverse_.size(); ++e) inverse_[e] = 1 / inverse_[e];
    }
    // Where it is a diagonal.
    std::vector<char> marks() const {
      std::vector<char> marks = on_.inside_;
      for (std::size_t b = 0; b < times_.size(); ++b)
        if (times_[b] != 0) std::fill_n(marks.begin() + on_.blocks_[b].first, on_.blocks_[b].size, char(0));
      return marks;
    }
    // out = the inverse times r, and their inner product
    Real times(CVec r, Vec out) const {
      for (std::size_t e = 0; e < out.size(); ++e) out[e] = on_.inside_[e] ? r[e] * inverse_[e] : 0;
      for (std::size_t b = 0; b < times_.size(); ++b) {
        if (times_[b] == 0) continue;
        const BlockAt& block = on_.blocks_[b];
        const CVec w = block.of(CVec(along_)), from = block.of(r);
        const Vec to = block.of(out);
        Real part = 0;
        for (std::size_t e = 0; e < w.size(); ++e) part += w[e] * from[e];
        part *= times_[b];
        for (std::size_t e = 0; e < w.size(); ++e) to[e] += part * w[e];
      }
      Real total = 0;
      for (std::size_t e = 0; e < out.size(); ++e) total += r[e] * out[e];
      return total;
    }

  private:
    const Manifold& on_;
    std::vector<Real>&inverse_, &along_; // D and w
    std::vector<Real> times_;            // c
  };

  const Policy& policy_;
  std::span<const BlockAt> blocks_;
  CVec u_;
  std::vector<char> inside_;
  std::vector<BlockPiece> pieces_;
  std::size_t free_; // the first unpenalised number
  bool exact_, stops_ = false;
};

} // namespace southwell
