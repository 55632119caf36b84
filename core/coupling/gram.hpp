// Keeps every slope (or margin), updated through the d x d (or n x n) matrix of inner products between
// coordinates: reading is free, and a move costs one column of the matrix. Faster if coordinates are few and
// fibers are long.
#pragma once
#include "core/design/fiber.hpp"
#include <utility>
#include <vector>

namespace southwell {

template <class Map> class Gram {
public:
  static constexpr bool keeps_potential = false; // it keeps the slopes (margins)
  Gram(const Real* products, Index size, Map map) : products_(products), map_(std::move(map)), kept_(size) {}

  // `along` is the slope of the intercept (dual side only).
  void reset(CVec values, Real along = 0) {
    kept_.assign(values.begin(), values.end());
    along_ = along;
  }
  Real read(Index k) const { return kept_[k]; }
  CVec all() const { return kept_; }
  void move(Index k, Real delta) {
    DenseFiber<Real>(products_ + k * size(), size()).add_to(kept_, delta);
    along_ += delta;
  }

  // Moves the anchor of the intercept to its current value; no other coordinate has an anchor here. Changes
  // all margins.
  bool recentre()
    requires requires(Map m) { m.recentre(0, 0.0); }
  {
    if (!map_.anchored()) return false;
    const Index last = map_.first_anchored();
    const Real x = map_.at(last, along_);
    map_.recentre(last, x);
    const Real shift = map_.at(last, along_) - x;
    for (Real& margin : kept_) margin += shift;
    return true;
  }

  Map& map() { return map_; }
  Index read_cost(Index) const { return 1; }
  Index move_cost(Index) const { return size(); }
  void prefetch_start(Index) const {}
  void prefetch(Index k) const { SOUTHWELL_PREFETCH(products_ + k * size()); }

private:
  Index size() const { return Index(kept_.size()); }
  const Real* products_;
  Map map_;
  std::vector<Real> kept_;
  Real along_ = 0;
};

static_assert(Coupling<Gram<int>>);

} // namespace southwell
