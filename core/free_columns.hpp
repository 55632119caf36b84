// The distance of a dual point from being orthogonal to the unpenalised columns A_U.
//
// A feasible y has slopes z_U = A_U'(s o y) of exactly zero; those of a computed y are zero up to rounding.
// The nearest feasible point is y minus its projection on the span of A_U, which has the s-weighted norm
//
//     q = sqrt(z_U' M^-1 z_U),     M = A_U' diag(s) A_U.
//
// Tiny slopes imply a tiny q only if the columns are far from linearly dependent: if two columns differ by
// 1e-14, their slopes differ by at most 1e-14, whatever y is. So M is factored, once. A column that depends
// on earlier ones up to rounding is subtracted from their combination on all samples (squaring would lose
// half of the digits). If the difference is exactly zero, the column is dropped; otherwise q includes the
// slope of the difference divided by its norm.
//
// The slopes of columns with a constant c_j, as centred sparse ones have, are differences of numbers that are
// larger than they are, and known up to rounding errors of the size of |c_j| ||y||. q includes these.
//
// For more than `most` columns M is not formed. Zero columns and exact copies of others are dropped, and
// q <= ||z_U|| / sqrt(lambda) with a lower bound lambda of the least eigenvalue of M, the columns scaled to
// length one (least_eigenvalue.hpp). If none is found, q is infinity: there is no bound but D(0).
//
// Where y has k columns, each is projected on its own, and q^2 is the sum of their q^2.
#pragma once
#include "core/design/design.hpp"
#include "core/least_eigenvalue.hpp"
#include "core/support/cholesky.hpp"
#include "core/support/math.hpp"
#include <algorithm>
#include <limits>

namespace southwell {

// Writes every `stride`-th entry of column k of `store`, a constant added.
template <class Store> void write_column(const Store& store, Index k, Real constant, Index stride, Vec out) {
  std::fill(out.begin(), out.end(), constant);
  store[k].visit([&](Index i, Real a) {
    if (i % stride == 0) out[i / stride] += a;
  });
}

// Squared norms of columns that are constant up to rounding errors: `Design::column_squared_norms` makes them
// zero, as sums of squares cannot tell. But an unpenalised coefficient may be as large as it likes, and move
// margins through whatever is left of its column. Only a column that is zero in every entry, or with an
// intercept the same in every entry, keeps a norm of zero.
inline void measure_small_columns(const Design& design, CVec weights, bool intercept,
                                  std::vector<Index> names, Vec norms) {
  const std::vector<std::uint32_t> sizes =
      design.lies_by_rows() ? design.column_sizes() : std::vector<std::uint32_t>();
  std::erase_if(names, [&](Index j) {
    return norms[j] != 0 || (!sizes.empty() && sizes[j] == 0 && design.constant(j) == 0);
  });
  if (names.empty()) return;
  Columns columns;
  design.gather(names, sizes, columns);
  std::vector<Real> own(weights.size());
  columns.visit([&](const auto& store) {
    for (std::size_t k = 0; k < names.size(); ++k) {
      write_column(store, Index(k), design.constant(names[k]), 1, own);
      const auto counted = std::find_if(weights.begin(), weights.end(), [](Real s) { return s > 0; });
      const Real nothing = intercept ? own[std::size_t(counted - weights.begin())] : 0;
      Real square = 0;
      bool any = false;
      for (std::size_t i = 0; i < own.size(); ++i) {
        square += weights[i] * own[i] * own[i];
        any = any || (weights[i] > 0 && own[i] != nothing);
      }
      norms[names[k]] = any ? std::max(square, std::numeric_limits<Real>::denorm_min()) : 0;
    }
  });
}

class FreeColumns {
public:
  static constexpr Index most = 2000; // columns of which M is factored: it has as many rows and columns

  // `norms` are the s-weighted squared norms of all columns, `names` the indices U; with an intercept, it is
  // the last of them. `hurry` is called between products; true ends the work early, without a bound.
  template <class Hurry>
  FreeColumns(const Design& design, CVec weights, bool intercept, std::vector<Index> names, CVec norms,
              Hurry&& hurry)
      : design_(design), weights_(weights), intercept_(intercept) {
    if (intercept) // it comes first, so that later columns may differ by a constant from a combination
      std::rotate(names.begin(), names.end() - 1, names.end());
    for (const Index j : names)
      if (norms[j] > 0) { // a column of zeros has a slope of zero
        names_.push_back(j);
        lengths_.push_back(std::sqrt(norms[j]));
        const bool own = intercept && names_.size() == 1; // its constant is the column itself
        errors_.push_back(own ? 0 : slope_error(design, j) / lengths_.back());
      }
    if (Index(names_.size()) > most)
      bound_eigenvalues(hurry);
    else if (names_.size() > 1)
      factor();
  }

  // The rounding error of the slope of column j beside those of its own entries, relative to ||y||.
  static Real slope_error(const Design& design, Index j) { return 8e-16 * std::abs(design.constant(j)); }

  // q, an estimate in floating-point arithmetic, from the slopes of all columns, `width` numbers each, and
  // the s-weighted norm of y.
  Real part_in_span(CVec z, Index width, Real norm) const {
    if (!(norm > 0)) return 0;               // y is zero
    std::vector<Real> scaled(names_.size()); // in units of the norm of y: squares must not vanish
    Real total = 0;
    for (Index c = 0; c < width; ++c) {
      for (std::size_t k = 0; k < names_.size(); ++k)
        scaled[k] = z[names_[k] * width + c] / lengths_[k] / norm;
      total = std::hypot(total, part_of_column(scaled));
    }
    return norm * total;
  }

  // Replaces numbers of `out` by those of M^-1 r, for columns that are factored; numbers of column j begin at
  // width times place(j).
  template <class Place> void precondition(CVec r, Index width, Place&& place_of, Vec out) const {
    if (!factored()) return;
    std::vector<Real> own(independent_.size());
    for (Index c = 0; c < width; ++c) {
      const auto place = [&](std::size_t t) { return place_of(names_[independent_[t]]) * width + c; };
      for (std::size_t t = 0; t < own.size(); ++t) own[t] = r[place(t)] / lengths_[independent_[t]];
      factor_.solve(own.data());
      for (std::size_t t = 0; t < own.size(); ++t) out[place(t)] = own[t] / lengths_[independent_[t]];
    }
  }

  // The part of q that rounding errors of the slopes account for: no y has less.
  Real rounding_part(Index width, Real norm) const {
    Real square = names_.size() > 1 ? 16e-32 * Real(names_.size()) : 0;
    for (const Real error : errors_) square += error * error;
    return norm * std::sqrt(Real(width) * square) / (factored() ? factor_.smallest_pivot() : least_length_);
  }

private:
  bool factored() const { return Index(independent_.size()) == factor_.size() && !independent_.empty(); }
  static constexpr Real dependent = 1e-9; // of a column's squared norm; rounding errors are far smaller
  static constexpr std::size_t most_differences = 32; // each has the length of the samples

  struct Difference {              // of a column and the nearest combination of those before it
    std::vector<Real> combination; // coefficients of the columns, which are scaled to length one
    std::vector<Real> direction;   // scaled to length one
    Real length;
  };

  // q of one column of y, in units of the norm of y, as the slopes are.
  Real part_of_column(CVec scaled) const {
    Real square = 0;
    if (!factored()) {
      for (const Real v : scaled) square += v * v;
      return std::sqrt(square) / least_length_ + rounding_part(1, 1);
    }
    std::vector<Real> solved(independent_.size());
    for (std::size_t t = 0; t < independent_.size(); ++t) solved[t] = scaled[independent_[t]];
    factor_.solve(solved.data());
    for (std::size_t t = 0; t < independent_.size(); ++t) square += scaled[independent_[t]] * solved[t];
    for (const Difference& d : differences_) {
      Real along = 0, size = 0;
      for (std::size_t k = 0; k < scaled.size(); ++k) {
        along += d.combination[k] * scaled[k];
        size += std::abs(d.combination[k]);
      }
      along = std::abs(along) + 2e-16 * size; // slopes are known up to rounding
      square += along / d.length * (along / d.length);
    }
    // The slopes of nearly dependent columns are known up to rounding too.
    return std::sqrt(std::max(square, 0.0)) + rounding_part(1, 1);
  }

  template <class Hurry> void bound_eigenvalues(Hurry&& hurry) {
    drop_copies();
    std::vector<Real> x(std::size_t(design_.cols())), along(std::size_t(design_.rows())), slopes(x.size());
    const auto multiply = [&](CVec v, Vec out) {
      for (std::size_t k = 0; k < names_.size(); ++k) x[names_[k]] = v[k] / lengths_[k];
      design_.apply(x, along);
      design_.adjoint(weights_, along, slopes);
      for (std::size_t k = 0; k < names_.size(); ++k) out[k] = slopes[names_[k]] / lengths_[k];
    };
    least_length_ = std::sqrt(least_eigenvalue_above(Index(names_.size()), multiply, hurry));
  }
  // Drops columns that are the same as others in every entry. Those have the same product with a random
  // vector.
  void drop_copies() {
    const std::vector<Real> probe = random_direction(design_.rows(), 1);
    std::vector<Real> keys(std::size_t(design_.cols()));
    design_.adjoint(weights_, probe, keys);
    std::vector<std::size_t> order(names_.size());
    std::iota(order.begin(), order.end(), std::size_t(0));
    const auto key = [&](std::size_t k) { return keys[names_[k]] / lengths_[k]; };
    std::ranges::sort(
        order, [&](std::size_t a, std::size_t b) { return std::pair(key(a), a) < std::pair(key(b), b); });
    const auto near = [&](std::size_t t) { // the next in this order
      return t + 1 < order.size() && key(order[t + 1]) - key(order[t]) < 1e-12;
    };
    std::vector<char> dropped(names_.size());
    for (std::size_t from = 0, to; from < order.size(); from = to) {
      for (to = from + 1; near(to - 1);) ++to;
      if (to - from < 2) continue;
      std::vector<Index> those;
      for (std::size_t t = from; t < to; ++t) those.push_back(names_[order[t]]);
      const std::vector<char> copies = copies_among(those);
      for (std::size_t t = from; t < to; ++t) dropped[order[t]] = copies[t - from];
    }
    const auto keep = [&](auto& list) {
      std::size_t k = 0;
      std::erase_if(list, [&](auto&) { return dropped[k++] != 0; });
    };
    keep(names_);
    keep(lengths_);
    keep(errors_);
  }
  // Which of these columns are the same as one before. Stored values are compared.
  std::vector<char> copies_among(const std::vector<Index>& names) const {
    Columns columns;
    design_.gather(names, design_.lies_by_rows() ? design_.column_sizes() : std::vector<std::uint32_t>(),
                   columns);
    std::vector<char> copies(names.size());
    columns.visit([&](const auto& store) {
      std::vector<std::vector<Real>> kept;
      for (std::size_t k = 0; k < names.size(); ++k) {
        std::vector<Real> own(std::size_t(design_.rows()) + 2);
        const auto fiber = store[Index(k)];
        own.back() = design_.constant(names[k]);
        if constexpr (requires { fiber.shift(); }) {
          own[own.size() - 2] = fiber.shift();
          for (Index i = 0; i < fiber.size(); ++i) own[i] = Real(fiber.values()[i]);
        } else {
          fiber.visit([&](Index i, Real a) { own[i] += a; });
        }
        copies[k] = std::ranges::find(kept, own) != kept.end();
        if (!copies[k] && kept.size() < most_differences) kept.push_back(std::move(own));
      }
    });
    return copies;
  }

  void factor() {
    // A part of the rows is enough: omitted rows make M smaller and q larger, so q is still an upper bound.
    // Of more rows M is a better preconditioner; where it is large, that would take long.
    const Index rows = design_.rows(), m = Index(names_.size()), enough = (m <= 500 ? 10 : 2) * m + 64;
    if (rows > 2 * enough && products(rows / enough)) return;
    products(1);
  }

  // Computes M from every `stride`-th row, and its factor. False if stride > 1 and columns seem to be
  // dependent on these rows.
  bool products(Index stride) {
    const CVec s = weights_;
    const Index rows = (design_.rows() + stride - 1) / stride, count = Index(names_.size());
    std::vector<Real> table(std::size_t(rows * count)), root(s.size());
    for (std::size_t i = 0; i < s.size(); ++i) root[i] = std::sqrt(s[i]);
    columns_ = {};
    design_.gather(names_, design_.lies_by_rows() ? design_.column_sizes() : std::vector<std::uint32_t>(),
                   columns_);
    columns_.visit([&](const auto& store) {
      for (Index k = 0; k < count; ++k) {
        Real* own = table.data() + k * rows;
        write_column(store, k, design_.constant(names_[k]), stride, {own, std::size_t(rows)});
        for (Index i = 0; i < rows; ++i) own[i] *= root[i * stride] / lengths_[k];
      }
    });
    std::vector<Real> line(static_cast<std::size_t>(count));
    factor_.clear();
    independent_.clear();
    differences_.clear();
    for (Index k = 0; k < count; ++k) {
      const Real* own = table.data() + k * rows;
      const auto against = [&](Index other) { return kernels::dot(own, table.data() + other * rows, rows); };
      for (std::size_t t = 0; t < independent_.size(); ++t) line[t] = against(independent_[t]);
      line[independent_.size()] = against(k);
      if (factor_.append(line.data(), dependent))
        independent_.push_back(k);
      else if (stride > 1)
        return false;
      else
        compare(k, line);
    }
    return true;
  }

  // Compares column k with those before it; `line` holds its inner products with them.
  void compare(Index k, std::vector<Real> line) {
    factor_.solve(line.data());
    Difference d{std::vector<Real>(names_.size()), std::vector<Real>(design_.rows()), infinity};
    d.combination[k] = 1;
    std::vector<Real> x(std::size_t(design_.cols()));
    const auto difference = [&](auto&& coefficient) { // A^k minus a combination of the others
      std::fill(x.begin(), x.end(), 0.0);
      x[names_[k]] = 1;
      for (std::size_t t = 0; t < independent_.size(); ++t)
        x[names_[independent_[t]]] = -coefficient(line[t] * lengths_[k] / lengths_[independent_[t]]);
      design_.apply(x, d.direction);
      return s_norm(d.direction);
    };
    if (exactly_dependent(k, line)) return;
    difference([](Real c) { return c; });
    for (std::size_t t = 0; t < independent_.size(); ++t)
      d.combination[independent_[t]] = x[names_[independent_[t]]] * lengths_[independent_[t]] / lengths_[k];
    for (Real& v : d.direction) v /= lengths_[k];
    for (const Difference& other : differences_) { // orthogonal to the others
      const Real along = s_dot(d.direction, other.direction);
      kernels::add(other.direction.data(), -along, d.direction.data(), Index(d.direction.size()));
      kernels::add(other.combination.data(), -along / other.length, d.combination.data(),
                   Index(d.combination.size()));
    }
    d.length = s_norm(d.direction);
    if (differences_.size() >= most_differences) d.length = 0; // too many: no bound
    if (d.length > 0)
      for (Real& v : d.direction) v /= d.length;
    differences_.push_back(std::move(d));
  }

  // Whether column k is exactly a combination of earlier ones with coefficients of few binary digits, as
  // copies and sums of indicator columns are. Stored values are compared; the constants of the frame are
  // irrelevant if there is an intercept.
  bool exactly_dependent(Index k, const std::vector<Real>& line) const {
    constexpr Real grid = 1 << 20;
    std::vector<Real> left(std::size_t(design_.rows()));
    Real constant = 0;
    const auto add = [&](Index column, Real by) {
      columns_.visit([&](const auto& store) {
        const auto fiber = store[column];
        constant += by * design_.constant(names_[column]);
        if constexpr (requires { fiber.shift(); }) {
          constant += by * fiber.shift();
          for (Index i = 0; i < fiber.size(); ++i) left[i] += by * Real(fiber.values()[i]);
        } else {
          fiber.visit([&](Index i, Real a) { left[i] += by * a; });
        }
      });
    };
    add(k, 1);
    for (std::size_t t = 0; t < independent_.size(); ++t)
      add(independent_[t], -std::round(line[t] * lengths_[k] / lengths_[independent_[t]] * grid) / grid);
    return uniform(left) && (intercept_ || left[0] + constant == 0);
  }

  Real s_dot(CVec a, CVec b) const {
    const CVec s = weights_;
    return unrolled(Index(a.size()), [&](Index i) { return s[i] * a[i] * b[i]; });
  }
  Real s_norm(CVec a) const { return std::sqrt(s_dot(a, a)); }

  const Design& design_;
  CVec weights_;
  bool intercept_;
  std::vector<Index> names_;
  std::vector<Real> lengths_, errors_; // of their slopes, for y and columns of length one
  Real least_length_ = 1;              // of a combination of them with coefficients of norm one; 0: not known
  Columns columns_;
  Cholesky factor_;                // of M for these columns, scaled to length one:
  std::vector<Index> independent_; // independent columns, by their place in `names_`
  std::vector<Difference> differences_;
};

} // namespace southwell
