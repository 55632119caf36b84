// All readings (slopes or margins) where the map is linear (see maps.hpp): a move of k adds delta G_k, with
// G_k the inner products of fiber k with all fibers.
//
// Columns are cached (gram_columns.hpp). The image itself is not needed between certificates, so it is not
// updated, unless anchors follow it.
//
// Memory: O(coordinates), and at most `room` numbers for the columns.
#pragma once
#include "core/coupling/gram_columns.hpp"
#include "core/coupling/mirror.hpp"

namespace southwell {

template <class D, class Map> class LinearReadings {
public:
  // `crossing` is null for dense data.
  LinearReadings(Mirror<D, Map>& mirror, std::unique_ptr<AnyFibers> crossing, Index room)
      : mirror_(mirror), design_(mirror.design()), own_(design_.coordinates()),
        columns_(design_, std::move(crossing), room) {}

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
    const auto rates = [&](auto&& f) { mirror_.visit_rates(k, f); };
    const ColumnCache::Column& column = columns_(k, rates, cost);
    column.add_to(own_, delta);
    changed_ = column.positions;
    all_changed_ = design_.common_to_all() || (design_.shifted() && design_.gamma(k) != 0) ||
                   (changed_.empty() && !column.values.empty());
    return cost;
  }

private:
  bool follows_image() {
    if constexpr (requires { mirror_.map().anchored(); }) return mirror_.map().anchored();
    return false;
  }

  Mirror<D, Map>& mirror_;
  const D& design_;
  std::vector<Real> own_; // readings without the part of the frame
  GramColumns<D> columns_;
  std::span<const std::uint32_t> changed_;
  bool all_changed_ = false;
};

} // namespace southwell
