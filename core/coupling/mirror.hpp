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
#include <span>
#include <utility>

namespace southwell {

template <class D, class Map> class Mirror {
public:
  static constexpr bool keeps_potential = true;
  // What a move of a linear map changes. Threads that move coordinates at the same time have one each.
  struct State {
    std::vector<Real> kept;
    Real tau = 0, along = 0; // along: <w, image>
  };

  Mirror(const D& design, Map map)
      : design_(design), map_(std::move(map)), state_{std::vector<Real>(design.positions())},
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
    state_.tau = 0;
    for (Index i = 0; i < design_.positions(); ++i) {
      state_.kept[i] = map_.at(i, potential[i]);
      if constexpr (!Map::linear) potential_[i] = potential[i];
    }
    state_.along = shifted_ ? design_.common().dot(state_.kept) : 0;
  }

  SOUTHWELL_INLINE Real read(Index k) const { return read(k, state_); }
  SOUTHWELL_INLINE Real read(Index k, const State& at) const {
    return framed(k, design_.fiber(k).dot(at.kept), at);
  }
  SOUTHWELL_INLINE Real own(Index k) const { return design_.fiber(k).dot(state_.kept); } // stored part only
  SOUTHWELL_INLINE Real framed(Index k, Real own) const { return framed(k, own, state_); }
  SOUTHWELL_INLINE Real framed(Index k, Real own, const State& at) const { // with the part of the frame
    if (!shifted_) return own;
    if constexpr (Map::linear) return own + at.tau * cross_[k] + design_.gamma(k) * at.along;
    return own + design_.gamma(k) * at.along;
  }

  SOUTHWELL_INLINE void move(Index k, Real delta) {
    move(k, delta, [](Index, Real) {});
  }
  // If the map is curved, `seen(i, change)` is called for each change of the kept image.
  template <class Seen> SOUTHWELL_INLINE void move(Index k, Real delta, Seen&& seen) {
    const auto fiber = design_.fiber(k);
    if constexpr (Map::linear) {
      move_in(state_, k, delta);
    } else {
      const Vec kept = state_.kept;
      const auto change = [&](Index i, Real a) {
        const Real before = std::exchange(kept[i], map_.at(i, potential_[i] += delta * a));
        seen(i, kept[i] - before);
        return kept[i] - before;
      };
      if (!shifted_) return fiber.visit(change);
      const auto change_along = [&](Index i, Real a) { state_.along += design_.common_at(i) * change(i, a); };
      fiber.visit(change_along);
      if (const Real gamma = design_.gamma(k); gamma != 0)
        design_.common().visit([&](Index i, Real w) { change_along(i, gamma * w); });
    }
  }
  SOUTHWELL_INLINE void move_in(State& at, Index k, Real delta) const
    requires(Map::linear)
  {
    const auto fiber = design_.fiber(k);
    if (uniform_)
      fiber.add_to(at.kept, delta * uniform_rate_);
    else
      fiber.visit([&](Index i, Real a) { at.kept[i] += delta * a * map_.rate(i); });
    move_frame(k, delta, at);
  }
  // The part of a move that the frame adds, for a linear map.
  void move_frame(Index k, Real delta)
    requires(Map::linear)
  {
    move_frame(k, delta, state_);
  }
  void move_frame(Index k, Real delta, State& at) const
    requires(Map::linear)
  {
    if (!shifted_) return;
    at.along += delta * (cross_[k] + design_.gamma(k) * common_curvature_);
    at.tau += delta * design_.gamma(k);
  }

  // Calls f(i, d kept_i / d delta) along the stored fiber k, for a linear map.
  template <class F>
  void visit_rates(Index k, F&& f) const
    requires(Map::linear)
  {
    design_.fiber(k).visit([&](Index i, Real a) { f(i, a * map_.rate(i)); });
  }

  // Joins of moves that several parts made on copies of the state, each as if all had made its own, for a
  // linear map: all of them together lead to the mean of the copies. With dz the change of the product, the
  // smooth function whose gradient the image is changes by
  //
  //     t <image, dz> + (t^2 / 2) <d image, dz>        along t dz.
  struct Along {
    Real slope = 0, curvature = 0;
    Along& operator+=(const Along& other) {
      slope += other.slope;
      curvature += other.curvature;
      return *this;
    }
  };
  const State& state() const { return state_; }
  // What the frame alone adds to the squared norm of fiber k, in the metric of the map.
  Real frame_norm(Index k) const {
    return shifted_ ? -design_.gamma(k) * design_.gamma(k) * common_curvature_ : 0;
  }
  void expect() { next_.kept.resize(state_.kept.size()); } // before the first join
  // The mean of the copies, at the positions from, ..., to - 1; the copies go there too.
  Along advance(std::span<State* const> copies, Index from, Index to)
    requires(Map::linear)
  {
    Along sums;
    const Real part = 1.0 / Real(copies.size());
    for (Index i = from; i < to; ++i) {
      const Real here = state_.kept[i];
      Real by = 0;
      bool moved = false;
      for (const State* copy : copies) {
        by += copy->kept[i] - here;
        moved = moved || copy->kept[i] != here;
      }
      next_.kept[i] = here;
      if (!moved) continue; // as at the positions of rare columns
      by *= part;
      for (State* copy : copies) copy->kept[i] = here + by;
      next_.kept[i] = here + by;
      const Real product = by / (uniform_ ? uniform_rate_ : map_.rate(i));
      sums.slope += here * product;
      sums.curvature += by * product;
    }
    return sums;
  }
  Along advance_frame(std::span<State* const> copies) // and the numbers of the frame
    requires(Map::linear)
  {
    if (!shifted_) return {};
    Real tau = 0, along = 0;
    for (const State* copy : copies) {
      tau += (copy->tau - state_.tau) / Real(copies.size());
      along += (copy->along - state_.along) / Real(copies.size());
    }
    next_.tau = state_.tau + tau;
    next_.along = state_.along + along;
    for (State* copy : copies) {
      copy->tau = next_.tau;
      copy->along = next_.along;
    }
    const Real stored = along - tau * common_curvature_; // <w, change of kept>
    return {state_.tau * stored + tau * state_.along, 2 * tau * stored + tau * tau * common_curvature_};
  }
  void shorten(std::span<State* const> copies, Real t) { // only t of the way
    const auto part = [&](Real from, Real to) { return from + t * (to - from); };
    for (std::size_t i = 0; i < next_.kept.size(); ++i) next_.kept[i] = part(state_.kept[i], next_.kept[i]);
    next_.tau = part(state_.tau, next_.tau);
    next_.along = part(state_.along, next_.along);
    for (State* copy : copies) *copy = next_;
  }
  void arrive() { std::swap(state_, next_); }

  // sum_i a_i^2 s_i phi''(p_i) along fiber k.
  Real curvature(Index k) const
    requires requires(const Map m) { m.curvature(0, 0.0); }
  {
    const Real gamma = shifted_ ? design_.gamma(k) : 0;
    if (gamma == 0)
      return design_.fiber(k).sum([&](Index i, Real a) { return a * a * map_.curvature(i, state_.kept[i]); });
    return design_.squared_norm(k, [&](Index i) { return map_.curvature(i, state_.kept[i]); });
  }

  // The image itself, after adding tau (rate o w) to `kept`.
  Vec image() {
    if constexpr (Map::linear)
      if (state_.tau != 0) {
        design_.common().visit([&](Index i, Real w) { state_.kept[i] += state_.tau * map_.rate(i) * w; });
        state_.tau = 0;
      }
    return state_.kept;
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
    state_.along = shifted_ ? design_.common().dot(x) : 0;
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
  State state_, next_; // the latter: what a join leads to
  std::vector<Real> potential_, cross_;
  Real common_curvature_ = 0, uniform_rate_ = 0;
  bool shifted_, uniform_ = false;
};

} // namespace southwell
