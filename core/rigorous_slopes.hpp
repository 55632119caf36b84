// The slopes of unpenalised features U must be zero. This bounds the distance from y to a point with such
// slopes.
//
// Let w solve M w = A_U'(s o y) for M = A_U' diag(s |y|) A_U. Then y' = y - |y| o (A_U w) has slopes of zero,
// and each y'_i differs from y_i by at most theta |y_i|, theta = max_i |a_iU'w|. Scaled by 1 -
// theta it is between 0 and y, so it is in dom phi*. To bound w without knowing it, an approximate inverse R
// of M is enough (Rump, "Verification methods", Acta Numerica 2010, section 10.2): if alpha = ||I - R M|| <
// 1, in the maximum norm and with all rounding errors, then |w| <= ||R z|| / (1 - alpha).
//
// Several margins that do not compete have a system each. Of classes, the free numbers of y_i = p_i - e_b are
// those of the other classes c, all >= 0, because y_ib is minus their sum. So each pair (i, c) with c != b is
// a row of a larger design: a slope z_je is the sum over rows of s_i y_ic times a_ij ([c = e] - [b = e]).
// Every class but the first has such columns; slopes of the first are minus the sum of the others.
#pragma once
#include "core/linear_problem.hpp"
#include "core/support/cholesky.hpp"
#include "core/support/rounding.hpp"

namespace southwell {

// A dense design by columns, and of each row s |y|.
struct FreeRows {
  Index rows = 0;
  std::vector<Real> columns, weights;
};

class ZeroSlopes {
public:
  // `slopes` bound the absolute value of the slope of each column.
  ZeroSlopes(FreeRows design, std::vector<Real> slopes)
      : rows_(design.rows), columns_(std::move(design.columns)), slopes_(std::move(slopes)) {
    drop_copies();
    weigh(design.weights);
  }

  // 2 theta, or infinity if it cannot be bounded.
  Real part() const {
    const std::size_t m = slopes_.size();
    if (m == 0) return 0;
    std::vector<Real> matrix(m * m), inverse(m * m);
    Cholesky factor;
    for (std::size_t a = 0; a < m; ++a) {
      for (std::size_t b = 0; b <= a; ++b)
        matrix[a * m + b] = matrix[b * m + a] = kernels::dot(scaled(a), scaled(b), rows_);
      if (!factor.append(matrix.data() + a * m)) return infinity;
    }
    for (std::size_t a = 0; a < m; ++a) {
      inverse[a * m + a] = 1;
      factor.solve(inverse.data() + a * m);
    }
    // Entries of M are sums of products of three numbers; the diagonal entries bound the sums of their
    // absolute values.
    Real alpha = 0, reach = 0;
    for (std::size_t a = 0; a < m; ++a) {
      const Real* own = inverse.data() + a * m;
      Real off = 0, total = 0, along = 0;
      for (std::size_t c = 0; c < m; ++c) {
        Real product = -Real(a == c), size = 1;
        for (std::size_t b = 0; b < m; ++b) {
          product += own[b] * matrix[b * m + c];
          size += std::abs(own[b] * matrix[b * m + c]);
        }
        off += std::abs(product) + rounding::of_sum(Index(m) + 2, size);
        total += std::abs(own[c]) * std::sqrt(matrix[c * m + c]);
        along += std::abs(own[c]) * scale_[c] * slopes_[c];
      }
      Real norms = 0;
      for (std::size_t c = 0; c < m; ++c) norms += std::sqrt(matrix[c * m + c]);
      alpha = std::max(alpha, 1.01 * (off + rounding::of_sum(rows_ + 8, total * norms)));
      reach = std::max(reach, 1.02 * along);
    }
    if (!(alpha < 0.5)) return infinity;
    const Real theta = 1.01 * largest_row() * reach / (1 - alpha);
    return 2.02 * theta;
  }

private:
  // Drops zero columns, and copies of others up to the sign, which have the same slope.
  void drop_copies() {
    std::vector<Real> columns, slopes;
    const auto copies = [&](const Real* own, const Real* other, Real sign) {
      for (Index i = 0; i < rows_; ++i)
        if (own[i] != sign * other[i]) return false;
      return true;
    };
    for (std::size_t k = 0; k < slopes_.size(); ++k) {
      const Real* own = columns_.data() + Index(k) * rows_;
      bool fresh = std::any_of(own, own + rows_, [](Real a) { return a != 0; });
      for (std::size_t t = 0; fresh && t < slopes.size(); ++t) {
        const Real* other = columns.data() + Index(t) * rows_;
        fresh = !copies(own, other, 1) && !copies(own, other, -1);
      }
      if (!fresh) continue;
      slopes.push_back(slopes_[k]);
      columns.insert(columns.end(), own, own + rows_);
    }
    slopes_ = std::move(slopes);
    columns_ = std::move(columns);
  }
  // Columns times sqrt(s |y|), scaled by powers of two to lengths near one.
  void weigh(CVec weights) {
    weighted_ = columns_;
    for (std::size_t k = 0; k < slopes_.size(); ++k) {
      Real* own = weighted_.data() + Index(k) * rows_;
      for (Index i = 0; i < rows_; ++i) own[i] *= std::sqrt(weights[i]);
      const Real length = std::sqrt(kernels::dot(own, own, rows_));
      const Real scale = length > 0 && std::isfinite(length) ? std::exp2(-std::round(std::log2(length))) : 1;
      scale_.push_back(scale);
      for (Index i = 0; i < rows_; ++i) own[i] *= scale;
    }
  }
  const Real* scaled(std::size_t k) const { return weighted_.data() + Index(k) * rows_; }
  Real largest_row() const { // max_i sum_j |a_ij| scale_j
    Real most = 0;
    for (Index i = 0; i < rows_; ++i) {
      Real total = 0;
      for (std::size_t k = 0; k < slopes_.size(); ++k)
        total += std::abs(columns_[std::size_t(Index(k) * rows_ + i)]) * scale_[k];
      most = std::max(most, total);
    }
    return rounding::of_sum(Index(slopes_.size()), most) + most;
  }

  Index rows_;
  std::vector<Real> columns_, slopes_, weighted_, scale_;
};

// `part`: the relative distance 2 theta from y. `loss`: an additional decrease of D.
struct ZeroedSlopes {
  Real part = 0, loss = 0;
};

// Makes the slopes of open features zero: see zero_slopes.
class Zeroing {
public:
  Zeroing(const LinearProblem& problem, CVec y, Vec slopes, Vec sizes, Index terms, Real rounded, Real part)
      : problem_(problem), s_(problem.losses().weights()), k_(problem.width()), y_(y), slopes_(slopes),
        sizes_(sizes), terms_(terms), rounded_(rounded), part_(part) {}

  // Of one column of y, where margins do not compete.
  ZeroedSlopes column(std::span<const Index> open, Index c) const {
    for (const Real guess : {1e-12, 1e-6, infinity}) { // of the part that will be found
      std::vector<Index> names, kept;
      for (const Index j : open) {
        const Real slope = slopes_[j * k_ + c];
        const bool free =
            (problem_.open(j, 1) && problem_.open(j, -1)) || (slope != 0 && problem_.open(j, -slope));
        (free || !(std::abs(slope) > 2 * off(j * k_ + c, guess)) ? names : kept).push_back(j);
      }
      if (names.empty()) return {};
      if (problem_.has_intercept()) names.push_back(problem_.features());
      if (std::all_of(names.begin(), names.end(), [&](Index j) { return sizes_[j * k_ + c] == 0; }))
        return {}; // sums without terms are zero
      if (too_many(Index(names.size()), problem_.design.rows())) break;
      FreeRows rows{problem_.design.rows(), gathered(names), {}};
      for (Index i = 0; i < rows.rows; ++i) rows.weights.push_back(s_[i] * std::abs(y_[i * k_ + c]));
      std::vector<Real> bounds;
      for (const Index j : names) bounds.push_back(bound(j * k_ + c));
      ZeroedSlopes found{ZeroSlopes(std::move(rows), std::move(bounds)).part(), 0};
      if (std::any_of(kept.begin(), kept.end(), [&](Index j) {
            return !(std::abs(slopes_[j * k_ + c]) > 2 * off(j * k_ + c, found.part));
          }))
        continue;
      for (const Index j : names) // they are zero at the point that was found
        found.loss += vanish(j, c, found.part);
      return found;
    }
    return {infinity, 0};
  }
  // Of all classes together; the features are open both ways.
  ZeroedSlopes classes(std::span<const Index> open) const {
    std::vector<Index> names(open.begin(), open.end());
    if (problem_.has_intercept()) names.push_back(problem_.features());
    if (too_many(Index(names.size()) * (k_ - 1), problem_.design.rows() * k_)) return {infinity, 0};
    const std::vector<Real> columns = gathered(names);
    const std::span<const Index> labels = problem_.losses().labels();
    const Index n = problem_.design.rows();
    FreeRows rows{n * k_, std::vector<Real>(names.size() * std::size_t((k_ - 1) * n * k_)), {}};
    std::vector<Real> bounds;
    for (std::size_t t = 0; t < names.size(); ++t)
      for (Index e = 1; e < k_; ++e) {
        Real* own = rows.columns.data() + Index(bounds.size()) * rows.rows;
        for (Index i = 0; i < n; ++i) {
          const Real a = columns[t * std::size_t(n) + std::size_t(i)];
          for (Index c = 0; c < k_; ++c)
            if (c != labels[i]) own[i * k_ + c] = labels[i] == e ? -a : c == e ? a : 0;
        }
        bounds.push_back(bound(names[t] * k_ + e));
      }
    for (Index i = 0; i < n; ++i)
      for (Index c = 0; c < k_; ++c) rows.weights.push_back(c == labels[i] ? 0 : s_[i] * y_[i * k_ + c]);
    const ZeroedSlopes found{ZeroSlopes(std::move(rows), std::move(bounds)).part(), 0};
    for (const Index j : names)
      for (Index c = 0; c < k_; ++c) vanish(j, c, found.part);
    return found;
  }

private:
  static bool too_many(Index columns, Index rows) {
    return columns > 2000 || columns * rows > 50'000'000; // more would dominate the time of the certificate
  }
  // What a slope may be at most, y being within `rounded` of a point of the domain.
  Real bound(Index e) const {
    return std::abs(slopes_[e]) + rounding::of_sum(terms_, sizes_[e]) + 1.01 * rounded_ * sizes_[e];
  }
  Real off(Index e, Real own) const {
    return rounding::of_sum(terms_, sizes_[e]) + 1.01 * (part_ + own) * sizes_[e];
  }
  // Sets a slope to zero. With one bound, a nearby point may have a slope of the allowed sign, for which D is
  // lower by what is returned.
  Real vanish(Index j, Index c, Real part) const {
    const Index e = j * k_ + c;
    const Real end = j < problem_.features() ? problem_.end(j) : infinity;
    const Real loss = std::isfinite(end) ? 1.01 * (std::abs(slopes_[e]) + off(e, part)) * std::abs(end) : 0;
    slopes_[e] = sizes_[e] = 0;
    return loss;
  }
  std::vector<Real> gathered(std::span<const Index> names) const { // the columns, constants included
    const Design& design = problem_.design;
    const Index n = design.rows();
    std::vector<Real> columns(names.size() * std::size_t(n));
    Columns gathered;
    design.gather(names, design.lies_by_rows() ? design.column_sizes() : std::vector<std::uint32_t>(),
                  gathered);
    gathered.visit([&](const auto& store) {
      for (std::size_t k = 0; k < names.size(); ++k) {
        Real* own = columns.data() + Index(k) * n;
        std::fill_n(own, n, design.constant(names[k]));
        store[Index(k)].visit([&](Index i, Real a) { own[i] += a; });
      }
    });
    return columns;
  }

  const LinearProblem& problem_;
  CVec s_;
  Index k_;
  CVec y_;
  Vec slopes_, sizes_;
  Index terms_;
  Real rounded_, part_;
};

// For features without a penalty and with at most one bound, and the intercept if there are such features.
// Sets their `slopes` to zero, as they are at the point that was found. If there are none, nothing is done,
// since an intercept alone is balanced (see LossSum::imbalance). A feature with one bound may have a slope
// of one sign: it keeps its slope if that is larger than its error, which is at most `part` plus the part
// found here, times its terms. y is within `rounded` of its domain.
inline ZeroedSlopes zero_slopes(const LinearProblem& problem, std::span<const Index> open, Vec y, Vec slopes,
                                Vec sizes, Index terms, Real rounded, Real part) {
  if (open.empty()) return {};
  const Zeroing zeroing(problem, y, slopes, sizes, terms, rounded, part);
  if (problem.losses().coupled()) return zeroing.classes(open);
  ZeroedSlopes all;
  for (Index c = 0; c < problem.width(); ++c) {
    const ZeroedSlopes one = zeroing.column(open, c);
    if (!(one.part < 0.5)) { // y is zero there: one column must not void the bound of all
      for (Index i = 0; i < problem.design.rows(); ++i) y[i * problem.width() + c] = 0;
      for (Index j = 0; j < problem.design.cols(); ++j)
        slopes[j * problem.width() + c] = sizes[j * problem.width() + c] = 0;
      continue;
    }
    all.part = std::max(all.part, one.part);
    all.loss += one.loss;
  }
  return all;
}

} // namespace southwell
