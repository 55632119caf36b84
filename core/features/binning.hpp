// Random binning: hashes every row in every grid, a few grids and a group of rows (a slab) at a time.
//
// Cost: a multiply-add, an addition and an integer multiply-add for each nonzero and grid. A thread keeps the
// hashes of all rows in the grids it works on, and their tables for the features that occur.
#pragma once
#include "core/features/grids.hpp"
#include "core/features/hash.hpp"
#include "core/support/share.hpp"

namespace southwell {

// The features with a nonzero entry, and their places in the tables.
class Occurring {
public:
  template <class Rows> explicit Occurring(const Rows& rows) : places_(rows.length(), -1) {
    for (Index i = 0; i < rows.count(); ++i)
      rows[i].visit([&](Index j, Real x) { places_[j] &= -std::int32_t(x == 0); }); // 0 after a nonzero
    for (Index j = 0; j < rows.length(); ++j)
      if (places_[j] == 0) {
        places_[j] = std::int32_t(features_.size());
        features_.push_back(j);
      }
  }
  std::int32_t place(Index feature) const { return places_[feature]; }
  const std::vector<Index>& features() const { return features_; }

private:
  std::vector<std::int32_t> places_;
  std::vector<Index> features_;
};

// `each(grid, hashes)` is called once for each grid, from any thread, with the hashes of all rows.
template <class Rows> class Binning {
public:
  Binning(const Rows& rows, std::uint64_t seed, Real gamma)
      : rows_(rows), occurring_(rows), seed_(seed), gamma_(gamma) {
    const Multipliers multipliers(seed);
    for (const Index j : occurring_.features()) multipliers_.push_back(multipliers[j]);
  }

  template <class Each, class Interrupted>
  bool operator()(Index grids, Index threads, Each&& each, Interrupted&& interrupted) const {
    const Index blocks = (grids + lanes - 1) / lanes, together = blocks_together(blocks, threads);
    const auto task = [&](Index k, auto&& stopped) {
      const Index first = k * together * lanes, last = std::min(first + together * lanes, grids);
      const auto hashes = hash(first, last, stopped);
      for (Index g = first; g < last && !stopped(); ++g)
        each(g,
             std::span(hashes).subspan(std::size_t((g - first) * rows_.count()), std::size_t(rows_.count())));
    };
    return share((blocks + together - 1) / together, threads, task, interrupted);
  }

private:
  // The number of blocks of grids hashed for each slab: many, so that a slab is packed once for all of them,
  // but limited by the memory and the number of threads.
  Index blocks_together(Index blocks, Index threads) const {
    constexpr Index memory = 1 << 26;
    const Index block = lanes * (8 * rows_.count() + 16 * Index(multipliers_.size()));
    return std::clamp<Index>(std::min(memory / block, (blocks + threads - 1) / threads), 1, 8);
  }

  template <class Stopped> std::vector<std::uint64_t> hash(Index first, Index last, Stopped&& stopped) const {
    std::vector<std::vector<Real>> tables;
    for (Index g = first; g < last && !stopped(); g += lanes) tables.push_back(rulers(g));
    std::vector<std::uint64_t> hashes(tables.size() * std::size_t(lanes * rows_.count()));
    PackedRows slab;
    for (Index i = 0; i < rows_.count() && !stopped(); i += slab.rows()) {
      pack(i, slab);
      for (std::size_t b = 0; b < tables.size(); ++b)
        kernels::hash(slab, tables[b].data(), multipliers_.data(),
                      hashes.data() + Index(b) * lanes * rows_.count() + i, rows_.count());
    }
    return hashes;
  }

  std::vector<Real> rulers(Index first) const {
    std::vector<Real> table(2 * lanes * multipliers_.size());
    for (Index lane = 0; lane < lanes; ++lane) {
      const Grid grid(seed_, gamma_, first + lane);
      Real* entry = table.data() + lane;
      for (const Index j : occurring_.features()) {
        const Ruler ruler = grid[j];
        entry[0] = ruler.scale;
        entry[lanes] = ruler.shift;
        entry += 2 * lanes;
      }
    }
    return table;
  }

  // Packs rows from `first` on, until the slab is as large as fits in the cache together with a table.
  void pack(Index first, PackedRows& slab) const {
    constexpr std::size_t enough = 1 << 14, most_rows = 1 << 12;
    slab.starts.assign(1, 0);
    std::size_t filled = 0;
    for (Index i = first; i < rows_.count() && filled < enough && slab.starts.size() <= most_rows; ++i) {
      const auto row = rows_[i];
      if (slab.values.size() < filled + std::size_t(row.size())) {
        slab.values.resize(filled + std::size_t(row.size()) + enough);
        slab.places.resize(slab.values.size());
      }
      row.visit([&](Index j, Real x) {
        slab.places[filled] = occurring_.place(j);
        slab.values[filled] = x;
        filled += x != 0;
      });
      slab.starts.push_back(Index(filled));
    }
  }

  const Rows& rows_;
  Occurring occurring_;
  std::vector<std::uint64_t> multipliers_;
  std::uint64_t seed_;
  Real gamma_;
};

} // namespace southwell
