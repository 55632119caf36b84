// Columns of the Gram matrix of the coordinates, without the part of the frame: <stored_l, rate o stored_k>
// for all l, where the map is linear (see maps.hpp). A column is computed once, along the fibers that cross k
// or by one pass over the data, whichever is cheaper, and cached.
#pragma once
#include "core/coupling/column_cache.hpp"
#include "core/design/any_fibers.hpp"
#include <memory>

namespace southwell {

template <class D> class GramColumns {
public:
  // `crossing` is null for dense data; `room` is in numbers.
  GramColumns(const D& design, std::unique_ptr<AnyFibers> crossing, Index room)
      : design_(design), crossing_(std::move(crossing)), product_(design.coordinates()),
        cache_(design.coordinates(), room) {}

  // `visit_rates(f)` calls f(i, rate_i a_i) along the stored fiber k. Adds the entries touched to `cost`. The
  // column is valid until the next call.
  template <class Rates> const ColumnCache::Column& operator()(Index k, Rates&& visit_rates, Index& cost) {
    const auto* column = cache_.find(k);
    if (!column) column = cache_.keep(k, products(k, visit_rates, cost));
    cost += Index(column->values.size());
    return *column;
  }

private:
  template <class Rates> ColumnCache::Column products(Index k, Rates&& visit_rates, Index& cost) {
    ColumnCache::Column column;
    const Index walk = crossing_ ? crossing_->cost(design_.fiber(k)) : design_.stored();
    cost += std::min(walk, design_.stored());
    if (walk >= design_.stored()) {
      std::vector<Real> image(design_.positions());
      visit_rates([&](Index i, Real rate) { image[i] = rate; });
      column.values.resize(design_.coordinates());
      for (Index l = 0; l < design_.coordinates(); ++l) column.values[l] = design_.fiber(l).dot(image);
    } else if (2 * walk >= design_.coordinates()) { // likely to be dense
      column.values.resize(design_.coordinates());
      visit_rates([&](Index i, Real rate) { crossing_->add(i, rate, column.values); });
      const Index reached =
          design_.coordinates() - std::count(column.values.begin(), column.values.end(), 0.0);
      if (3 * reached < design_.coordinates()) thin(column, reached);
    } else {
      visit_rates([&](Index i, Real rate) { crossing_->add(i, rate, product_); });
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

  const D& design_;
  std::unique_ptr<AnyFibers> crossing_;
  Ripple product_; // scratch for a column
  ColumnCache cache_;
};

} // namespace southwell
