// Every coordinate's reading (slope or margin), true after every move, for rules that must know them all.
//
// A move on k changes the kept image along fiber k, and through it the readings of the coordinates that share
// a position with k:
//
//   linear map   reading += delta G_k,  G_k the products of k with all others. A column is found once, by
//   walking
//                the crossing fibers or by one pass over the data, whichever is shorter, and kept while there
//                is room.
//   curved map   each changed position sends its change along its crossing fiber; if that is longer than a
//   pass
//                over the data, or there is none (dense data), all readings are taken afresh.
//
// Memory: O(coordinates), and the kept columns, at most `room` numbers; when they overflow all are forgotten.
#pragma once
#include "core/coupling/crossing.hpp"
#include "core/coupling/gram.hpp"
#include "core/coupling/mirror.hpp"
#include <memory>
#include <unordered_map>

namespace southwell {

// Columns of the matrix of products, each as it came: all of it, or the entries that are not zero.
class ColumnCache {
public:
  explicit ColumnCache(Index room) : room_(room) {}

  struct Column {
    std::vector<Index> positions; // empty: all of them
    std::vector<Real> values;
  };
  const Column* find(Index k) const {
    const auto found = columns_.find(k);
    return found == columns_.end() ? nullptr : &found->second;
  }
  const Column& keep(Index k, Column column) {
    const Index size = Index(column.values.size() + column.positions.size());
    if (used_ + size > room_) columns_.clear(), used_ = 0; // the newest stays even if it is alone too large
    used_ += size;
    return columns_.insert_or_assign(k, std::move(column)).first->second;
  }

private:
  Index room_, used_ = 0;
  std::unordered_map<Index, Column> columns_;
};

template <class C> class AllReadings;

template <class D, class Map> class AllReadings<Mirror<D, Map>> {
public:
  // `crossing` is none for dense data.
  AllReadings(Mirror<D, Map>& mirror, std::unique_ptr<Crossing> crossing, Index room)
      : mirror_(mirror), design_(mirror.design()), crossing_(std::move(crossing)),
        own_(design_.coordinates()), product_(Map::linear ? design_.coordinates() : 0), cache_(room) {}

  SOUTHWELL_INLINE Real read(Index k) const { return mirror_.framed(k, own_.values[k]); }
  bool all_changed() const { return all_changed_; }
  std::span<const Index> changed() const { return own_.changed; } // unless all did

  Index refresh() { // by a pass over the data; returns what it cost
    for (Index k = 0; k < design_.coordinates(); ++k) own_.values[k] = mirror_.own(k);
    return design_.stored();
  }
  void refresh(CVec readings) { // without one, where there is no frame
    if (design_.shifted())
      refresh();
    else
      std::copy(readings.begin(), readings.end(), own_.values.begin());
  }

  Index move(Index k, Real delta) { // returns the entries touched
    own_.settle();
    all_changed_ = design_.common_to_all() || (design_.shifted() && design_.gamma(k) != 0);
    const Index cost = Map::linear ? move_linear(k, delta) : move_curved(k, delta);
    own_.mark(k); // even if its fiber is empty: it has moved
    if (design_.shifted() && !all_changed_) own_.mark(design_.coordinates() - 1); // the intercept
    return cost + mirror_.move_cost(k);
  }

private:
  Index crossing_cost(Index k) const {
    Index cost = 0;
    design_.fiber(k).visit([&](Index i, Real) { cost += crossing_->size(i); });
    return cost;
  }

  Index move_linear(Index k, Real delta) {
    mirror_.move(k, delta);
    Index cost = 0;
    const auto* column = cache_.find(k);
    if (!column) column = &cache_.keep(k, products(k, cost));
    const Index size = Index(column->values.size());
    if (column->positions.empty()) {
      DenseFiber<Real>(column->values.data(), size).add_to(own_.values, delta);
      all_changed_ = all_changed_ || size > 0;
    } else if (all_changed_) {
      for (Index t = 0; t < size; ++t) own_.values[column->positions[t]] += delta * column->values[t];
    } else {
      for (Index t = 0; t < size; ++t) {
        own_.values[column->positions[t]] += delta * column->values[t];
        own_.mark(column->positions[t]);
      }
    }
    return cost + size;
  }
  // <stored_l, rate o stored_k> for all l.
  typename ColumnCache::Column products(Index k, Index& cost) {
    typename ColumnCache::Column column;
    if constexpr (Map::linear) {
      if (const Index walk = crossing_ ? crossing_cost(k) : design_.stored(); walk < design_.stored()) {
        mirror_.visit_rates(k, [&](Index i, Real rate) { crossing_->add(i, rate, product_); });
        if (3 * product_.changed.size() > product_.values.size()) {
          column.values = product_.values;
        } else {
          for (const Index l : product_.changed) column.values.push_back(product_.values[l]);
          column.positions = product_.changed;
        }
        for (const Index l : product_.changed) product_.values[l] = 0;
        product_.settle();
        cost = walk;
      } else {
        std::vector<Real> image(design_.positions());
        mirror_.visit_rates(k, [&](Index i, Real rate) { image[i] = rate; });
        column.values.resize(design_.coordinates());
        for (Index l = 0; l < design_.coordinates(); ++l) column.values[l] = design_.fiber(l).dot(image);
        cost = design_.stored();
      }
    }
    return column;
  }

  Index move_curved(Index k, Real delta) {
    const Index walk =
        crossing_ && !(design_.shifted() && design_.gamma(k) != 0 && design_.common().size() > 1)
            ? crossing_cost(k)
            : design_.stored();
    if (walk < design_.stored()) {
      mirror_.move(k, delta, [&](Index i, Real change) {
        if (change != 0) crossing_->add(i, change, own_);
      });
      return walk;
    }
    mirror_.move(k, delta);
    all_changed_ = true;
    return refresh();
  }

  Mirror<D, Map>& mirror_;
  const D& design_;
  std::unique_ptr<Crossing> crossing_;
  Ripple own_, product_; // readings without the frame's part; scratch for a column
  ColumnCache cache_;
  bool all_changed_ = false;
};

// A Gram matrix keeps them already.
template <class Map> class AllReadings<Gram<Map>> {
public:
  AllReadings(Gram<Map>& gram, std::unique_ptr<Crossing>, Index) : gram_(gram) {}
  Real read(Index k) const { return gram_.read(k); }
  bool all_changed() const { return true; }
  std::span<const Index> changed() const { return {}; }
  Index refresh() { return 0; }
  void refresh(CVec) {}
  Index move(Index k, Real delta) {
    gram_.move(k, delta);
    return gram_.move_cost(k);
  }

private:
  Gram<Map>& gram_;
};

} // namespace southwell
