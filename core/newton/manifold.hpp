// Newton where the penalty is smooth: on blocks that are not zero and, where there is an l1, their entries
// that are not. What is solved for there is
//
//     (Q + l2 + (strength/||u||)(I - u u'/||u||^2)) d = -(z + l2 u + strength u/||u|| + l1 sign u),
//
// by conjugate gradients, Q being the curvature of the loss, known by its products alone.
#pragma once
#include "core/penalties/groups.hpp"
#include <vector>

namespace southwell {

// Where a block of numbers lies in a longer vector.
struct BlockAt {
  Index first, size;
  BlockPenalty g;
  CVec of(CVec v) const { return v.subspan(std::size_t(first), std::size_t(size)); }
  Vec of(Vec v) const { return v.subspan(std::size_t(first), std::size_t(size)); }
};

class Manifold {
public:
  // `free`: unpenalised numbers after the blocks. `exact`: the loss is quadratic, so steps of any length
  // agree with it.
  Manifold(std::span<const BlockAt> blocks, CVec u, Index free, bool exact)
      : blocks_(blocks), u_(u), inside_(u.size()), norms_(blocks.size()), free_(free), exact_(exact) {
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      norms_[b] = norm(blocks[b].of(u), [](Real v) { return v; });
      const BlockPenalty& g = blocks[b].g;
      kinked_ = kinked_ || g.strength > 0 || g.l1 > 0;
      if (norms_[b] == 0 && (g.strength > 0 || g.l1 > 0)) continue;
      for (Index e = blocks[b].first; e < blocks[b].first + blocks[b].size; ++e)
        inside_[e] = g.l1 == 0 || u[e] != 0;
    }
    std::fill(inside_.end() - free, inside_.end(), 1);
  }
  bool inside(Index e) const { return inside_[e]; }
  bool active(std::size_t b) const { // whether any of its numbers is inside
    for (Index e = blocks_[b].first; e < blocks_[b].first + blocks_[b].size; ++e)
      if (inside_[e]) return true;
    return false;
  }

  bool kinked() const { return kinked_; } // whether numbers or blocks may stop at zero

  // Vectors as long as u, kept between solves, because clearing new memory takes long where u is long.
  struct Buffers {
    std::vector<Real> residual, direction, bent, about, scale;
  };
  // d, and its image Q d inside. `product(v, out)` is Q v; `diagonal` is about that of Q, and `better(r,
  // out)` improves on its inverse in places, and returns by how much <r, out> changes. `spend()` is asked
  // each step; true: leave it.
  template <class Product, class Better, class Spend>
  void solve(CVec z, CVec diagonal, Product&& product, Better&& better, Spend&& spend, Real part, Index most,
             Buffers& buffers, Vec d, Vec image) const {
    auto& [residual, direction, bent, about, scale] = buffers;
    const std::size_t size = u_.size();
    for (std::vector<Real>* one : {&residual, &direction, &bent, &about}) one->resize(size);
    std::fill(d.begin(), d.end(), 0.0);
    gradient(z, residual);
    for (Real& v : residual) v = -v;
    const AboutInverse inverse(*this, diagonal, scale);
    const auto precondition = [&](CVec r, Vec out) {
      const Real product = inverse.times(r, out);
      return product + better(r, out);
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
      if (kinked_ && step >= 10) {
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
  // Of d only what leaves signs as they are: numbers and blocks that would pass zero stop there. True if that
  // is all of it.
  bool keep_signs(Vec d) const {
    if (!kinked_) return true;
    bool all = true;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const BlockAt& block = blocks_[b];
      if (block.g.strength > 0 && norms_[b] > 0) {
        Real along = 0;
        for (Index e = block.first; e < block.first + block.size; ++e) along += u_[e] * (u_[e] + d[e]);
        if (along <= 0) {
          for (Index e = block.first; e < block.first + block.size; ++e) d[e] = -u_[e];
          all = false;
          continue;
        }
      }
      if (block.g.l1 == 0) continue;
      for (Index e = block.first; e < block.first + block.size; ++e)
        if (inside_[e] && u_[e] * (u_[e] + d[e]) < 0) {
          d[e] = -u_[e];
          all = false;
        }
    }
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
  // strength / ||u||: how the norm bends across u.
  Real round(std::size_t b) const {
    const Real bend = norms_[b] > 0 ? blocks_[b].g.strength / norms_[b] : 0;
    return std::min(bend, std::numeric_limits<Real>::max());
  }
  void gradient(CVec z, Vec out) const { // zero outside
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto& [first, size, g] = blocks_[b];
      const Real pull = norms_[b] > 0 ? g.strength : 0;
      for (Index e = first; e < first + size; ++e)
        if (inside_[e])
          out[e] = z[e] + g.l2 * u_[e] + (pull > 0 ? pull * (u_[e] / norms_[b]) : 0) +
                   (u_[e] > 0   ? g.l1
                    : u_[e] < 0 ? -g.l1
                                : 0);
    }
    for (std::size_t e = u_.size() - std::size_t(free_); e < u_.size(); ++e) out[e] = z[e];
  }
  // out += the penalty's curvature times v; returns v'out, inside
  Real add_penalty(CVec v, Vec out) const {
    Real total = 0;
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const auto& [first, size, g] = blocks_[b];
      const Real bend = round(b);
      Real along = 0;
      if (bend > 0)
        for (Index e = first; e < first + size; ++e) along += inside_[e] ? u_[e] / norms_[b] * v[e] : 0;
      for (Index e = first; e < first + size; ++e) {
        out[e] += g.l2 * v[e];
        if (bend > 0) out[e] += bend * (v[e] - along * (u_[e] / norms_[b]));
        total += inside_[e] ? v[e] * out[e] : 0;
      }
    }
    for (std::size_t e = u_.size() - std::size_t(free_); e < u_.size(); ++e) total += v[e] * out[e];
    return total;
  }
  // The inverse with the diagonal of Q in its place, block by block: the roundness of a norm is felt across
  // u, and not along it. It is of rank one below a diagonal S (Sherman and Morrison):
  //
  //     (S - c w w')^-1 = S^-1 + c S^-1 w w' S^-1 / (1 - c w'S^-1 w),     w = u/||u||, c = strength/||u||.
  class AboutInverse {
  public:
    AboutInverse(const Manifold& on, CVec diagonal, std::vector<Real>& inverse)
        : on_(on), inverse_(inverse), round_(on.blocks_.size()), left_(round_.size()) {
      inverse_.resize(diagonal.size());
      Real most = 0;
      for (const Real v : diagonal) most = std::max(most, v);
      const Real least = most > 0 ? 1e-30 * most : 1; // columns may be of very different sizes
      for (std::size_t e = 0; e < inverse_.size(); ++e) inverse_[e] = std::max(diagonal[e], least);
      for (std::size_t b = 0; b < round_.size(); ++b) {
        const auto& [first, size, g] = on.blocks_[b];
        const Real round = size > 1 ? on.round(b) : 0;
        for (Index e = first; e < first + size; ++e) {
          const Real w = round > 0 ? on.u_[e] / on.norms_[b] : 0, flat = inverse_[e] + g.l2;
          inverse_[e] = 1 / (flat + round);
          left_[b] += w * w * flat * inverse_[e]; // without cancellation
        }
        // A block next to zero does not move along u. Nor is it moved freely where the model only
        // approximates the loss: where the model is flat, steps along u would leave the region in which it is
        // accurate.
        round_[b] = on.exact_ && left_[b] > 0 ? round : 0;
      }
      for (std::size_t e = inverse_.size() - std::size_t(on.free_); e < inverse_.size(); ++e)
        inverse_[e] = 1 / inverse_[e];
    }
    // out = the inverse times r, and their inner product
    Real times(CVec r, Vec out) const {
      for (std::size_t e = 0; e < out.size(); ++e) out[e] = on_.inside_[e] ? r[e] * inverse_[e] : 0;
      for (std::size_t b = 0; b < round_.size(); ++b) {
        if (round_[b] == 0) continue;
        const auto& [first, size, g] = on_.blocks_[b];
        Real along = 0;
        for (Index e = first; e < first + size; ++e) along += on_.u_[e] / on_.norms_[b] * out[e];
        along /= left_[b];
        for (Index e = first; e < first + size; ++e)
          if (on_.inside_[e]) out[e] += along * (on_.u_[e] / on_.norms_[b]) * (round_[b] * inverse_[e]);
      }
      Real total = 0;
      for (std::size_t e = 0; e < out.size(); ++e) total += r[e] * out[e];
      return total;
    }

  private:
    const Manifold& on_;
    std::vector<Real>& inverse_;     // of S
    std::vector<Real> round_, left_; // c and 1 - c w'S^-1 w
  };

  std::span<const BlockAt> blocks_;
  CVec u_;
  std::vector<char> inside_;
  std::vector<Real> norms_;
  Index free_;
  bool exact_, kinked_ = false;
};

} // namespace southwell
