// Conjugate gradients on blocks are preconditioned by the diagonal of the curvature. Where nothing is
// penalised that may not be enough: columns are correlated, and differ from an intercept by little. So for a
// moderate number of such columns F (features without a penalty, and the intercept) the curvature of each
// margin c,
//
//     G_c = A_F' diag(h_c) A_F,     h_c the diagonal of the loss's curvature,
//
// is factored, and its inverse takes the place of the diagonal's. Where margins do not compete this is exact.
#pragma once
#include "core/loss_sum.hpp"
#include "core/newton/block_steps.hpp"
#include "core/support/cholesky.hpp"

namespace southwell {

class FreeCurvature {
public:
  struct Member {
    Index feature, place; // of the first of its k numbers in a vector
    bool operator==(const Member&) const = default;
  };

  // Gathers these columns, unless they are those it has, or too many; `entries` is the cost of a product.
  void gather(const Design& design, const std::vector<Member>& members, Index k, Index entries) {
    if (members == members_) return;
    k_ = k;
    members_ = members;
    factors_.clear();
    table_.clear();
    n_ = design.rows();
    const Real m = Real(members.size());
    if (members.empty() || m > 1000 || m * Real(n_) > 2e7 ||
        m * m * Real(n_ * k) / 16 > 100 * Real(entries * k))
      return;
    std::vector<Index> names;
    for (const Member& member : members) names.push_back(member.feature);
    Columns columns;
    design.gather(names, design.lies_by_rows() ? design.column_sizes() : std::vector<std::uint32_t>(),
                  columns);
    table_.assign(members.size() * std::size_t(n_), 0.0);
    columns.visit([&](const auto& store) {
      for (std::size_t t = 0; t < names.size(); ++t) {
        Real* own = table_.data() + Index(t) * n_;
        std::fill_n(own, n_, design.constant(names[t]));
        store[Index(t)].visit([&](Index i, Real a) { own[i] += a; });
      }
    });
  }
  bool empty() const { return table_.empty(); }

  // Factors G_c for the curvature h of the loss, k numbers for each sample; true if `spend(entries)` says to
  // stop. A curvature that never changes is factored once, and is the same for all margins.
  template <class Spend> bool factor(const LossSum& loss, CVec h, Spend&& spend) {
    if (empty() || (loss.quadratic() && !factors_.empty())) return false;
    const Index k = loss.width(), m = Index(members_.size());
    factors_.clear();
    std::vector<Real> own(static_cast<std::size_t>(n_)), weighted(own.size()), row(std::size_t(m + 1));
    for (Index c = 0; c < (loss.quadratic() ? 1 : k); ++c) {
      for (Index i = 0; i < n_; ++i) {
        const Real* at = h.data() + i * k;
        const Real total = loss.coupled() ? std::reduce(at, at + k) : 0;
        own[i] = at[c] - (total > 0 ? at[c] * at[c] / total : 0);
      }
      Factor& factor = factors_.emplace_back();
      for (Index t = 0; t < m; ++t) {
        for (Index i = 0; i < n_; ++i) weighted[i] = own[i] * column(t)[i];
        const Real square = kernels::dot(weighted.data(), column(t), n_);
        if (!(square > 0) || !std::isfinite(square)) continue;
        const Real length = std::sqrt(square);
        const std::size_t before = factor.kept.size();
        for (std::size_t a = 0; a < before; ++a)
          row[a] = kernels::dot(weighted.data(), column(factor.kept[a]), n_) / length / factor.lengths[a];
        row[before] = 1;
        if (!factor.cholesky.append(row.data(), 1e-12)) continue; // a combination of others
        factor.kept.push_back(t);
        factor.lengths.push_back(length);
      }
      if (spend(m * m * n_ / 16)) {
        factors_.clear();
        return true;
      }
    }
    return false;
  }
  // Replaces numbers of `out`, which holds a preconditioner of r, by G_c^-1 r_c; returns by how much <r, out>
  // changes.
  Real times(CVec r, Vec out) const {
    if (factors_.empty()) return 0;
    Real change = 0;
    std::vector<Real> own;
    for (Index c = 0; c < k_; ++c) {
      const Factor& factor = factors_[std::size_t(c) % factors_.size()];
      own.resize(factor.kept.size());
      for (std::size_t a = 0; a < own.size(); ++a) own[a] = r[place(factor, a) + c] / factor.lengths[a];
      factor.cholesky.solve(own.data());
      for (std::size_t a = 0; a < own.size(); ++a) {
        Real& to = out[place(factor, a) + c];
        const Real before = std::exchange(to, own[a] / factor.lengths[a]);
        change += r[place(factor, a) + c] * (to - before);
      }
    }
    return change;
  }

private:
  struct Factor { // of the columns that are no combinations of others, scaled to length one
    std::vector<Index> kept;
    std::vector<Real> lengths;
    Cholesky cholesky;
  };
  const Real* column(Index t) const { return table_.data() + t * n_; }
  Index place(const Factor& factor, std::size_t a) const { return members_[factor.kept[a]].place; }

  std::vector<Member> members_;
  std::vector<Real> table_;
  std::vector<Factor> factors_;
  Index n_ = 0, k_ = 1;
};

} // namespace southwell
