// Feature maps as Python sees them.
#include "bindings/arrays.hpp"
#include "bindings/lock.hpp"
#include "core/design/stored.hpp"
#include "core/features/binning.hpp"
#include "core/features/cosine.hpp"
#include "core/features/dictionary.hpp"
#include <chrono>
#include <memory>
#include <nanobind/stl/optional.h>
#include <utility>
#include <variant>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

// Rows as they are stored, and the arrays they refer to.
struct BoundRows {
  std::variant<DenseFibers, SparseFibers> stored;
  nb::object owner;
  Index count() const {
    return std::visit([](const auto& rows) { return rows.count(); }, stored);
  }
};

// Output arrays. They are bound with noconvert(); otherwise nanobind might pass a copy.
using Ranks = nb::ndarray<std::int32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Value>
nb::ndarray<nb::numpy, Value, nb::ndim<1>> owned(std::unique_ptr<Value[]> values, Index size) {
  nb::capsule owner(values.get(), [](void* p) noexcept { delete[] static_cast<Value*>(p); });
  return {values.release(), {std::size_t(size)}, owner};
}

// Hashes all rows in all grids without the GIL, checking for signals twenty times a second.
template <class Each>
void hash_rows(const BoundRows& rows, std::uint64_t seed, Real gamma, Index grids, Index threads,
               Each&& each) {
  bool finished;
  {
    const Unlocked unlocked;
    auto asked = std::chrono::steady_clock::now();
    const auto interrupted = [&] {
      const auto now = std::chrono::steady_clock::now();
      if (now - asked < std::chrono::milliseconds(50)) return false;
      asked = now;
      return locked([] { return PyErr_CheckSignals() != 0; }); // the exception stays set
    };
    finished = std::visit(
        [&](const auto& stored) {
          return Binning(stored, seed, gamma)(grids, threads, std::forward<Each>(each), interrupted);
        },
        rows.stored);
  }
  if (!finished) throw nb::python_error();
}

void write_ranks(const Dictionary& dictionary, Hashes hashes, std::int32_t* out, Index stride) {
  for (std::size_t i = 0; i < hashes.size(); ++i) out[Index(i) * stride] = dictionary[hashes[i]];
}

void check_shape(const std::optional<Ranks>& ranks, Index rows, Index grids) {
  if (rows >> 31) throw std::invalid_argument("at most 2^31 - 1 rows are possible");
  if (ranks && (Index(ranks->shape(0)) != rows || Index(ranks->shape(1)) != grids))
    throw std::invalid_argument("an array of the wrong shape");
}

nb::tuple bin_fit(const BoundRows& rows, std::uint64_t seed, Real gamma, Index grids, Index threads,
                  std::optional<Ranks> ranks) {
  check_shape(ranks, rows.count(), grids);
  std::vector<std::vector<std::uint64_t>> found(grids);
  hash_rows(rows, seed, gamma, grids, threads, [&](Index g, Hashes hashes) {
    found[g] = distinct(hashes);
    if (ranks) write_ranks({found[g], Index(hashes.size())}, hashes, ranks->data() + g, grids);
  });
  std::unique_ptr<Index[]> starts(new Index[grids + 1]);
  starts[0] = 0;
  for (Index g = 0; g < grids; ++g) starts[g + 1] = starts[g] + Index(found[g].size());
  const Index total = starts[grids];
  std::unique_ptr<std::uint64_t[]> bins(new std::uint64_t[total]);
  for (Index g = 0; g < grids; ++g) {
    std::copy(found[g].begin(), found[g].end(), bins.get() + starts[g]);
    found[g] = {};
  }
  return nb::make_tuple(owned(std::move(bins), total), owned(std::move(starts), grids + 1));
}

void bin_ranks(const BoundRows& rows, std::uint64_t seed, Real gamma, Array<std::uint64_t> bins,
               Array<Index> starts, Index threads, Ranks ranks) {
  const Index grids = Index(starts.shape(0)) - 1;
  check_shape(ranks, rows.count(), grids);
  for (Index g = 0; g < grids; ++g)
    if (starts.data()[g] < 0 || starts.data()[g] > starts.data()[g + 1])
      throw std::invalid_argument("starts decrease");
  if (grids < 0 || starts.data()[grids] > Index(bins.shape(0))) throw std::invalid_argument("too few bins");
  hash_rows(rows, seed, gamma, grids, threads, [&](Index g, Hashes hashes) {
    const Hashes sorted(bins.data() + starts.data()[g], bins.data() + starts.data()[g + 1]);
    write_ranks({sorted, Index(hashes.size())}, hashes, ranks.data() + g, grids);
  });
}

nb::tuple bin_grid(std::uint64_t seed, Real gamma, Index grid, Index features) {
  const Grid rulers(seed, gamma, grid);
  return nb::make_tuple(filled(features,
                               [&](Vec out) {
                                 for (Index j = 0; j < features; ++j) out[j] = rulers[j].scale;
                               }),
                        filled(features, [&](Vec out) {
                          for (Index j = 0; j < features; ++j) out[j] = rulers[j].shift;
                        }));
}

using RowsClass = nb::class_<BoundRows>;

template <class Value> void def_dense_rows(RowsClass& rows) {
  rows.def(
      "__init__",
      [](BoundRows* self, Matrix<Value> a) {
        new (self) BoundRows{DenseFibers(a.data(), Index(a.shape(0)), Index(a.shape(1)), nullptr, false),
                             nb::cast(a)};
      },
      "values"_a.noconvert());
}

template <class Value, class Position> void def_sparse_rows(RowsClass& rows) {
  rows.def(
      "__init__",
      [](BoundRows* self, Array<Value> data, Array<Position> indices, Array<Position> indptr, Index length) {
        new (self) BoundRows{
            SparseFibers(data.data(), indices.data(), indptr.data(), Index(indptr.shape(0)) - 1, length),
            nb::make_tuple(data, indices, indptr)};
      },
      "data"_a.noconvert(), "indices"_a.noconvert(), "indptr"_a.noconvert(), "length"_a);
}

template <class Value> void def_cosines(nb::module_& m) {
  m.def(
      "cosines",
      [](nb::ndarray<Value, nb::ndim<2>, nb::c_contig, nb::device::cpu> values, Array<Value> phases,
         Real factor) {
        if (phases.shape(0) != values.shape(1)) throw std::invalid_argument("an array of the wrong length");
        const Unlocked unlocked;
        return kernels::cosines(values.data(), Index(values.shape(0)), Index(values.shape(1)), phases.data(),
                                factor);
      },
      "values"_a.noconvert(), "phases"_a.noconvert(), "factor"_a,
      "values <- factor cos(values + phases), in place; False if one was not finite.");
}

} // namespace

void def_features(nb::module_& m) {
  RowsClass rows(m, "Rows", "A matrix as its rows, checked by Python.");
  def_dense_rows<float>(rows);
  def_dense_rows<double>(rows);
  def_sparse_rows<float, std::int32_t>(rows);
  def_sparse_rows<float, std::int64_t>(rows);
  def_sparse_rows<double, std::int32_t>(rows);
  def_sparse_rows<double, std::int64_t>(rows);
  m.def("bin_fit", &bin_fit, "rows"_a, "seed"_a, "gamma"_a, "grids"_a, "threads"_a,
        "ranks"_a.none().noconvert(),
        "The hashes of the occupied bins, sorted in each grid, and where each grid begins. If `ranks` is "
        "given, it is\n"
        "filled with the rank of each row's bin in each grid.");
  m.def("bin_ranks", &bin_ranks, "rows"_a, "seed"_a, "gamma"_a, "bins"_a, "starts"_a, "threads"_a,
        "ranks"_a.noconvert(),
        "Fills `ranks` with the rank of each row's bin in each grid; -1 for bins that were not seen in "
        "bin_fit.");
  m.def("bin_grid", &bin_grid, "seed"_a, "gamma"_a, "grid"_a, "features"_a,
        "Scales and shifts of one grid: the bin of x is round(scale x + shift).");
  def_cosines<float>(m);
  def_cosines<double>(m);
}

} // namespace southwell
