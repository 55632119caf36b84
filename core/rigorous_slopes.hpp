// The slopes of unpenalised features U must be zero. This bounds the distance from y to a point with such
// slopes.
//
// Let w solve M w = A_U'(s o y) for M = A_U' diag(s |y|) A_U. Then y' = y - |y| o (A_U w) has slopes of zero,
// and each y'_i differs from y_i by at most theta |y_i|, theta = max_i |a_iU'w|. Scaled by 1 -
// theta it is between 0 and y, so it is in dom phi*. To bound w without knowing it, an approximate inverse R
// of M is enough (Rump, "Verification methods", Acta Numerica 2010, section 10.2): if alpha = ||I - R M|| <
// 1, in the maximum norm and with all rounding errors, then |w| <= ||R z|| / (1 - alpha).
#pragma once
#include "core/problem.hpp"
#include "core/support/cholesky.hpp"
#include "core/support/rounding.hpp"

namespace southwell {

class ZeroSlopes {
public:
  ZeroSlopes(const Problem& problem, std::vector<Index> names, CVec y)
      : problem_(problem), rows_(problem.design.rows()), names_(std::move(names)) {
    gather();
    drop_copies();
    weigh(y);
  }

  // 2 theta, or infinity if it cannot be bounded. `slopes` and `sizes` are A'(s o y) and |A|'(s o |y|).
  Real part(CVec slopes, CVec sizes, Index terms) const {
    const std::size_t m = names_.size();
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
        const Real slope = std::abs(slopes[names_[c]]) + rounding::of_sum(terms, sizes[names_[c]]);
        along += std::abs(own[c]) * scale_[c] * slope;
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
  void gather() { // the columns, constants included
    const Design& design = problem_.design;
    const std::size_t m = names_.size();
    columns_.assign(m * std::size_t(rows_), 0.0);
    if (m == 0) return;
    Columns gathered;
    design.gather(names_, design.lies_by_rows() ? design.column_sizes() : std::vector<std::uint32_t>(),
                  gathered);
    gathered.visit([&](const auto& store) {
      for (std::size_t k = 0; k < m; ++k) {
        Real* own = columns_.data() + Index(k) * rows_;
        std::fill_n(own, rows_, design.constant(names_[k]));
        store[Index(k)].visit([&](Index i, Real a) { own[i] += a; });
      }
    });
  }
  // Drops zero columns, and copies of others up to the sign, which have the same slope.
  void drop_copies() {
    std::vector<Index> kept;
    std::vector<Real> columns;
    const auto copies = [&](const Real* own, const Real* other, Real sign) {
      for (Index i = 0; i < rows_; ++i)
        if (own[i] != sign * other[i]) return false;
      return true;
    };
    for (std::size_t k = 0; k < names_.size(); ++k) {
      const Real* own = columns_.data() + Index(k) * rows_;
      bool fresh = std::any_of(own, own + rows_, [](Real a) { return a != 0; });
      for (std::size_t t = 0; fresh && t < kept.size(); ++t) {
        const Real* other = columns.data() + Index(t) * rows_;
        fresh = !copies(own, other, 1) && !copies(own, other, -1);
      }
      if (!fresh) continue;
      kept.push_back(names_[k]);
      columns.insert(columns.end(), own, own + rows_);
    }
    names_ = std::move(kept);
    columns_ = std::move(columns);
  }
  // Columns times sqrt(s |y|), scaled by powers of two to lengths near one.
  void weigh(CVec y) {
    const CVec s = problem_.loss.weights();
    weighted_ = columns_;
    for (std::size_t k = 0; k < names_.size(); ++k) {
      Real* own = weighted_.data() + Index(k) * rows_;
      for (Index i = 0; i < rows_; ++i) own[i] *= std::sqrt(s[i] * std::abs(y[i]));
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
      for (std::size_t k = 0; k < names_.size(); ++k)
        total += std::abs(columns_[std::size_t(Index(k) * rows_ + i)]) * scale_[k];
      most = std::max(most, total);
    }
    return rounding::of_sum(Index(names_.size()), most) + most;
  }

  const Problem& problem_;
  Index rows_;
  std::vector<Index> names_;
  std::vector<Real> columns_, weighted_, scale_;
};

// `part`: the relative distance 2 theta from y. `loss`: an additional decrease of D.
struct ZeroedSlopes {
  Real part = 0, loss = 0;
};

// For features without a penalty and with at most one bound, and the intercept if there are such features.
// Sets their `slopes` to zero, as they are at the point that was found. If there are none, nothing is done,
// since an intercept alone is balanced (see SampleLoss::imbalance). A feature with one bound may have a slope
// of one sign: it keeps its slope if that is larger than its error, which is at most `part` plus the part
// found here, times its terms.
inline ZeroedSlopes zero_slopes(const Problem& problem, CVec y, Vec slopes, Vec sizes, Index terms,
                                Real part) {
  const auto open = [&](Index j, Real v) { return problem.penalty[j].feasible_scale(v) == 0; };
  const auto off = [&](Index j, Real own) {
    return rounding::of_sum(terms, sizes[j]) + 1.01 * (part + own) * sizes[j];
  };
  const Index most = 50'000'000; // numbers; more would dominate the time of the certificate
  for (const Real guess : {1e-12, 1e-6, infinity}) { // of the part that will be found
    std::vector<Index> names, kept;
    for (Index j = 0; j < problem.penalty.penalised(); ++j) {
      if (!open(j, 1) && !open(j, -1)) continue;
      const bool free = (open(j, 1) && open(j, -1)) || open(j, -slopes[j]);
      (free || !(std::abs(slopes[j]) > 2 * off(j, guess)) ? names : kept).push_back(j);
    }
    if (names.empty()) return {};
    if (problem.has_intercept()) names.push_back(problem.penalty.penalised());
    if (Index(names.size()) > 2000 || Index(names.size()) * problem.design.rows() > most)
      return {infinity, 0};
    ZeroedSlopes found{ZeroSlopes(problem, names, y).part(slopes, sizes, terms), 0};
    if (std::any_of(kept.begin(), kept.end(),
                    [&](Index j) { return !(std::abs(slopes[j]) > 2 * off(j, found.part)); }))
      continue;
    for (const Index j : names) { // they are zero at the point that was found
      const Interval box = problem.penalty[j].domain();
      const Real end = std::isfinite(box.lo) ? box.lo : box.hi;
      // With one bound, a nearby point may have a slope of the allowed sign, for which D is lower by this
      // much.
      if (std::isfinite(end)) found.loss += 1.01 * (std::abs(slopes[j]) + off(j, found.part)) * std::abs(end);
      slopes[j] = sizes[j] = 0;
    }
    return found;
  }
  return {infinity, 0};
}

} // namespace southwell
