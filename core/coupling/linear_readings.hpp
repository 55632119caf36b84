// All readings (slopes or margins) where the map is linear (see maps.hpp): a move of k adds delta G_k, with
// G_k the inner products of fiber k with all fibers.
//
// A column G_k is computed once, along the fibers that cross k or by one pass over the data, whichever is
// cheaper, and cached. The image itself is not needed between certificates, so it is not updated, unless
// anchors follow it.
//
// Memory: O(coordinates), and at most `room` numbers for the columns.
#pragma once
#include "core/coupling/column_cache.hpp"
#include "core/coupling/mirror.hpp"
#include "core/design/any_fibers.hpp"
#include <memory>

namespace southwell {

template <class D, class Map> class LinearReadings {
public:
  // `crossing` is null for dense data.
  LinearReadings(Mirror<D, Map>& mirror, std::unique_ptr<AnyFibers> crossing, Index room)
      : mirror_(mirror), design_(mirror.design()), crossing_(std::move(crossing)),
        own_(design_.coordinates()), product_(design_.coordinates()), cache_(design_.coordinates(), room) {}

  SOUTHWELL_INLINE Real read(Index k) const { return mirror_.framed(k, own_[k]); }
  // All readings as one array if there is no frame; else empty.
  CVec plain() const { return design_.shifted() ? CVec() : CVec(own_); }
  bool all_changed() const { return all_changed_; }
  std::span<const std::uint32_t> changed() const { return changed_; } // valid unless all_changed()
  void settle(Index, Interval) {}

  void refresh() { // by a pass over the data
    for (Index k = 0; k < design_.coordinates(); ++k) own_[k] = mirror_.own(k);
  }
  void refresh(CVec readings) { // without one, if there is no frame
    if (design_.shifted())
      refresh();
    else
      std::copy(readings.begin(), readings.end(), own_.begin());
  }

  // Returns the entries touched. `changed()` need not contain k and the intercept.
  Index move(Index k, Real delta) {
    Index cost = 0;
    if (follows_image()) {
      mirror_.move(k, delta);
      cost = mirror_.move_cost(k);
    } else {
      mirror_.move_frame(k, delta);
    }
    const auto* column = cache_.find(k);
    if (!column) column = cache_.keep(k, products(k, cost));
    const Index size = Index(column->values.size());
    changed_ = column->positions;
    all_changed_ = design_.common_to_all() || (design_.shifted() && design_.gamma(k) != 0);
    if (changed_.empty()) {
      DenseFiber<Real>(column->values.data(), size).add_to(own_, delta);
      all_changed_ = all_changed_ || size > 0;
    } else {
      SparseFiber<Real, std::uint32_t>(column->values.data(), changed_.data(), size).add_to(own_, delta);
    }
    return cost + size;
  }

private:
  bool follows_image() {
    if constexpr (requires { mirror_.map().anchored(); }) return mirror_.map().anchored();
    return false;
  }
  // <stored_l, rate o stored_k> for all l.
  ColumnCache::Column products(Index k, Index& cost) {
    ColumnCache::Column column;
    const Index walk = crossing_ ? crossing_->cost(design_.fiber(k)) : design_.stored();
    cost += std::min(walk, design_.stored());
    if (walk >= design_.stored()) {
      std::vector<Real> image(design_.positions());
      mirror_.visit_rates(k, [&](Index i, Real rate) { image[i] = rate; });
      column.values.resize(design_.coordinates());
      for (Index l = 0; l < design_.coordinates(); ++l) column.values[l] = design_.fiber(l).dot(image);
    } else if (2 * walk >= design_.coordinates()) { // likely to be dense
      column.values.resize(design_.coordinates());
      mirror_.visit_rates(k, [&](Index i, Real rate) { crossing_->add(i, rate, column.values); });
      const Index reached =
          design_.coordinates() - std::count(column.values.begin(), column.values.end(), 0.0);
      if (3 * reached < design_.coordinates()) thin(column, reached);
    } else {
      mirror_.visit_rates(k, [&](Index i, Real rate) { crossing_->add(i, rate, product_); });
      column.positions = product_.changed;
      std::sort(column.positions.begin(), column.positions.end());
      for (const Index l : column.positions) column.values.push_back(std::exchange(product_.values[l], 0.0));
      product_.settle();
    }
    return column;
  }
  static void thin(ColumnCache::Column& column, Index reached) { // stores the nonzeros only
    std::vector<Real> values;
    values.reserve(reached);
    column.positions.reserve(reached);
    for (std::size_t l = 0; l < column.values.size(); ++l)
      if (column.values[l] != 0) {
        column.positions.push_back(std::uint32_t(l));
        values.push_back(column.values[l]);
      }
    column.values = std::move(values);
  }

  Mirror<D, Map>& mirror_;
  const D& design_;
  std::unique_ptr<AnyFibers> crossing_;
  std::vector<Real> own_; // readings without the part of the frame
  Ripple product_;        // scratch for a column
  ColumnCache cache_;
  std::span<const std::uint32_t> changed_;
  bool all_changed_ = false;
};

} // namespace southwell
