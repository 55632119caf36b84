// Solves (A_S' diag(h) A_S + ridge) d = right on a support S: through a Cholesky factor where that is cheap,
// of as many rows as S has columns or as there are samples, else by conjugate gradients. For the squared loss
// h never changes: the factor is updated as features enter and leave. When it has changed, the factor of the
// old h makes a good preconditioner.
#pragma once
#include "core/newton/conjugate_gradients.hpp"
#include "core/newton/formed.hpp"
#include "core/newton/outer.hpp"
#include "core/newton/weighted_product.hpp"

namespace southwell {

class Hessian {
public:
  using Slots = FormedHessian::Slots;

  explicit Hessian(const Weighted& weighted)
      : weighted_(weighted), formed_(weighted), outer_(weighted), product_(weighted),
        patience_(int(weighted.policy.patience)) {}

  void forget() { // because h has changed
    formed_.changed();
    outer_.forget();
    current_ = false;
  }
  const FormedHessian& formed() const { return formed_; }
  void thin(Index every) { // until h changes, a rough H will do
    formed_.thin(every);
    current_ = false;
  }
  template <class Spend> void form(Slots slots, Spend&& spend) {
    if (!current_) factor_.drop(); // from here on it is of the present h
    current_ = true;
    formed_.form(slots, spend);
  }

  // Whether sweeps on H, formed, are cheaper than sweeps on the columns.
  bool sweeps_pay(Slots slots) const {
    Real stored = 0;
    for (const Index k : slots) stored += Real(columns().size(k));
    const Real size = Real(slots.size()), price = formed_.cost(slots);
    // Where a sweep on H is hardly cheaper, and H remains valid, it can wait until the support is known.
    if (weighted_.at.constant && samples() < policy().long_columns * size &&
        swept_meanwhile() * price > policy().hessian_price * stored)
      return false;
    return size <= policy().hessian_sweeps && size * size <= stored &&
           price <= policy().hessian_price * stored;
  }
  // How many entries would be swept in the time of a solution, about.
  Real cost(Slots support) const {
    const Estimate estimate(*this, support);
    return estimate.outer()                           ? estimate.outward
           : estimate.direct() && !columns().sparse() ? swept_meanwhile() * estimate.factoring
           : estimate.direct()                        ? estimate.priced
                                                      : policy().conjugate_gradients * estimate.stored;
  }

  // Solves in place. `spend(entries)` counts the work; if it returns true, the solution is abandoned.
  template <class Spend> void solve(Slots support, CVec ridge, Vec right, Spend&& spend) {
    const Estimate estimate(*this, support);
    if (estimate.outer() && bordered(support, ridge, right, spend)) return;
    if (!current_ && estimate.direct() && factor_.covers(support, columns().count(), policy().factor_alike) &&
        estimate.factoring > policy().old_factor_price * estimate.stored) {
      std::vector<Real> solution(right.begin(), right.end());
      if (conjugate_gradients(support, ridge, solution, int(policy().old_factor_steps), spend)) {
        std::copy(solution.begin(), solution.end(), right.begin());
        return;
      }
    }
    if (estimate.direct()) {
      form(support, spend);
      if (std::all_of(support.begin(), support.end(), [&](Index k) { return formed_.knows(k); }) &&
          factor_(formed_, columns().count(), support, ridge, spend))
        return factor_.solve(right);
    }
    conjugate_gradients(support, ridge, right, patience_, spend);
    patience_ = std::min(2 * patience_,
                         int(policy().most_patience)); // far from the solution precise steps are wasted
  }

private:
  const WorkingColumns& columns() const { return weighted_.columns; }
  const Policy& policy() const { return weighted_.policy; }
  Real samples() const { return Real(weighted_.at.h.size()); }
  // Entries that sweeps read in the time of one of a sparse column, the unit of estimates.
  Real swept_meanwhile() const {
    return columns().sparse() ? 1 : policy().dense_entries / (1 + policy().dense_visit / samples());
  }

  struct Estimate {
    Real size, stored = 0; // of the support's columns
    // Of forming H and factoring it, and the price at which that is done. A step on a support that still
    // changes is often in vain, the more so the larger it is. Sparse columns are often nearly dependent too,
    // and there a few conjugate gradients give better steps than an exact solution. (At the true price texts
    // with words of their own take 90 to 370 rounds instead of 15 to 22.)
    Real factoring, priced;
    Real samples, outward = infinity; // the same for matrices as large as there are samples
    const Policy& policy;
    Estimate(const Hessian& self, Slots support)
        : size(Real(support.size())), samples(Real(self.weighted_.at.h.size())), policy(self.policy()) {
      for (const Index k : support) stored += Real(self.columns().size(k));
      priced = self.formed_.cost(support) + size * size * size / policy.sparse_cube;
      factoring = self.columns().sparse()
                      ? priced
                      : self.formed_.cost(support) + Cholesky::cost(Index(support.size()));
      if (samples < size && samples * samples <= policy.outer_rows * stored)
        outward = self.outer_.cost(support);
    }
    bool outer() const {
      return outward < std::min(direct() ? factoring : infinity, policy.outer_price * stored);
    }
    bool direct() const {
      return size <= policy.factor_columns &&
             factoring <= std::max(policy.factor_price * stored, policy.factor_always);
    }
  };

  // Through OuterHessian. Columns that hardly a ridge holds, such as the intercept, are a border around it:
  // with B the others' part, V theirs with those, and C their own,
  //     x_L = (C - V'B^-1 V)^-1 (g_L - V'B^-1 g),    x = B^-1 g - B^-1 V x_L.
  // In the place of `right`; false, and nothing changes, if there are many of them, or it cannot be done.
  template <class Spend> bool bordered(Slots support, CVec ridge, Vec right, Spend&& spend) {
    std::vector<std::int32_t> firm, loose;
    std::vector<Real> firm_ridge, solution;
    for (std::size_t t = 0; t < support.size(); ++t)
      if (ridge[t] > policy().firm * weighted_.coordinates[support[t]].curvature) {
        firm.push_back(support[t]);
        firm_ridge.push_back(ridge[t]);
        solution.push_back(right[t]);
      } else {
        loose.push_back(std::int32_t(t));
      }
    const std::size_t border = loose.size();
    if (Real(border) > policy().border || !outer_.solve(firm, firm_ridge, solution, spend)) return false;
    std::vector<std::vector<Real>> across(border), solved(border); // V and B^-1 V, by column
    Cholesky own;
    std::vector<Real> ends(border), row(border + 1);
    const std::vector<Real> unit{1};
    for (std::size_t l = 0; l < border; ++l) {
      const std::int32_t slot = support[loose[l]];
      ends[l] = right[loose[l]];
      across[l].resize(firm.size());
      product_(firm, {&slot, 1}, unit, across[l]);
      solved[l] = across[l];
      if (!outer_.solve(firm, firm_ridge, solved[l], spend)) return false;
      for (std::size_t m = 0; m <= l; ++m) {
        const std::int32_t other = support[loose[m]];
        product_({&other, 1}, {&slot, 1}, unit, {&row[m], 1});
        row[m] += m == l ? ridge[loose[l]] : 0;
        for (std::size_t t = 0; t < firm.size(); ++t) row[m] -= across[l][t] * solved[m][t];
      }
      for (std::size_t t = 0; t < firm.size(); ++t) ends[l] -= across[l][t] * solution[t];
      if (!own.append(row.data())) return false;
    }
    own.solve(ends.data());
    for (std::size_t l = 0; l < border; ++l)
      for (std::size_t t = 0; t < firm.size(); ++t) solution[t] -= solved[l][t] * ends[l];
    for (std::size_t t = 0, f = 0, l = 0; t < support.size(); ++t)
      right[t] = l < border && loose[l] == std::int32_t(t) ? ends[l++] : solution[f++];
    return true;
  }

  // False if that takes more than `most` steps.
  template <class Spend>
  bool conjugate_gradients(Slots support, CVec ridge, Vec right, int most, Spend&& spend) {
    return southwell::conjugate_gradients(
        factor_, weighted_.coordinates, support, ridge, right, policy(), most,
        [&](CVec v, Vec image) { return product_(support, support, v, image); }, spend);
  }

  const Weighted& weighted_;
  FormedHessian formed_;
  OuterHessian outer_;
  WeightedProduct product_;
  bool current_ = false; // are H and its factor of the present h?
  int patience_;         // of conjugate gradients, in steps
  UpdatedFactor factor_;
};

} // namespace southwell
