// A = stored + 1 c': a stored matrix with a constant added to each column, never formed.
//
// This frame does both centring, with c_j = -mean_j, and the intercept, which is one more column that stores
// nothing and has c = 1. Seen along either axis, fiber k of A is
//
//     stored_k + gamma_k w        columns: w = 1, gamma = c;     rows: w = c, gamma = 1
//
// so algorithms need the stored fiber, one number gamma_k, and the common direction w, itself a fiber.
// Products cost the stored entries plus n + d.
//
// Dense fibers add their shift as they are read (fiber.hpp); their frame is the intercept alone.
#pragma once
#include "core/design/design.hpp"
#include "core/design/fiber.hpp"
#include "core/design/gather.hpp"
#include "core/design/panels.hpp"
#include "core/design/stored.hpp"
#include "core/support/helpers.hpp"
#include "core/support/math.hpp"
#include "core/support/rounding.hpp"
#include <algorithm>
#include <cmath>
#include <memory>
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

  // Access to the fibers.
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
  // Whether gamma_k != 0 for every fiber. Otherwise only the intercept has a multiple of w.
  bool common_to_all() const { return shifted() && (axis == Axis::rows || !shifts_.empty()); }

  // sum_i weight(i) (fiber k)_i^2, for one fiber and for all, constants included; 0 if it is not larger than
  // the rounding error.
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
    } else if (!weights.empty() && uniform(weights)) { // no weighted copy of u is needed
      dots(u, out);
      for (Real& value : out) value *= weights[0];
    } else {
      std::vector<Real> weighted(u.size());
      for (std::size_t i = 0; i < u.size(); ++i) weighted[i] = weights[i] * u[i];
      dots(weighted, out);
    }
  }

  void apply(CVec x, Index width, Vec out) const override {
    if (width == 1) return apply(x, out);
    axis == Axis::rows ? wide_dots(x, width, out) : wide_combine(x, width, out);
  }
  void adjoint(CVec u, Index width, Vec out) const override {
    if (width == 1) return adjoint(u, out);
    axis == Axis::rows ? wide_combine(u, width, out) : wide_dots(u, width, out);
  }

  void apply_sizes(CVec x, Index width, Vec out) const override {
    axis == Axis::rows ? sizes_along(x, width, out) : sizes_across(x, width, out);
  }
  void adjoint_sizes(CVec u, Index width, Vec out) const override {
    axis == Axis::rows ? sizes_across(u, width, out) : sizes_along(u, width, out);
  }
  void apply_with_sizes(CVec x, Index width, Vec out, Vec sizes) const override {
    if (width > 1 || (Stored::dense && axis == Axis::columns)) // one by one is faster for vectors
      return Design::apply_with_sizes(x, width, out, sizes);
    axis == Axis::rows ? sums_along(x, out, sizes) : sums_across(x, out, sizes);
  }
  void adjoint_with_sizes(CVec u, Index width, Vec out, Vec sizes) const override {
    if (width > 1 || (Stored::dense && axis == Axis::rows))
      return Design::adjoint_with_sizes(u, width, out, sizes);
    axis == Axis::rows ? sums_across(u, out, sizes) : sums_along(u, out, sizes);
  }
  // A constant adds a term for every position, stored or not; sums across fibers are made of chunks.
  Index longest_row() const override {
    return (shifts_.empty() ? longest(Axis::rows) : cols()) + intercept_ + 16;
  }
  // An upper bound: the number of rows, if there are constants or the data are not stored by columns.
  Index longest_column() const override {
    return (shifted() || axis == Axis::rows ? rows() : longest(Axis::columns)) + 16;
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
      stored_.values().typed([&]<class Value>(const Value* values) {
        auto& store = into.template store<DenseColumns<Value>>(rows());
        axis == Axis::columns ? gather_columns(stored_, values, names, store)
                              : gather_across(stored_, values, names, store);
      });
    else if constexpr (axis == Axis::columns)
      gather_columns(stored_, names, into.template store<SparseColumns>());
    else
      gather_across(stored_, names, sizes, into.template store<SparseColumns>());
  }

  bool lies_by_rows() const override { return axis == Axis::rows && !Stored::dense; }
  std::vector<std::uint32_t> column_sizes() const override {
    std::vector<std::uint32_t> sizes;
    sizes.resize(cols());
    sum_fibers(std::span(sizes),
               [&](Index i, std::uint32_t* own) { stored_[i].visit([&](Index j, Real) { ++own[j]; }); });
    return sizes;
  }
  Index row_size(Index i) const override { return fiber(i).size(); }
  Index add_pairs(const RowPairs& pairs, Index from, Index to, Index first, Index last) const override {
    return pairs.add(from, to, first, last, [&](Index i, auto&& f) { fiber(i).visit(f); });
  }
  void moments(CVec r, CVec h, std::span<Moments> out) const override {
    sum_fibers(out, [&](Index i, Moments* own) {
      stored_[i].visit([own, ri = r[i], hi = h[i]](Index j, Real a) {
        const Real with = hi * a;
        own[j] += {ri * a, with, with * a};
      });
    });
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

  // sum_k weight(k) (fiber k)_i^2 for each position i; 0 if it is not larger than the rounding error.
  template <class Weight> void crossing_squared_norms(Weight&& weight, Vec out) const {
    Real total = 0; // of weight gamma^2
    for (Index k = 0; k < (shifted() ? coordinates() : 0); ++k) total += weight(k) * gamma(k) * gamma(k);
    sum_fibers(out, [&](Index k, Real* own) {
      const Real w = weight(k), g = shifted() ? gamma(k) : 0;
      if (g != 0) // (a + g c)^2 = a (a + 2 g c) + (g c)^2
        stored_[k].visit([&](Index i, Real a) { own[i] += w * a * (a + 2 * g * common_at(i)); });
      else
        stored_[k].visit([&](Index i, Real a) { own[i] += w * a * a; });
    });
    if (total > 0)
      common().visit([&](Index i, Real c) {
        const Real norm = out[i] + total * c * c;
        out[i] = norm > 1e-13 * (std::abs(out[i]) + total * c * c) ? norm : 0;
      });
  }

  // A sum over all fibers for each position: `add(k, sums)` adds fiber k. The fibers are divided into chunks
  // with their own sums, which together take no more memory than the data.
  template <class Sum, class Add> void sum_fibers(std::span<Sum> out, Add&& add) const {
    const Index width = Index(out.size()), room = stored() * Index(sizeof(Real)) / 8;
    Index chunks = 8;
    while (chunks > 1 && (chunks - 1) * width * Index(sizeof(Sum)) > room) chunks /= 2;
    const auto others = std::make_unique_for_overwrite<Sum[]>(std::size_t((chunks - 1) * width));
    divide(chunks > 1 ? stored() : 0, [&](int part, int parts) {
      for (Index chunk = chunks * part / parts; chunk < chunks * (part + 1) / parts; ++chunk) {
        Sum* own = chunk == 0 ? out.data() : others.get() + (chunk - 1) * width;
        std::fill_n(own, width, Sum{});
        const Index from = stored_.fiber_at(stored() * chunk / chunks),
                    to = chunk + 1 == chunks ? stored_.count()
                                             : stored_.fiber_at(stored() * (chunk + 1) / chunks);
        for (Index k = from; k < to; ++k) add(k, own);
      }
    });
    for (Index chunk = 1; chunk < chunks; ++chunk)
      for (Index i = 0; i < width; ++i) out[i] += others[(chunk - 1) * width + i];
  }

  // |a_k| |V| for each fiber k, and the sum over fibers.
  void sizes_along(CVec v, Index width, Vec out) const {
    std::vector<Real> far(shifted() ? std::size_t(width) : 0);
    if (shifted())
      common().visit([&](Index i, Real w) {
        for (Index c = 0; c < width; ++c) far[c] += std::abs(w * v[i * width + c]);
      });
    divide(stored() * width, [&](int part, int parts) {
      for (Index k = coordinates() * part / parts; k < coordinates() * (part + 1) / parts; ++k) {
        Real* own = out.data() + k * width;
        for (Index c = 0; c < width; ++c) own[c] = shifted() ? std::abs(gamma(k)) * far[c] : 0;
        if (width == 1)
          own[0] += fiber(k).sum([&](Index i, Real a) { return std::abs(a * v[i]); });
        else
          fiber(k).visit([&](Index i, Real a) {
            for (Index c = 0; c < width; ++c) own[c] += std::abs(a * v[i * width + c]);
          });
      }
    });
  }
  void sizes_across(CVec v, Index width, Vec out) const {
    sum_fibers(out, [&](Index k, Real* own) {
      const Real* by = v.data() + k * width;
      if (width == 1) {
        if (by[0] != 0) stored_[k].visit([own, by = by[0]](Index i, Real a) { own[i] += std::abs(a * by); });
      } else if (std::any_of(by, by + width, [](Real u) { return u != 0; })) {
        stored_[k].visit([&](Index i, Real a) {
          for (Index c = 0; c < width; ++c) own[i * width + c] += std::abs(a * by[c]);
        });
      }
    });
    if (!shifted()) return;
    std::vector<Real> far(static_cast<std::size_t>(width));
    for (Index k = 0; k < coordinates(); ++k)
      for (Index c = 0; c < width; ++c) far[c] += std::abs(v[k * width + c] * gamma(k));
    common().visit([&](Index i, Real w) {
      for (Index c = 0; c < width; ++c) out[i * width + c] += std::abs(w) * far[c];
    });
  }
  // Products and the absolute values of their terms in one pass over the data.
  static rounding::Sum term(Real product) { return {product, std::abs(product)}; }
  void sums_along(CVec v, Vec out, Vec sizes) const {
    rounding::Sum far;
    if (shifted()) common().visit([&](Index i, Real w) { far += term(w * v[i]); });
    divide(stored(), [&](int part, int parts) {
      for (Index k = coordinates() * part / parts; k < coordinates() * (part + 1) / parts; ++k) {
        const rounding::Sum own = fiber(k).terms(v);
        out[k] = own.value + (shifted() ? gamma(k) * far.value : 0);
        sizes[k] = own.size + (shifted() ? std::abs(gamma(k)) * far.size : 0);
      }
    });
  }
  void sums_across(CVec v, Vec out, Vec sizes) const {
    std::vector<rounding::Sum> sums(out.size());
    sum_fibers(std::span(sums), [&](Index k, rounding::Sum* own) {
      if (const Real by = v[k]; by != 0)
        stored_[k].visit([own, by](Index i, Real a) { own[i] += term(a * by); });
    });
    if (shifted()) {
      rounding::Sum far;
      for (Index k = 0; k < coordinates(); ++k) far += term(v[k] * gamma(k));
      common().visit([&](Index i, Real w) { sums[i] += {w * far.value, std::abs(w) * far.size}; });
    }
    for (std::size_t i = 0; i < sums.size(); ++i) {
      out[i] = sums[i].value;
      sizes[i] = sums[i].size;
    }
  }
  Index longest(Axis along) const { // entries in a row or column
    if constexpr (Stored::dense) return along == axis ? stored_.length() : stored_.count();
    Index most = 0;
    if (along == axis) {
      for (Index k = 0; k < stored_.count(); ++k) most = std::max(most, stored_[k].size());
      return most;
    }
    std::vector<std::uint32_t> sizes(static_cast<std::size_t>(positions()));
    sum_fibers(std::span(sizes),
               [&](Index k, std::uint32_t* own) { stored_[k].visit([&](Index i, Real) { ++own[i]; }); });
    for (const std::uint32_t size : sizes) most = std::max<Index>(most, size);
    return most;
  }

  // Products are divided among threads by the parts of the result, or into chunks that do not depend on the
  // number of threads. So the result does not depend on it either.
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
    if constexpr (Stored::dense) {
      divide(stored(), [&](int part, int parts) {
        const Index from = positions() * part / parts, to = positions() * (part + 1) / parts;
        std::fill(out.begin() + from, out.begin() + to, 0.0);
        for (Index k = 0; k < coordinates(); ++k)
          if (const Real c = coefficient(k); c != 0) fiber(k).add_between(from, to, out, c);
      });
    } else {
      sum_fibers(out, [&](Index k, Real* own) {
        if (const Real c = coefficient(k); c != 0) stored_[k].add_to({own, out.size()}, c);
      });
    }
    if (!shifted()) return;
    Real along = 0;
    for (Index k = 0; k < coordinates(); ++k) along += coefficient(k) * gamma(k);
    if (along != 0) common().add_to(out, along);
  }
  void wide_dots(CVec v, Index width, Vec out) const {
    std::vector<Real> along(shifted() ? std::size_t(width) : 0);
    if (shifted()) dot_wide(common(), v.data(), width, along.data());
    divide(stored() * width, [&](int part, int parts) {
      const Index from = start_of_part(coordinates(), part, parts),
                  to = start_of_part(coordinates(), part + 1, parts), last = std::min(to, stored_.count());
      for (Index k = from; k < to; ++k)
        for (Index c = 0; c < width; ++c) out[k * width + c] = shifted() ? gamma(k) * along[c] : 0;
      if constexpr (Stored::dense)
        dots_of_dense(stored_, from, last, stored_.length(), v.data(), width, out.data());
      else
        for (Index k = from; k < last; ++k) dot_wide(stored_[k], v.data(), width, out.data() + k * width);
    });
  }
  void wide_combine(CVec c, Index width, Vec out) const {
    if constexpr (Stored::dense) {
      divide(stored() * width, [&](int part, int parts) {
        const Index from = positions() * part / parts, to = positions() * (part + 1) / parts;
        std::fill(out.begin() + from * width, out.begin() + to * width, 0.0);
        add_dense(stored_, stored_.count(), from, std::min(to, stored_.length()), c.data(), width,
                  out.data());
      });
    } else {
      sum_fibers(out, [&](Index k, Real* own) {
        const Real* by = c.data() + k * width;
        if (std::any_of(by, by + width, [](Real v) { return v != 0; })) add_wide(stored_[k], by, width, own);
      });
    }
    if (!shifted()) return;
    std::vector<Real> along(static_cast<std::size_t>(width));
    for (Index k = 0; k < coordinates(); ++k)
      for (Index t = 0; t < width; ++t) along[t] += c[k * width + t] * gamma(k);
    add_wide(common(), along.data(), width, out.data());
  }

  Stored stored_;
  std::vector<Real> shifts_;
  bool intercept_;
  std::vector<Real> common_values_;
  std::vector<Index> common_positions_;
};

} // namespace southwell
