// Solves (A_S' diag(h) A_S + ridge) d = right on a support S: through a Cholesky factor where that is cheap,
// of as many rows as S has columns or as there are samples, else by conjugate gradients. For the squared loss
// h never changes: the factor is updated as features enter and leave. When it has changed, the factor of the
// old h makes a good preconditioner.
#pragma once
#include "core/newton/formed.hpp"
#include "core/newton/outer.hpp"

namespace southwell {

class Hessian {
public:
  using Slots = FormedHessian::Slots;

  explicit Hessian(const Weighted& weighted)
      : weighted_(weighted), formed_(weighted), outer_(weighted), patience_(int(weighted.policy.patience)) {}

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
    if (!current_) drop_factor(); // from here on it is of the present h
    current_ = true;
    formed_.form(slots, spend);
  }

  // About how many entries a solution will touch.
  Real cost(Slots support) const {
    const Estimate estimate(*this, support);
    return estimate.outer()    ? estimate.outward
           : estimate.direct() ? estimate.priced
                               : policy().conjugate_gradients * estimate.stored;
  }

  // Solves in place. `spend(entries)` counts the work; if it returns true, the solution is abandoned.
  template <class Spend> void solve(Slots support, CVec ridge, Vec right, Spend&& spend) {
    const Estimate estimate(*this, support);
    if (estimate.outer() && bordered(support, ridge, right, spend)) return;
    if (!current_ && estimate.direct() && covers(support) &&
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
          factor(support, ridge, spend)) {
        std::vector<Real> ordered(support.size());
        for (std::size_t t = 0; t < support.size(); ++t) ordered[order_[t]] = right[t];
        factor_.solve(ordered.data());
        for (std::size_t t = 0; t < support.size(); ++t) right[t] = ordered[order_[t]];
        return;
      }
    }
    conjugate_gradients(support, ridge, right, patience_, spend);
    patience_ = std::min(2 * patience_,
                         int(policy().most_patience)); // far from the solution precise steps are wasted
  }

private:
  const WorkingColumns& columns() const { return weighted_.columns; }
  const Policy& policy() const { return weighted_.policy; }

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
      priced = self.formed_.cost(support) + size * size * size / 12;
      factoring = self.columns().sparse()
                      ? priced
                      : self.formed_.cost(support) + Cholesky::cost(Index(support.size()));
      if (samples < size && samples * samples <= stored / 4) outward = self.outer_.cost(support);
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
      if (ridge[t] > 1e-9 * weighted_.coordinates[support[t]].curvature) {
        firm.push_back(support[t]);
        firm_ridge.push_back(ridge[t]);
        solution.push_back(right[t]);
      } else {
        loose.push_back(std::int32_t(t));
      }
    const std::size_t border = loose.size();
    if (border > 8 || !outer_.solve(firm, firm_ridge, solution, spend)) return false;
    std::vector<std::vector<Real>> across(border), solved(border); // V and B^-1 V, by column
    Cholesky own;
    std::vector<Real> ends(border), row(border + 1);
    const std::vector<Real> unit{1};
    for (std::size_t l = 0; l < border; ++l) {
      const std::int32_t slot = support[loose[l]];
      ends[l] = right[loose[l]];
      across[l].resize(firm.size());
      multiply(firm, {&slot, 1}, unit, across[l]);
      solved[l] = across[l];
      if (!outer_.solve(firm, firm_ridge, solved[l], spend)) return false;
      for (std::size_t m = 0; m <= l; ++m) {
        const std::int32_t other = support[loose[m]];
        multiply({&other, 1}, {&slot, 1}, unit, {&row[m], 1});
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

  void drop_factor() {
    factor_.clear();
    factored_.clear();
  }
  // The factor of H + ridge on the support: those that left are removed, those that came appended. `order_`
  // then says where each of the support stands. False if H + ridge is not positive definite beyond rounding.
  template <class Spend> bool factor(Slots support, CVec ridge, Spend&& spend) {
    std::vector<std::int32_t> at(columns().count(), -1); // place in the support
    for (std::size_t t = 0; t < support.size(); ++t) at[support[t]] = std::int32_t(t);
    const auto gone = [&](const Member& member) {
      return at[member.slot] < 0 || ridge[at[member.slot]] != member.ridge;
    };
    const Index size = Index(factored_.size()),
                leaving = std::count_if(factored_.begin(), factored_.end(), gone);
    if (Real(leaving * size * size / 2) > Cholesky::cost(size))
      drop_factor(); // what removing them would cost
    if (!factored_.empty() && spend(leaving * size * size / 2)) return false;
    for (std::size_t k = factored_.size(); k-- > 0;)
      if (gone(factored_[k])) {
        factor_.remove(Index(k));
        factored_.erase(factored_.begin() + std::ptrdiff_t(k));
      }
    order_.assign(support.size(), -1);
    for (std::size_t k = 0; k < factored_.size(); ++k) order_[at[factored_[k].slot]] = std::int32_t(k);
    for (std::size_t t = 0; t < support.size(); ++t) {
      if (order_[t] >= 0) continue;
      order_[t] = std::int32_t(factored_.size());
      factored_.push_back({support[t], ridge[t]});
    }
    const auto row = [&](Index k, Real* to) {
      const Member& own = factored_[k];
      for (Index l = 0; l < k; ++l) to[l] = formed_(own.slot, factored_[l].slot);
      to[k] = formed_(own.slot, own.slot) + own.ridge;
    };
    if (factor_.extend(Index(factored_.size()) - factor_.size(), row, spend)) return true;
    drop_factor();
    return false;
  }

  // Whether the factor, possibly of an earlier h, contains nearly all of the support and little else.
  bool covers(Slots support) const {
    if (factored_.empty()) return false;
    std::vector<char> in(columns().count());
    for (const Index k : support) in[k] = 1;
    Index common = 0;
    for (const Member& member : factored_) common += in[member.slot];
    return 10 * (Index(support.size() + factored_.size()) - 2 * common) <= Index(support.size());
  }

  // Preconditioned by the factor for the coordinates in it, by the diagonal for others, until the residual is
  // small enough for a Newton step. False if that takes more than `most` steps.
  template <class Spend>
  bool conjugate_gradients(Slots support, CVec ridge, Vec right, int most, Spend&& spend) {
    const std::size_t size = support.size();
    std::vector<Real> residual(right.begin(), right.end()), scaled(size), direction, image(size);
    std::fill(right.begin(), right.end(), 0.0);
    std::vector<std::int32_t> place(columns().count(), -1);
    const bool known = covers(support);
    if (known)
      for (std::size_t k = 0; k < factored_.size(); ++k) place[factored_[k].slot] = std::int32_t(k);
    std::vector<Real> within(factored_.size());
    const auto precondition = [&] { // returns <residual, scaled>
      std::fill(within.begin(), within.end(), 0.0);
      for (std::size_t t = 0; t < size; ++t)
        if (place[support[t]] >= 0) within[place[support[t]]] = residual[t];
      if (known) factor_.solve(within.data());
      Real total = 0;
      for (std::size_t t = 0; t < size; ++t) {
        const Index k = support[t];
        const Real diagonal = weighted_.coordinates[k].curvature + ridge[t];
        scaled[t] = place[k] >= 0 ? within[place[k]] : diagonal > 0 ? residual[t] / diagonal : 0;
        total += scaled[t] * residual[t];
      }
      return total;
    };
    Real rho = precondition();
    direction = scaled;
    const Real goal = policy().gradient_part * rho;
    for (int step = 0; step < most && rho > goal; ++step) {
      if (spend(multiply(support, support, direction, image) + Index(within.size() * within.size() / 4)))
        return false;
      Real bend = 0;
      for (std::size_t t = 0; t < size; ++t) {
        image[t] += ridge[t] * direction[t];
        bend += direction[t] * image[t];
      }
      if (!(bend > 0)) break;
      for (std::size_t t = 0; t < size; ++t) {
        right[t] += rho / bend * direction[t];
        residual[t] -= rho / bend * image[t];
      }
      const Real next = precondition();
      for (std::size_t t = 0; t < size; ++t) direction[t] = scaled[t] + next / rho * direction[t];
      rho = next;
    }
    return rho <= goal;
  }
  // image = A_T' diag(h) A_S v; returns the entries touched.
  Index multiply(Slots to, Slots support, CVec v, Vec image) {
    const CVec h = weighted_.at.h;
    margins_.assign(h.size(), 0.0);
    Real u = 0, total = 0; // what the frame adds to all margins; the sum of what is then weighed
    Index cost = 0;
    columns().visit([&](const auto& store) {
      for (std::size_t t = 0; t < support.size(); ++t) {
        store[support[t]].add_to(margins_, v[t]);
        u += v[t] * weighted_.gamma(support[t]);
        cost += store[support[t]].size();
      }
      for (std::size_t i = 0; i < h.size(); ++i) total += margins_[i] *= h[i];
      for (std::size_t t = 0; t < to.size(); ++t) {
        const Index k = to[t];
        cost += store[k].size();
        image[t] = store[k].dot(margins_) + u * weighted_.coordinates[k].weighted +
                   weighted_.gamma(k) * (total + u * weighted_.at.total_h);
      }
    });
    return cost;
  }

  struct Member {
    std::int32_t slot;
    Real ridge;
  };
  const Weighted& weighted_;
  FormedHessian formed_;
  OuterHessian outer_;
  bool current_ = false; // are H and its factor of the present h?
  int patience_;         // of conjugate gradients, in steps
  Cholesky factor_;
  std::vector<Member> factored_;
  std::vector<std::int32_t> order_;
  std::vector<Real> margins_;
};

} // namespace southwell
