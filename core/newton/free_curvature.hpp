// Conjugate gradients on blocks are preconditioned by the diagonal of the curvature. Where nothing is
// penalised that may not be enough: columns are correlated, and differ from an intercept by little. So for a
// moderate number of such columns F (features without a penalty, and the intercept) the curvature of each
// margin c,
//
//     G_c = A_F' diag(h_c) A_F,     h_c the diagonal of the loss's curvature,
//
// is factored, and its inverse takes the place of the diagonal's. Where margins do not compete this is exact.
// If that costs more than some steps of conjugate gradients, they are tried first.
#pragma once
#include "core/design/design.hpp"
#include "core/loss_sum.hpp"
#include "core/policy.hpp"
#include "core/support/cholesky.hpp"
#include "core/support/products.hpp"

namespace southwell {

class FreeCurvature {
public:
  struct Member {
    Index feature, place; // of the first of its k numbers in a vector
    bool operator==(const Member&) const = default;
  };

  // For these columns; `entries` is the cost of a product.
  void begin(const Design& design, const LossSum& loss, const std::vector<Member>& members, Index entries,
             const Policy& policy) {
    if (members == members_) return;
    members_ = members;
    design_ = &design;
    loss_ = &loss;
    factors_.clear();
    table_.clear();
    const Real m = Real(members.size()), n = Real(design.rows()), k = Real(loss.width());
    const Real price =
        m * m * n * (loss.quadratic() ? 1 : k) / (policy.free_pairs * Real(entries) * k); // in steps
    possible_ =
        m > 0 && m <= policy.free_columns && m * n <= policy.free_entries && price <= policy.free_price;
    wanted_ = price <= policy.free_at_once;
  }
  bool waiting() const { return possible_ && !wanted_; }
  void want() { wanted_ = true; }

  // Factors G_c for the curvature h of the loss; true if `spend(entries)` says to stop. A curvature that
  // never changes is factored once, and is the same for all margins.
  template <class Spend> bool factor(CVec h, Spend&& spend) {
    if (!possible_ || !wanted_ || (loss_->quadratic() && !factors_.empty())) return false;
    if (table_.empty()) gather();
    const Index n = design_->rows(), k = loss_->width(), m = Index(members_.size());
    factors_.clear();
    std::vector<Real> weighted(table_.size()), matrix(std::size_t(m * m)), own(static_cast<std::size_t>(n));
    for (Index c = 0; c < (loss_->quadratic() ? 1 : k); ++c) {
      for (Index i = 0; i < n; ++i) {
        const Real* at = h.data() + i * k;
        const Real total = loss_->coupled() ? std::reduce(at, at + k) : 0;
        own[i] = at[c] - (total > 0 ? at[c] * at[c] / total : 0);
      }
      for (std::size_t e = 0; e < table_.size(); ++e) weighted[e] = own[e % own.size()] * table_[e];
      std::fill(matrix.begin(), matrix.end(), 0.0);
      add_products(weighted.data(), table_.data(), n, 0, m, matrix.data(), m);
      factors_.emplace_back(matrix, m);
      if (!spend(m * m * n / 16)) continue;
      factors_.clear();
      return true;
    }
    return false;
  }
  // Replaces numbers of `out`, which holds a preconditioner of r, by G_c^-1 r_c; returns by how much <r, out>
  // changes.
  Real times(CVec r, Vec out) const {
    if (factors_.empty()) return 0;
    Real change = 0;
    std::vector<Real> own;
    for (Index c = 0; c < loss_->width(); ++c) {
      const auto& [kept, lengths, cholesky] = factors_[std::size_t(c) % factors_.size()];
      own.resize(kept.size());
      for (std::size_t a = 0; a < own.size(); ++a) own[a] = r[members_[kept[a]].place + c] / lengths[a];
      cholesky.solve(own.data());
      for (std::size_t a = 0; a < own.size(); ++a) {
        const Index e = members_[kept[a]].place + c;
        const Real to = own[a] / lengths[a];
        change += r[e] * (to - std::exchange(out[e], to));
      }
    }
    return change;
  }

private:
  struct Factor { // of the columns that are no combinations of others, scaled to length one
    std::vector<Index> kept;
    std::vector<Real> lengths;
    Cholesky cholesky;

    Factor(const std::vector<Real>& matrix, Index m) {
      std::vector<Real> row(static_cast<std::size_t>(m));
      for (Index t = 0; t < m; ++t) {
        const Real square = matrix[t * m + t], length = std::sqrt(square);
        if (!(square > 0) || !std::isfinite(square)) continue;
        for (std::size_t a = 0; a < kept.size(); ++a) row[a] = matrix[t * m + kept[a]] / length / lengths[a];
        row[kept.size()] = 1;
        if (!cholesky.append(row.data(), 1e-12)) continue;
        kept.push_back(t);
        lengths.push_back(length);
      }
    }
  };

  void gather() {
    std::vector<Index> names;
    for (const Member& member : members_) names.push_back(member.feature);
    Columns columns;
    design_->gather(names, design_->lies_by_rows() ? design_->column_sizes() : std::vector<std::uint32_t>(),
                    columns);
    const Index n = design_->rows();
    table_.resize(names.size() * std::size_t(n));
    columns.visit([&](const auto& store) {
      for (std::size_t t = 0; t < names.size(); ++t) {
        Real* own = table_.data() + Index(t) * n;
        std::fill_n(own, n, design_->constant(names[t]));
        store[Index(t)].visit([&](Index i, Real a) { own[i] += a; });
        // A column that is constant up to rounding is none after centring.
        const Real constant = design_->constant(names[t]);
        if (constant != 0 && kernels::dot(own, own, n) <= 1e-13 * Real(n) * constant * constant)
          std::fill_n(own, n, 0.0);
      }
    });
  }

  const Design* design_ = nullptr;
  const LossSum* loss_ = nullptr;
  std::vector<Member> members_;
  bool possible_ = false, wanted_ = false;
  std::vector<Real> table_; // the columns, one after the other
  std::vector<Factor> factors_;
};

} // namespace southwell
