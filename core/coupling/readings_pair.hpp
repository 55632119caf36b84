// The readings of two vectors u and z for all coordinates, where the map is linear, from which every gradient
// at w u + z is one number. For accelerated greedy descent: a step reads all coordinates, so without readings
// it would cost a pass over the data.
//
// A move of k adds a column of the Gram matrix to the readings of u and of z. Columns are computed when they
// are first needed and cached (gram_columns.hpp), so a step costs O(coordinates) once its columns are cached.
// The frame (fiber k = stored_k + gamma_k w) adds two numbers a vector, as in Mirror:
//
//     reading l  +=  delta (<stored_l, rate o stored_k> + gamma_k cross_l + gamma_l (cross_k + gamma_k
//     |w|^2)), cross_l = <stored_l, rate o w>,   |w|^2 = <w, rate o w>
#pragma once
#include "core/coupling/gram_columns.hpp"
#include <utility>

namespace southwell {

template <class D, class Map> class ReadingsPair {
public:
  static constexpr bool keeps_potential = false;

  ReadingsPair(const D& design, Map map, std::unique_ptr<AnyFibers> crossing, Index room)
      : design_(design), map_(std::move(map)), columns_(design, std::move(crossing), room),
        cross_(design.shifted() ? design.coordinates() : 0), u_(design), z_(design) {
    if (!design.shifted()) return;
    std::vector<Real> rate_w(design.positions());
    design.common().visit([&](Index i, Real w) { rate_w[i] = map_.rate(i) * w; });
    common_curvature_ = design.common().dot(rate_w);
    for (Index k = 0; k < design.coordinates(); ++k) cross_[k] = design.fiber(k).dot(rate_w);
  }

  void reset(CVec readings, Real = 0) { // start at z with its readings, u = 0
    u_ = Readings(design_);
    z_ = Readings(design_);
    z_.own.assign(readings.begin(), readings.end());
  }
  void fold(Real w) { // z becomes w u + z, u becomes 0
    for (Index k = 0; k < size(); ++k) z_.own[k] += w * u_.own[k];
    z_.tau += w * u_.tau;
    z_.along += w * u_.along;
    u_ = Readings(design_);
  }
  void correct(CVec readings, Real w) { // `readings` are those of w u + z, newly computed
    if (w == 0) return reset(readings);
    u_ = Readings(design_);
    for (Index k = 0; k < size(); ++k) u_.own[k] = (readings[k] - of(z_, k)) / w;
  }
  // Computes the readings at zero, by a pass over the data.
  template <class Step> void set_origin(const Step&) {
    std::vector<Real> image(design_.positions());
    for (Index i = 0; i < design_.positions(); ++i) image[i] = map_.at(i, 0);
    const Real along = design_.shifted() ? design_.common().dot(image) : 0;
    zero_.resize(size());
    for (Index k = 0; k < size(); ++k)
      zero_[k] = design_.fiber(k).dot(image) + (design_.shifted() ? design_.gamma(k) * along : 0);
  }

  SOUTHWELL_INLINE Real read(Index k, Real w) const {
    if (cross_.empty()) return w * u_.own[k] + z_.own[k];
    return w * of(u_, k) + of(z_, k);
  }
  void move(Index k, Real du, Real dz) {
    touched_ = 0;
    const auto rates = [&](auto&& f) {
      design_.fiber(k).visit([&](Index i, Real a) { f(i, a * map_.rate(i)); });
    };
    const ColumnCache::Column& column = columns_(k, rates, touched_);
    add(column, k, du, u_);
    add(column, k, dz, z_);
  }
  // <alpha, reading(alpha) + reading(0)> / 2
  template <class Step> Real value(const Step& step, CVec alpha, Real w) const {
    Real total = 0;
    for (Index k = 0; k < size(); ++k) total += step.share(k) * alpha[k] * (read(k, w) + zero_[k]);
    return Step::direction * total / 2;
  }

  Map& map() { return map_; }
  Index positions() const { return size(); }
  Index cost(Index) const { return touched_; } // of the last move
  void prefetch_start(Index) const {}
  void prefetch(Index) const {}

private:
  struct Readings { // of coordinate k: own_k + tau cross_k + gamma_k along
    explicit Readings(const D& design) : own(design.coordinates()) {}
    std::vector<Real> own;
    Real tau = 0, along = 0;
  };
  Index size() const { return design_.coordinates(); }
  Real of(const Readings& r, Index k) const {
    return cross_.empty() ? r.own[k] : r.own[k] + r.tau * cross_[k] + design_.gamma(k) * r.along;
  }
  void add(const ColumnCache::Column& column, Index k, Real delta, Readings& to) {
    if (delta == 0) return;
    column.add_to(to.own, delta);
    if (cross_.empty()) return;
    to.tau += delta * design_.gamma(k);
    to.along += delta * (cross_[k] + design_.gamma(k) * common_curvature_);
  }

  const D& design_;
  Map map_;
  GramColumns<D> columns_;
  std::vector<Real> cross_, zero_;
  Real common_curvature_ = 0;
  Readings u_, z_;
  Index touched_ = 0;
};

} // namespace southwell
