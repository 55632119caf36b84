// Conjugate gradients on blocks are preconditioned by the diagonal of the curvature. Where the penalty has no
// kinks, only l2 or nothing at all, that may take many steps: columns are correlated, and differ from an
// intercept by little. So for a moderate number of such columns F (and the intercept) the curvature of each
// margin c,
//
//     G_c = A_F' diag(h_c) A_F + diag(curvature of the penalty),     h_c the diagonal of the loss's
//     curvature,
//
// is factored, and its inverse takes the place of the diagonal's. Where margins do not compete this is exact.
//
// To form A_F' diag(h_c) A_F costs as much as some steps of conjugate gradients. It is formed once as many
// have been made since it last was ("rent or buy": no more than twice the price of the better choice is
// paid), or each time, where it is cheap and a column has no penalty at all. In between the last one serves,
// with the present penalty.
#pragma once
#include "core/design/design.hpp"
#include "core/loss_sum.hpp"
#include "core/policy.hpp"
#include "core/support/cholesky.hpp"
#include "core/support/products.hpp"

namespace southwell {

class MarginCurvature {
public:
  struct Member {
    Index feature, place; // of the first of its k numbers in a vector
  };
  struct Members { // features in an order to which later ones are appended; the intercept, if there is one,
                   // last
    std::vector<Member> all;
    bool intercept = false;
    bool loose = false; // has a feature no penalty at all?
  };

  // For these columns; `entries` is the cost of a product.
  void begin(const Design& design, const LossSum& loss, Members members, Index entries,
             const Policy& policy) {
    design_ = &design;
    loss_ = &loss;
    if (const Index before = features(members_);
        before > features(members) ||
        !std::equal(members_.all.begin(), members_.all.begin() + before, members.all.begin(), same))
      forget();
    members_ = std::move(members);
    const Real m = Real(members_.all.size()), n = Real(design.rows()), k = Real(loss.width()),
               forms = loss.quadratic() ? 1 : k,
               price = m * m * n * forms / (policy.free_pairs * Real(entries) * k); // in steps
    possible_ = m > 0 && m <= policy.free_columns && m * std::max(n, m * forms) <= policy.free_entries &&
                price <= policy.free_price;
    due_ = Index(!members_.loose ? price : price <= policy.free_at_once ? 0 : policy.free_trial);
  }
  // How many steps conjugate gradients should try before G_c is first formed; `most`: as many as they like.
  Index trial(Index least, Index most) const {
    return possible_ && matrices_.empty() ? std::clamp(due_ - steps_, least, most) : most;
  }
  void stepped(Index steps) { steps_ += steps; }

  // Forms A_F' diag(h_c) A_F if that is due; true if `spend(entries)` says to stop. A curvature that never
  // changes is formed once, and is the same for all margins.
  template <class Spend> bool form(CVec h, Spend&& spend) {
    if (!possible_ || steps_ < due_ || (loss_->quadratic() && !matrices_.empty())) return false;
    const Index n = design_->rows(), k = loss_->width(), m = Index(members_.all.size());
    forget();
    const std::vector<Real> table = gathered();
    std::vector<Real> weighted(table.size()), own(static_cast<std::size_t>(n)), inverse(own.size());
    for (Index i = 0; i < (loss_->coupled() ? n : 0); ++i) {
      const Real total = std::reduce(h.data() + i * k, h.data() + (i + 1) * k);
      if (total > 0) inverse[i] = 1 / total;
    }
    for (Index c = 0; c < (loss_->quadratic() ? 1 : k); ++c) {
      for (Index i = 0; i < n; ++i) own[i] = h[i * k + c] * (1 - h[i * k + c] * inverse[i]);
      for (Index t = 0; t < m; ++t)
        for (Index i = 0; i < n; ++i) weighted[t * n + i] = own[i] * table[t * n + i];
      std::vector<Real>& matrix = matrices_.emplace_back(std::size_t(m * m), 0.0);
      add_products(weighted.data(), table.data(), n, 0, m, matrix.data(), m);
      if (!spend(m * m * n / 16)) continue;
      forget();
      return true;
    }
    formed_ = m - members_.intercept;
    stride_ = m;
    return false;
  }
  // Factors G_c where marks say so; `inverse` is that of `diagonal`, of the loss's curvature, with the
  // penalty's.
  void factor(CVec diagonal, CVec inverse, std::span<const char> marks) {
    if (matrices_.empty()) return;
    const Index k = loss_->width();
    std::vector<Real> penalty; // at numbers with a mark; others have a negative number
    bool alike = true;
    std::size_t at = 0;
    for (Index t = 0; t < stride_; ++t)
      for (Index c = 0; c < k; ++c, ++at) {
        const Index e = place(t) + c;
        penalty.push_back(marks[e] ? std::max(1 / inverse[e] - diagonal[e], 0.0) : -1);
        alike = alike && at < penalty_.size() && (penalty[at] < 0) == (penalty_[at] < 0) &&
                std::abs(penalty[at] - penalty_[at]) <= 1e-6 * std::abs(penalty[at]) + 1e-12 * diagonal[e];
      }
    if (alike && !factors_.empty()) return;
    penalty_ = std::move(penalty);
    factors_.clear();
    for (Index c = 0; c < k; ++c)
      factors_.emplace_back(matrices_[std::size_t(c) % matrices_.size()], stride_,
                            [&](Index t) { return penalty_[std::size_t(t * k + c)]; });
  }
  // Replaces numbers of `out`, which holds a preconditioner of r, by G_c^-1 r_c; returns by how much <r, out>
  // changes.
  Real times(CVec r, Vec out) const {
    Real change = 0;
    std::vector<Real> own;
    for (std::size_t c = 0; c < factors_.size(); ++c) {
      const auto& [kept, lengths, cholesky] = factors_[c];
      own.resize(kept.size());
      for (std::size_t a = 0; a < own.size(); ++a) own[a] = r[place(kept[a]) + Index(c)] / lengths[a];
      cholesky.solve(own.data());
      for (std::size_t a = 0; a < own.size(); ++a) {
        const Index e = place(kept[a]) + Index(c);
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

    template <class Penalty> Factor(const std::vector<Real>& matrix, Index m, Penalty&& penalty) {
      std::vector<Real> row(static_cast<std::size_t>(m));
      for (Index t = 0; t < m; ++t) {
        if (penalty(t) < 0) continue;
        const Real square = matrix[t * m + t] + penalty(t), length = std::sqrt(square);
        if (!(square > 0) || !std::isfinite(square)) continue;
        for (std::size_t a = 0; a < kept.size(); ++a) row[a] = matrix[t * m + kept[a]] / length / lengths[a];
        row[kept.size()] = 1;
        if (!cholesky.append(row.data(), 1e-12)) continue;
        kept.push_back(t);
        lengths.push_back(length);
      }
    }
  };

  static bool same(const Member& a, const Member& b) { return a.feature == b.feature; }
  static Index features(const Members& members) { return Index(members.all.size()) - members.intercept; }
  // Where line t of the matrices is now: features may have joined before the intercept.
  Index place(Index t) const { return t < formed_ ? members_.all[t].place : members_.all.back().place; }
  void forget() {
    matrices_.clear();
    factors_.clear();
    penalty_.clear();
    steps_ = 0;
  }
  // The columns, one after the other.
  std::vector<Real> gathered() const {
    std::vector<Index> names;
    for (const Member& member : members_.all) names.push_back(member.feature);
    Columns columns;
    design_->gather(names, design_->lies_by_rows() ? design_->column_sizes() : std::vector<std::uint32_t>(),
                    columns);
    const Index n = design_->rows();
    std::vector<Real> table(names.size() * std::size_t(n));
    columns.visit([&](const auto& store) {
      for (std::size_t t = 0; t < names.size(); ++t) {
        Real* own = table.data() + Index(t) * n;
        std::fill_n(own, n, design_->constant(names[t]));
        store[Index(t)].visit([&](Index i, Real a) { own[i] += a; });
        // A column that is constant up to rounding is none after centring.
        const Real constant = design_->constant(names[t]);
        if (constant != 0 && kernels::dot(own, own, n) <= 1e-13 * Real(n) * constant * constant)
          std::fill_n(own, n, 0.0);
      }
    });
    return table;
  }

  const Design* design_ = nullptr;
  const LossSum* loss_ = nullptr;
  Members members_;
  bool possible_ = false;
  Index due_ = 0, steps_ = 0; // of conjugate gradients: after so many it is formed; those since it last was
  Index formed_ = 0;          // features in the matrices
  Index stride_ = 0;          // and the intercept
  std::vector<std::vector<Real>> matrices_; // A_F' diag(h_c) A_F, lower triangles
  std::vector<Real> penalty_;               // its curvature in the factors, see `factor`
  std::vector<Factor> factors_;
};

} // namespace southwell
