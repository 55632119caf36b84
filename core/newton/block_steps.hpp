// What block coordinate sweeps and Newton steps on a model share.
#pragma once
#include "core/newton/manifold.hpp"
#include <utility>

namespace southwell {

// About the gap of the problem restricted to some blocks, with slopes scaled to be feasible there; `value` is
// P. Where there is no penalty, it is what a step of each number is worth, `diagonal` being its curvature.
inline Real restricted_gap(std::span<const BlockAt> blocks, CVec x, CVec z, CVec diagonal, Real value) {
  Real scale = 1, total = 0;
  for (const BlockAt& block : blocks)
    if (block.g.l2() == 0 && !block.g.free())
      scale = std::min(scale, block.g.feasible_scale(block.of(z), -1));
  for (const BlockAt& block : blocks) {
    if (block.g.free()) {
      for (Index e = block.first; e < block.first + block.size; ++e)
        total += diagonal[e] > 0 ? z[e] * (z[e] / diagonal[e]) : 0;
      continue;
    }
    const CVec own = block.of(x), slope = block.of(z);
    Real along = 0;
    for (Index e = 0; e < block.size; ++e) along += scale * slope[e] * own[e];
    total += std::max(block.g.value(own) + block.g.conjugate(slope, -scale) + along, 0.0);
  }
  return total + (1 - scale) * (1 - scale) * std::abs(value);
}

// A proximal step of a block; `change` is by how much it moves. Where nothing but l1 and l2 hold a single
// feature, each of its numbers has a curvature of its own. Returns what the step is worth, about: 0 if
// there is none.
inline Real propose(const BlockAt& block, Index k, Vec u, CVec slope, Real steep, CVec diagonal,
                    std::vector<Real>& change) {
  const Vec own = block.of(u);
  const bool apart = block.g.by_numbers() && block.size == k;
  change.resize(std::size_t(block.size));
  if (!(steep > 0)) { // empty columns: the penalty alone has its minimum at zero
    Real moved = 0;
    for (Index e = 0; e < block.size; ++e) moved += std::abs(change[e] = -std::exchange(own[e], 0.0));
    return moved;
  }
  for (Index e = 0; e < block.size; ++e) {
    const Real own_steep = apart ? std::max(diagonal[e], 1e-12 * steep) : steep;
    change[e] = own[e] - slope[e] / own_steep;
    if (apart) change[e] = block.g.prox_of_number(change[e], 1 / own_steep);
  }
  if (!apart) block.g.prox(change, 1 / steep);
  Real moved = 0;
  for (Index e = 0; e < block.size; ++e) {
    const Real to = change[e];
    change[e] = to - own[e];
    moved += (apart ? diagonal[e] : steep) * change[e] * change[e];
    own[e] = to;
  }
  return moved;
}

inline bool is_zero(CVec v) {
  return std::all_of(v.begin(), v.end(), [](Real e) { return e == 0; });
}
// By how much a sweep lowers the logarithm of the error, from what the last two were worth: it falls with the
// root of that.
inline Real pace_of_sweeps(Real last, Real now) { return now > 0 ? std::log(last / now) / 2 : 0; }

// As far along d as the model with its penalty falls, stopping at zero what would pass it; d and its image
// are then those of that step. False if it never falls.
template <class Product> bool shorten(const Manifold& manifold, CVec z, Product&& product, Vec d, Vec image) {
  const Real here = manifold.penalty();
  std::vector<Real> whole;
  if (manifold.stops()) whole.assign(d.begin(), d.end()); // else nothing will stop
  bool stopped = false;
  for (Real part = 1; part > manifold.shortest_step(); part /= 2) {
    if (part < 1)
      for (std::size_t e = 0; e < d.size(); ++e) {
        d[e] = stopped ? part * whole[e] : d[e] / 2;
        image[e] /= 2;
      }
    if (const bool before = stopped; (stopped = !manifold.keep_signs(d)) || before) product(d, image);
    Real change = manifold.penalty(d) - here;
    for (std::size_t e = 0; e < d.size(); ++e) change += d[e] * (z[e] + image[e] / 2);
    if (change <= 1e-15 * std::abs(here)) return true;
  }
  return false;
}

} // namespace southwell
