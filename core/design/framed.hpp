// A = stored + 1 c': a stored matrix with a constant added to each column, never formed.
//
// Both wrappers people need are this one. Centring is c_j = -mean_j; an intercept is one more column that
// stores nothing and has c = 1. Seen along either axis, fiber k of A is
//
//     stored_k + gamma_k w        columns: w = 1, gamma = c;     rows: w = c, gamma = 1
//
// so whoever walks fibers needs the stored fiber, one number gamma_k, and the common direction w, itself a
// fiber. Products cost the stored entries plus n + d.
//
// Dense fibers add their shift as they are read (fiber.hpp); there the frame is left with the intercept.
#pragma once
#include "core/design/design.hpp"
#include "core/design/fiber.hpp"
#include "core/support/helpers.hpp"
#include "core/support/math.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>
#include <vector>

namespace southwell {

enum class Axis { columns, rows };

template <Fibers Stored, Axis axis> class Framed final : public Design {
public:
  using CommonFiber = SparseFiber<Real, Index>;

  // `shifts` is empty, or holds the constant of each stored column.
  Framed(Stored stored, std::vector<Real> shifts, bool intercept)
      : stored_(stored), shifts_(std::move(shifts)), intercept_(intercept) {
    if (!shifted()) return;
    const auto push = [&](Index position, Real value) {
      common_positions_.push_back(position);
      common_values_.push_back(value);
    };
    if constexpr (axis == Axis::columns)
      for (Index i = 0; i < rows(); ++i) push(i, 1);
    else
      for (Index j = shifts_.empty() ? cols() - 1 : 0; j < cols(); ++j) push(j, constant(j));
  }

  Index rows() const override { return axis == Axis::rows ? stored_.count() : stored_.length(); }
  Index cols() const override { return stored_cols() + intercept_; }
  Index stored() const override { return stored_.entries(); }

  // The fibers, for those who walk them.
  Index coordinates() const { return axis == Axis::rows ? rows() : cols(); }
  Index positions() const { return axis == Axis::rows ? cols() : rows(); }
  auto fiber(Index k) const { return k < stored_.count() ? stored_[k] : decltype(stored_[k])::empty(); }
  void prefetch_start(Index k) const {
    if (k < stored_.count()) stored_.prefetch_start(k);
  }
  void prefetch(Index k) const {
    if (k < stored_.count()) stored_.prefetch(k);
  }
  bool shifted() const { return intercept_ || !shifts_.empty(); }
  Real gamma(Index k) const { return axis == Axis::rows ? Real(shifted()) : constant(k); }
  CommonFiber common() const {
    return {common_values_.data(), common_positions_.data(), Index(common_values_.size())};
  }

  Real common_at(Index position) const { return axis == Axis::columns ? 1 : constant(position); }
  // Is w part of every fiber? Otherwise it is the intercept's alone.
  bool common_to_all() const { return shifted() && (axis == Axis::rows || !shifts_.empty()); }

  // sum_i weight(i) (fiber k)_i^2, for one fiber and for all, with the constants; 0 where it is only
  // rounding error.
  template <class Weight> Real squared_norm(Index k, Weight&& weight) const {
    return squared_norm(k, weight, shifted() && gamma(k) != 0 ? common_squared_norm(weight) : 0);
  }
  template <class Weight> void squared_norms(Weight&& weight, Vec out) const {
    const Real far = shifted() ? common_squared_norm(weight) : 0;
    for (Index k = 0; k < coordinates(); ++k) out[k] = squared_norm(k, weight, far);
  }
  // An upper bound of the largest entry of column k where the weight is positive.
  Real largest_entry(Index k, CVec weights) const
    requires(axis == Axis::columns)
  {
    Real largest = 0;
    fiber(k).visit([&](Index i, Real a) { largest = std::max(largest, weights[i] > 0 ? std::abs(a) : 0); });
    return largest + std::abs(gamma(k));
  }

  void apply(CVec x, Vec out) const override { axis == Axis::rows ? dots(x, out) : combine(x, out); }
  void adjoint(CVec u, Vec out) const override { axis == Axis::rows ? combine(u, out) : dots(u, out); }
  void adjoint(CVec weights, CVec u, Vec out) const override {
    if constexpr (axis == Axis::rows) {
      combine([&](Index i) { return weights[i] * u[i]; }, out);
    } else if (uniform(weights)) { // no weighted copy of u is needed
      dots(u, out);
      for (Real& value : out) value *= weights[0];
    } else {
      std::vector<Real> weighted(u.size());
      for (std::size_t i = 0; i < u.size(); ++i) weighted[i] = weights[i] * u[i];
      dots(weighted, out);
    }
  }

  void column_squared_norms(CVec weights, Vec out) const override {
    const auto weight = [&](Index i) { return weights[i]; };
    if constexpr (axis == Axis::columns)
      squared_norms(weight, out);
    else
      crossing_squared_norms(weight, out);
  }
  void row_squared_norms(Vec out) const override {
    const auto weight = [](Index) { return Real(1); };
    if constexpr (axis == Axis::rows)
      squared_norms(weight, out);
    else
      crossing_squared_norms(weight, out);
  }

  Real constant(Index j) const override {
    return j >= stored_cols() ? 1 : (shifts_.empty() ? 0 : shifts_[j]);
  }
  void gather(std::span<const Index> names, std::span<const std::uint32_t> sizes,
              Columns& into) const override {
    if constexpr (Stored::dense)
      gather_dense(names, into.template store<DenseColumns<typename Stored::Number>>(rows()));
    else
      gather_sparse(names, sizes, into.template store<SparseColumns>());
  }

  bool lies_by_rows() const override { return axis == Axis::rows && !Stored::dense; }
  std::vector<std::uint32_t> column_sizes() const override {
    std::vector<std::uint32_t> sizes;
    sizes.resize(cols());
    for (Index i = 0; i < rows(); ++i) fiber(i).visit([&](Index j, Real) { ++sizes[j]; });
    return sizes;
  }
  Index row_size(Index i) const override { return fiber(i).size(); }
  Index add_pairs(const RowPairs& pairs, Index from, Index to, Index first, Index last) const override {
    return pairs.add(from, to, first, last, [&](Index i, auto&& f) { fiber(i).visit(f); });
  }
  // In as many chunks whoever helps: no number depends on that.
  void moments(CVec r, CVec h, std::span<Moments> out) const override {
    const Index chunks = cols() <= 10'000 ? 4 : 1, width = Index(out.size());
    std::vector<Moments> sums(std::size_t(chunks * width));
    divide(chunks > 1 ? stored() : 0, [&](int part, int parts) {
      for (Index chunk = chunks * part / parts; chunk < chunks * (part + 1) / parts; ++chunk)
        for (Index i = rows() * chunk / chunks; i < rows() * (chunk + 1) / chunks; ++i)
          fiber(i).visit([own = sums.data() + chunk * width, ri = r[i], hi = h[i]](Index j, Real a) {
            const Real with = hi * a;
            own[j].slope += ri * a;
            own[j].weighted += with;
            own[j].square += with * a;
          });
    });
    std::copy_n(sums.begin(), width, out.begin());
    for (Index k = width; k < chunks * width; ++k) {
      Moments& to = out[k % width];
      to.slope += sums[k].slope;
      to.weighted += sums[k].weighted;
      to.square += sums[k].square;
    }
  }

private:
  Index stored_cols() const { return axis == Axis::rows ? stored_.length() : stored_.count(); }

  template <class Weight> Real common_squared_norm(Weight&& weight) const {
    return common().sum([&](Index i, Real w) { return weight(i) * w * w; });
  }
  template <class Weight> Real squared_norm(Index k, Weight&& weight, Real far) const {
    const auto stored = fiber(k);
    const Real own = stored.sum([&](Index i, Real a) { return weight(i) * a * a; });
    const Real g = shifted() ? gamma(k) : 0;
    if (g == 0) return own;
    Real cross = 0;
    if constexpr (axis == Axis::columns) {
      cross = stored.sum([&](Index i, Real a) { return weight(i) * a; });
    } else if (!shifts_.empty()) {
      cross = stored.sum([&](Index j, Real a) { return weight(j) * a * shifts_[j]; });
    }
    const Real norm = own + 2 * g * cross + g * g * far;
    return norm > 1e-13 * (own + g * g * far) ? norm : 0;
  }

  // sum_k weight(k) (fiber k)_i^2 for each position i; 0 where it is only rounding error.
  template <class Weight> void crossing_squared_norms(Weight&& weight, Vec out) const {
    std::fill(out.begin(), out.end(), 0.0);
    Real total = 0; // of weight gamma^2
    for (Index k = 0; k < coordinates(); ++k) {
      const Real w = weight(k), g = shifted() ? gamma(k) : 0;
      total += w * g * g;
      if (g != 0) // (a + g c)^2 = a (a + 2 g c) + (g c)^2
        fiber(k).visit([&](Index i, Real a) { out[i] += w * a * (a + 2 * g * common_at(i)); });
      else
        fiber(k).visit([&](Index i, Real a) { out[i] += w * a * a; });
    }
    if (total > 0)
      common().visit([&](Index i, Real c) {
        const Real norm = out[i] + total * c * c;
        out[i] = norm > 1e-13 * (std::abs(out[i]) + total * c * c) ? norm : 0;
      });
  }

  void gather_dense(std::span<const Index> names, auto& into) const {
    if constexpr (axis == Axis::columns) {
      for (const Index j : names)
        j < stored_cols() ? into.append(stored_.values(j), stored_.shift(j)) : into.append(nullptr, 0);
    } else {
      auto* to = into.room(Index(names.size()));
      for (Index i = 0; i < rows(); ++i) { // along rows: the data are read once
        const auto* row = stored_.values(i);
        for (std::size_t k = 0; k < names.size(); ++k)
          if (names[k] < stored_cols()) to[Index(k) * rows() + i] = row[names[k]];
      }
      for (std::size_t k = 0; k < names.size(); ++k)
        names[k] < stored_cols() ? into.append(to + Index(k) * rows(), stored_.shift(names[k]))
                                 : into.append(nullptr, 0);
    }
  }
  void gather_sparse(std::span<const Index> names, std::span<const std::uint32_t> all,
                     SparseColumns& into) const {
    if (names.empty()) return;
    std::vector<Index> sizes;
    if constexpr (axis == Axis::columns) {
      for (const Index j : names) sizes.push_back(fiber(j).size());
      auto [values, rows] = into.append(sizes);
      for (const Index j : names)
        fiber(j).visit([&](Index i, Real a) {
          *values++ = a;
          *rows++ = std::int32_t(i);
        });
    } else {

      for (const Index j : names) sizes.push_back(all[j]);
      fill_columns(names, sizes, into.append(sizes));
    }
  }
  // In one pass over the rows. With a helper, from both ends: where the two meet, each column is full.
  void fill_columns(std::span<const Index> names, std::span<const Index> sizes,
                    SparseColumns::Room to) const {
    std::vector<std::int32_t> slot;
    slot.resize(cols());
    std::vector<std::uint64_t> wanted(std::size_t(cols() / 64) + 1); // near at hand: most need no more
    for (std::size_t k = 0; k < names.size(); ++k) {
      slot[names[k]] = std::int32_t(k);
      wanted[names[k] / 64] |= std::uint64_t(1) << names[k] % 64;
    }
    Index longest = 0;
    for (Index i = 0; i < rows(); ++i) longest = std::max(longest, fiber(i).size());
    struct Entry {
      Index column;
      Real value;
    };
    const auto scan = [&](Index first, Index last, Index by, std::vector<Index> next) {
      std::vector<Entry> met(std::size_t(longest) + 1); // and one that is written over
      for (Index i = first; i != last; i += by) {
        Entry* end = met.data(); // without branches: none could be foretold
        fiber(i).visit([&](Index j, Real a) {
          *end = {j, a};
          end += wanted[std::size_t(j) / 64] >> j % 64 & 1;
        });
        for (const Entry* entry = met.data(); entry != end; ++entry) {
          Index& at = next[slot[entry->column]];
          to.values[at] = entry->value;
          to.rows[at] = std::int32_t(i);
          at += by;
        }
      }
    };
    std::vector<Index> starts(sizes.size()), ends(sizes.size());
    std::exclusive_scan(sizes.begin(), sizes.end(), starts.begin(), Index(0));
    for (std::size_t k = 0; k < sizes.size(); ++k) ends[k] = starts[k] + sizes[k] - 1;
    divide(stored(), [&](int part, int parts) {
      const Index middle = parts == 1 ? rows() : rows() / 2;
      if (part == 0) scan(0, middle, 1, starts);
      if (part == 1) scan(rows() - 1, middle - 1, -1, ends);
    });
  }

  // Products are divided among threads by what they write: no number depends on how many there are.
  void dots(CVec v, Vec out) const {
    const Real along = shifted() ? common().dot(v) : 0;
    divide(stored(), [&](int part, int parts) {
      for (Index k = coordinates() * part / parts; k < coordinates() * (part + 1) / parts; ++k)
        out[k] = fiber(k).dot(v) + (shifted() ? gamma(k) * along : 0);
    });
  }
  void combine(CVec c, Vec out) const {
    combine([&](Index k) { return c[k]; }, out);
  }
  template <class Coefficient>
    requires std::invocable<Coefficient, Index>
  void combine(Coefficient&& coefficient, Vec out) const {
    // Sparse columns are short: finding the part of each that a thread should write costs more than writing
    // it.
    divide(axis == Axis::rows || Stored::dense ? stored() : 0, [&](int part, int parts) {
      const Index from = position_at(part, parts), to = position_at(part + 1, parts);
      std::fill(out.begin() + from, out.begin() + to, 0.0);
      for (Index k = 0; k < coordinates(); ++k)
        if (const Real c = coefficient(k); c != 0)
          parts == 1 ? fiber(k).add_to(out, c) : fiber(k).add_between(from, to, out, c);
    });
    if (!shifted()) return;
    Real along = 0;
    for (Index k = 0; k < coordinates(); ++k) along += coefficient(k) * gamma(k);
    if (along != 0) common().add_to(out, along);
  }
  // Where part `part` of all positions begins, such that parts have about the same number of stored entries:
  // judged by some of the fibers.
  Index position_at(int part, int parts) const {
    if (part == 0) return 0;
    if (part == parts) return positions();
    if constexpr (Stored::dense) return stored_.length() * part / parts;
    std::vector<Index> seen;
    for (Index k = 0; k < stored_.count(); k += 1 + stored_.count() / 64)
      fiber(k).visit([&](Index i, Real) { seen.push_back(i); });
    if (seen.empty()) return positions() * part / parts;
    const auto at = seen.begin() + std::ptrdiff_t(seen.size()) * part / parts;
    std::nth_element(seen.begin(), at, seen.end());
    return *at;
  }

  Stored stored_;
  std::vector<Real> shifts_;
  bool intercept_;
  std::vector<Real> common_values_;
  std::vector<Index> common_positions_;
};

} // namespace southwell
