// How far a dual point is from being orthogonal to the unpenalised columns A_U.
//
// A feasible y has slopes z_U = A_U'(s o y) of exactly zero; a computed one has them within rounding. The
// nearest feasible point is y less its part in the span of A_U, whose s-weighted norm is
//
//     q = sqrt(z_U' M^-1 z_U),     M = A_U' diag(s) A_U.
//
// Slopes of the size of rounding make q as small only where the columns are far from dependent: two columns
// that differ by 1e-14 carry a slope of 1e-14 for a part of y that may be all of it. So M is factored, once.
// A column that depends on those before it but for rounding is compared with them on all samples, without
// squaring: it is dropped where the difference is zero exactly, and counts with the norm of the difference
// otherwise.
#pragma once
#include "core/design/design.hpp"
#include "core/support/cholesky.hpp"
#include "core/support/math.hpp"

namespace southwell {

class FreeColumns {
public:
  // `norms` are the s-weighted squared norms of all columns, `names` those of U, an intercept last if it is
  // one.
  FreeColumns(const Design& design, CVec weights, bool intercept, std::vector<Index> names, CVec norms)
      : design_(design), weights_(weights), intercept_(intercept) {
    if (intercept) // others may differ from a combination by a constant: it comes first
      std::rotate(names.begin(), names.end() - 1, names.end());
    for (const Index j : names)
      if (norms[j] > 0) { // a column of zeros has a slope of zero
        names_.push_back(j);
        lengths_.push_back(std::sqrt(norms[j]));
      }
    // Beyond `most` columns, or with one alone, they count as orthogonal.
    if (Index(names_.size()) <= most && names_.size() > 1) factor();
  }

  // q, an estimate in floating-point arithmetic, from the slopes of all columns and the s-weighted norm of y.
  Real part_in_span(CVec z, Real norm) const {
    std::vector<Real> scaled(names_.size());
    for (std::size_t k = 0; k < names_.size(); ++k) scaled[k] = z[names_[k]] / lengths_[k];
    Real square = 0;
    if (Index(firm_.size()) != factor_.size() || firm_.empty()) { // not factored
      for (const Real v : scaled) square += v * v;
      return std::sqrt(square);
    }
    std::vector<Real> solved(firm_.size());
    for (std::size_t t = 0; t < firm_.size(); ++t) solved[t] = scaled[firm_[t]];
    factor_.solve(solved.data());
    for (std::size_t t = 0; t < firm_.size(); ++t) square += scaled[firm_[t]] * solved[t];
    for (const Difference& d : differences_) {
      Real along = 0, size = 0;
      for (std::size_t k = 0; k < scaled.size(); ++k) {
        along += d.combination[k] * scaled[k];
        size += std::abs(d.combination[k]);
      }
      along = std::abs(along) + 2e-16 * size * norm; // slopes are known up to rounding
      square += along / d.length * (along / d.length);
    }
    return std::sqrt(std::max(square, 0.0));
  }

private:
  static constexpr Index most = 2000;        // columns: their products are a matrix of as many rows
  static constexpr Real dependent = 1e-9;    // of a column's squared norm: what rounding leaves is far below
  static constexpr std::size_t several = 32; // differences; each is as long as there are samples

  struct Difference {              // of a column and the nearest combination of those before it
    std::vector<Real> combination; // of columns scaled to length one
    std::vector<Real> direction;   // scaled to length one
    Real length;
  };

  void factor() {
    const Index rows = design_.rows(), enough = 2 * Index(names_.size()) + 64;
    // Rows left out only make M smaller, and q larger.
    if (rows > 2 * enough && products(rows / enough)) return;
    products(1);
  }

  // M of every `stride`-th row, and its factor. False where columns seem to be dependent on a part of the
  // rows.
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
        if (const Real constant = design_.constant(names_[k]); constant != 0)
          std::fill_n(own, rows, constant);
        store[k].visit([&](Index i, Real a) {
          if (i % stride == 0) own[i / stride] += a;
        });
        for (Index i = 0; i < rows; ++i) own[i] *= root[i * stride] / lengths_[k];
      }
    });
    std::vector<Real> line(static_cast<std::size_t>(count));
    factor_.clear();
    firm_.clear();
    differences_.clear();
    for (Index k = 0; k < count; ++k) {
      const Real* own = table.data() + k * rows;
      const auto against = [&](Index other) { return kernels::dot(own, table.data() + other * rows, rows); };
      for (std::size_t t = 0; t < firm_.size(); ++t) line[t] = against(firm_[t]);
      line[firm_.size()] = against(k);
      if (factor_.append(line.data(), dependent))
        firm_.push_back(k);
      else if (stride > 1)
        return false;
      else
        compare(k, line);
    }
    return true;
  }

  // Column k with those before it, of which `line` are the inner products.
  void compare(Index k, std::vector<Real> line) {
    factor_.solve(line.data());
    Difference d{std::vector<Real>(names_.size()), std::vector<Real>(design_.rows()), infinity};
    d.combination[k] = 1;
    std::vector<Real> x(std::size_t(design_.cols()));
    const auto difference = [&](auto&& coefficient) { // A^k less a combination of the others, as given
      std::fill(x.begin(), x.end(), 0.0);
      x[names_[k]] = 1;
      for (std::size_t t = 0; t < firm_.size(); ++t)
        x[names_[firm_[t]]] = -coefficient(line[t] * lengths_[k] / lengths_[firm_[t]]);
      design_.apply(x, d.direction);
      return s_norm(d.direction);
    };
    if (exactly_dependent(k, line)) return;
    difference([](Real c) { return c; });
    for (std::size_t t = 0; t < firm_.size(); ++t)
      d.combination[firm_[t]] = x[names_[firm_[t]]] * lengths_[firm_[t]] / lengths_[k];
    for (Real& v : d.direction) v /= lengths_[k];
    for (const Difference& other : differences_) { // orthogonal to the others
      const Real along = s_dot(d.direction, other.direction);
      kernels::add(other.direction.data(), -along, d.direction.data(), Index(d.direction.size()));
      kernels::add(other.combination.data(), -along / other.length, d.combination.data(),
                   Index(d.combination.size()));
    }
    d.length = s_norm(d.direction);
    if (differences_.size() >= several) d.length = 0; // no more are told apart: nothing is known
    if (d.length > 0)
      for (Real& v : d.direction) v /= d.length;
    differences_.push_back(std::move(d));
  }

  // Copies, and columns of indicators that add up to another, have coefficients of few digits. What is stored
  // is compared, without the constants of the frame: with an intercept they may be any.
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
    for (std::size_t t = 0; t < firm_.size(); ++t)
      add(firm_[t], -std::round(line[t] * lengths_[k] / lengths_[firm_[t]] * grid) / grid);
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
  std::vector<Real> lengths_;
  Columns columns_;
  Cholesky factor_;         // of M, the columns scaled to length one,
  std::vector<Index> firm_; // of these of them
  std::vector<Difference> differences_;
};

} // namespace southwell
