// The products of two vectors u and z, from which the gradient at any w u + z is computed. For accelerated
// descent.
#pragma once
#include "core/coupling/gram.hpp"
#include "core/coupling/mirror.hpp"

namespace southwell {

// Keeps both products. A reading computes the image of their combination at the entries of one fiber only.
template <class D, class Map> class MirrorPair {
public:
  static constexpr bool keeps_potential = true;
  MirrorPair(const D& design, Map map)
      : design_(design), map_(std::move(map)), products_(design.positions()) {}

  // Start at z with its product, u = 0.
  void reset(CVec product) {
    for (std::size_t i = 0; i < products_.size(); ++i) products_[i] = {0, product[i]};
  }
  void fold(Real w) { // z becomes w u + z, u becomes 0
    for (auto& [u, z] : products_) z += w * std::exchange(u, 0.0);
  }
  void scale(Real w) { // u becomes w u
    for (auto& product : products_) product.u *= w;
  }
  void correct(CVec product, Real w) { // `product` is that of w u + z, newly computed
    for (std::size_t i = 0; i < products_.size(); ++i)
      if (w > 0)
        products_[i].u = (product[i] - products_[i].z) / w;
      else
        products_[i].z = product[i];
  }
  Real read(Index k, Real w) const {
    Real total = 0;
    visit(k, [&](Index i, Real a) { total += a * map_.at(i, w * products_[i].u + products_[i].z); });
    return total;
  }
  void move(Index k, Real du, Real dz) {
    visit(k, [&](Index i, Real a) {
      products_[i].u += a * du;
      products_[i].z += a * dz;
    });
  }
  // The value of the coupled function at w u + z, up to a constant.
  template <class Step> Real value(const Step& step, CVec, Real w) {
    scratch_.resize(products_.size());
    for (std::size_t i = 0; i < scratch_.size(); ++i) scratch_[i] = w * products_[i].u + products_[i].z;
    return step.coupled_value(scratch_);
  }

  Map& map() { return map_; }
  Index positions() const { return Index(products_.size()); }
  Index cost(Index k) const {
    return design_.fiber(k).size() +
           (design_.shifted() && design_.gamma(k) != 0 ? design_.common().size() : 0);
  }
  void prefetch_start(Index k) const { design_.prefetch_start(k); }
  void prefetch(Index k) const { design_.prefetch(k); }

private:
  template <class F> SOUTHWELL_INLINE void visit(Index k, F&& f) const {
    design_.fiber(k).visit(f);
    if (!design_.shifted()) return;
    if (const Real gamma = design_.gamma(k); gamma != 0)
      design_.common().visit([&](Index i, Real c) { f(i, gamma * c); });
  }
  struct Products {
    Real u, z;
  };
  const D& design_;
  Map map_;
  std::vector<Products> products_;
  std::vector<Real> scratch_;
};

// Keeps all readings of both, updated through the Gram matrix of the coordinates: reading costs nothing, so
// all coordinates can be compared.
template <class Map> class GramPair {
public:
  static constexpr bool keeps_potential = false;
  GramPair(const Real* products, Index size, Map map)
      : products_(products), map_(std::move(map)), u_(size), z_(size), zero_(size) {}

  void reset(CVec readings, Real = 0) {
    std::fill(u_.begin(), u_.end(), 0.0);
    z_.assign(readings.begin(), readings.end());
  }
  void fold(Real w) {
    for (Index k = 0; k < size(); ++k) z_[k] += w * std::exchange(u_[k], 0.0);
  }
  void scale(Real w) {
    for (Real& u : u_) u *= w;
  }
  void correct(CVec readings, Real w) {
    if (w == 0) z_.assign(readings.begin(), readings.end());
    for (Index k = 0; w > 0 && k < size(); ++k) u_[k] = (readings[k] - z_[k]) / w;
  }
  // Computes the readings at zero from those at the start.
  template <class Step> void set_origin(const Step& step) {
    zero_ = z_;
    for (Index k = 0; k < size(); ++k)
      if (step.at(k) != 0)
        DenseFiber<Real>(products_ + k * size(), size()).add_to(zero_, -step.share(k) * step.at(k));
  }
  Real read(Index k, Real w) const { return w * u_[k] + z_[k]; }
  void move(Index k, Real du, Real dz) {
    const DenseFiber<Real> column(products_ + k * size(), size());
    column.add_to(u_, du);
    column.add_to(z_, dz);
  }
  // <alpha, reading(alpha) + reading(0)> / 2
  template <class Step> Real value(const Step& step, CVec alpha, Real w) const {
    Real total = 0;
    for (Index k = 0; k < size(); ++k) total += step.share(k) * alpha[k] * (read(k, w) + zero_[k]);
    return Step::direction * total / 2;
  }

  Map& map() { return map_; }
  Index positions() const { return size(); }
  Index cost(Index) const { return size(); }
  void prefetch_start(Index) const {}
  void prefetch(Index) const {}

private:
  Index size() const { return Index(u_.size()); }
  const Real* products_;
  Map map_;
  std::vector<Real> u_, z_, zero_;
};

} // namespace southwell
