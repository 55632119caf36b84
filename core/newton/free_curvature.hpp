// Conjugate gradients on blocks are preconditioned by the diagonal of the curvature. Where the penalty has no
// kinks, only l2 or nothing at all, that may take many steps: columns are correlated, and differ from an
// intercept by little. So for a moderate number of such columns F (and the intercept) the curvature of each
// margin c,
//
//     G_c = A_F' diag(h_c) A_F + diag(l2),     h_c the diagonal of the loss's curvature,
//
// is factored, and its inverse takes the place of the diagonal's. Where margins do not compete this is exact.
//
// To form G_c costs as much as some steps of conjugate gradients. It is formed once as many have been made
// since it last was ("rent or buy": at most twice the price of the better choice is paid), or always where it
// is cheap and a column has no penalty at all. In between the last one serves, with the present l2.
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
    Real l2;
    bool operator==(const Member&) const = default;
  };

  // For these columns; `entries` is the cost of a product.
  void begin(const Design& design, const LossSum& loss, const std::vector<Member>& members, Index entries,
             const Policy& policy) {
    if (members == members_) return;
    const bool same = std::equal(
        members.begin(), members.end(), members_.begin(), members_.end(),
        [](const Member& a, const Member& b) { return a.feature == b.feature && a.place == b.place; });
    members_ = members;
    factors_.clear();
    if (same) return;
    design_ = &design;
    loss_ = &loss;
    matrices_.clear();
    table_.clear();
    const Real m = Real(members.size()), n = Real(design.rows()), k = Real(loss.width()),
               forms = loss.quadratic() ? 1 : k,
               price = m * m * n * forms / (policy.free_pairs * Real(entries) * k); // in steps
    possible_ = m > 0 && m <= policy.free_columns && m * std::max(n, m * forms) <= policy.free_entries &&
                price <= policy.free_price;
    const bool loose = std::any_of(members.begin(), members.end(), [&](const Member& member) {
      return member.l2 == 0 && member.feature < design.cols() - 1;
    });
    due_ = Index(!loose ? price : price <= policy.free_at_once ? 0 : policy.free_trial);
    steps_ = 0;
  }
  // How many steps conjugate gradients should try before a first G_c is formed; `most`: as many as they like.
  Index trial(Index least, Index most) const {
    return possible_ && matrices_.empty() ? std::clamp(due_ - steps_, least, most) : most;
  }
  void stepped(Index steps) { steps_ += steps; }

  // Factors G_c, formed for the curvature h of the loss if that is due; true if `spend(entries)` says to
  // stop. A curvature that never changes is formed once, and is the same for all margins.
  template <class Spend> bool factor(CVec h, Spend&& spend) {
    if (!possible_) return false;
    if (steps_ >= due_ && !(loss_->quadratic() && !matrices_.empty()) && form(h, spend)) return true;
    if (!factors_.empty()) return false;
    for (const std::vector<Real>& matrix : matrices_) factors_.emplace_back(matrix, members_);
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

    Factor(const std::vector<Real>& matrix, const std::vector<Member>& members) {
      const Index m = Index(members.size());
      std::vector<Real> row(static_cast<std::size_t>(m));
      for (Index t = 0; t < m; ++t) {
        const Real square = matrix[t * m + t] + members[t].l2, length = std::sqrt(square);
        if (!(square > 0) || !std::isfinite(square)) continue;
        for (std::size_t a = 0; a < kept.size(); ++a) row[a] = matrix[t * m + kept[a]] / length / lengths[a];
        row[kept.size()] = 1;
        if (!cholesky.append(row.data(), 1e-12)) continue;
        kept.push_back(t);
        lengths.push_back(length);
      }
    }
  };

  template <class Spend> bool form(CVec h, Spend&& spend) {
    if (table_.empty()) gather();
    const Index n = design_->rows(), k = loss_->width(), m = Index(members_.size());
    factors_.clear();
    matrices_.clear();
    steps_ = 0;
    std::vector<Real> weighted(table_.size()), own(static_cast<std::size_t>(n)), inverse(own.size());
    for (Index i = 0; i < (loss_->coupled() ? n : 0); ++i) {
      const Real total = std::reduce(h.data() + i * k, h.data() + (i + 1) * k);
      if (total > 0) inverse[i] = 1 / total;
    }
    for (Index c = 0; c < (loss_->quadratic() ? 1 : k); ++c) {
      for (Index i = 0; i < n; ++i) own[i] = h[i * k + c] * (1 - h[i * k + c] * inverse[i]);
      for (Index t = 0; t < m; ++t)
        for (Index i = 0; i < n; ++i) weighted[t * n + i] = own[i] * table_[t * n + i];
      std::vector<Real>& matrix = matrices_.emplace_back(std::size_t(m * m), 0.0);
      add_products(weighted.data(), table_.data(), n, 0, m, matrix.data(), m);
      if (!spend(m * m * n / 16)) continue;
      matrices_.clear();
      return true;
    }
    return false;
  }
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
  bool possible_ = false;
  Index due_ = 0, steps_ = 0; // of conjugate gradients: after so many G_c is formed; those since it last was
  std::vector<Real> table_;   // the columns, one after the other
  std::vector<std::vector<Real>> matrices_; // G_c without l2; lower triangles
  std::vector<Factor> factors_;
};

} // namespace southwell
