// Keeps the image (see maps.hpp) up to date: y = phi'(A x) while x moves, x = grad g*(-A'(s o y)) while y
// moves.
//
// Reading coordinate k is one dot product with its fiber, moving it one pass over its fiber. The frame of the
// design (fiber k = stored_k + gamma_k w) costs O(1) more where the map is linear:
//
//     image = kept + tau (rate o w),   <fiber k, image> = <stored_k, kept> + tau cross_k + gamma_k <w, image>
//
// with cross_k = <stored_k, rate o w> computed once and <w, image> kept. Where the map is curved, a move with
// gamma_k != 0 visits the support of w: one entry for an intercept on the dual side, n for the intercept
// itself on the primal.
#pragma once
#include "core/coupling/maps.hpp"
#include <utility>

namespace southwell {

template <class D, class Map> class Mirror {
public:
  static constexpr bool keeps_potential = true;
  Mirror(const D& design, Map map)
      : design_(design), map_(std::move(map)), kept_(design.positions()),
        potential_(Map::linear ? 0 : design.positions()), shifted_(design.shifted()) {
    if constexpr (Map::linear) {
      uniform_ = map_.uniform();
      uniform_rate_ = map_.rate(0);
      if (!shifted_) return;
      std::vector<Real> rate_w(design.positions());
      design.common().visit([&](Index i, Real w) { rate_w[i] = map_.rate(i) * w; });
      common_curvature_ = design.common().dot(rate_w);
      cross_.resize(design.coordinates());
      for (Index k = 0; k < design.coordinates(); ++k) cross_[k] = design.fiber(k).dot(rate_w);
    }
  }

  void reset(CVec potential) {
    tau_ = 0;
    for (Index i = 0; i < design_.positions(); ++i) {
      kept_[i] = map_.at(i, potential[i]);
      if constexpr (!Map::linear) potential_[i] = potential[i];
    }
    along_ = shifted_ ? design_.common().dot(kept_) : 0;
  }

  SOUTHWELL_INLINE Real read(Index k) const { return framed(k, own(k)); }
  SOUTHWELL_INLINE Real own(Index k) const { return design_.fiber(k).dot(kept_); } // stored part only
  SOUTHWELL_INLINE Real framed(Index k, Real own) const { // the reading, with the part of the frame
    if (!shifted_) return own;
    if constexpr (Map::linear) return own + tau_ * cross_[k] + design_.gamma(k) * along_;
    return own + design_.gamma(k) * along_;
  }

  SOUTHWELL_INLINE void move(Index k, Real delta) {
    move(k, delta, [](Index, Real) {});
  }
  // If the map is curved, `seen(i, change)` is called for each change of the kept image.
  template <class Seen> SOUTHWELL_INLINE void move(Index k, Real delta, Seen&& seen) {
    const auto fiber = design_.fiber(k);
    if constexpr (Map::linear) {
      if (uniform_)
        fiber.add_to(kept_, delta * uniform_rate_);
      else
        fiber.visit([&](Index i, Real a) { kept_[i] += delta * a * map_.rate(i); });
      move_frame(k, delta);
    } else {
      const auto change = [&](Index i, Real a) {
        const Real before = std::exchange(kept_[i], map_.at(i, potential_[i] += delta * a));
        seen(i, kept_[i] - before);
        return kept_[i] - before;
      };
      if (!shifted_) return fiber.visit(change);
      const auto change_along = [&](Index i, Real a) { along_ += design_.common_at(i) * change(i, a); };
      fiber.visit(change_along);
      if (const Real gamma = design_.gamma(k); gamma != 0)
        design_.common().visit([&](Index i, Real w) { change_along(i, gamma * w); });
    }
  }
  // The part of a move that the frame adds, for a linear map.
  void move_frame(Index k, Real delta)
    requires(Map::linear)
  {
    if (!shifted_) return;
    along_ += delta * (cross_[k] + design_.gamma(k) * common_curvature_);
    tau_ += delta * design_.gamma(k);
  }
  // Calls f(i, d kept_i / d delta) along the stored fiber k, for a linear map.
  template <class F>
  void visit_rates(Index k, F&& f) const
    requires(Map::linear)
  {
    design_.fiber(k).visit([&](Index i, Real a) { f(i, a * map_.rate(i)); });
  }

  // sum_i a_i^2 s_i phi''(p_i) along fiber k.
  Real curvature(Index k) const
    requires requires(const Map m) { m.curvature(0, 0.0); }
  {
    const Real gamma = shifted_ ? design_.gamma(k) : 0;
    if (gamma == 0)
      return design_.fiber(k).sum([&](Index i, Real a) { return a * a * map_.curvature(i, kept_[i]); });
    return design_.squared_norm(k, [&](Index i) { return map_.curvature(i, kept_[i]); });
  }

  // The image itself, after adding tau (rate o w) to `kept_`.
  Vec image() {
    if constexpr (Map::linear)
      if (tau_ != 0) {
        design_.common().visit([&](Index i, Real w) { kept_[i] += tau_ * map_.rate(i) * w; });
        tau_ = 0;
      }
    return kept_;
  }

  // Moves the anchors of a ConjugateMap to the current image, or beyond it with momentum; true if there are
  // any.
  bool recentre()
    requires requires(Map m) { m.recentre(0, 0.0); }
  {
    if (map_.first_anchored() >= design_.positions()) return false;
    const Vec x = image();
    for (Index j = map_.first_anchored(); j < design_.positions(); ++j) {
      if (map_.mu(j) == 0) continue;
      if constexpr (Map::linear) {
        const Real before = map_.anchor(j);
        map_.recentre(j, x[j]);
        x[j] -= map_.rate(j) * map_.mu(j) * (map_.anchor(j) - before);
      } else {
        map_.recentre(j, x[j]);
        x[j] = map_.at(j, potential_[j]);
      }
    }
    along_ = shifted_ ? design_.common().dot(x) : 0;
    return true;
  }

  Map& map() { return map_; }
  const D& design() const { return design_; }
  Index read_cost(Index k) const { return design_.fiber(k).size(); }
  Index move_cost(Index k) const { // a curved map recomputes the image along w
    const bool whole_frame = !Map::linear && shifted_ && design_.gamma(k) != 0;
    return design_.fiber(k).size() + (whole_frame ? design_.common().size() : 0);
  }
  void prefetch_start(Index k) const { design_.prefetch_start(k); }
  void prefetch(Index k) const { design_.prefetch(k); }

private:
  const D& design_;
  Map map_;
  std::vector<Real> kept_, potential_, cross_;
  Real tau_ = 0, common_curvature_ = 0, uniform_rate_ = 0;
  Real along_ = 0; // <w, image>
  bool shifted_, uniform_ = false;
};

} // namespace southwell
