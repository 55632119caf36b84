// The Cholesky factor of H + diag(ridge) on a support that changes: slots that leave are removed from it,
// those that come are appended.
#pragma once
#include "core/support/cholesky.hpp"
#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace southwell {

class UpdatedFactor {
public:
  using Slots = std::span<const std::int32_t>;

  void drop() {
    factor_.clear();
    members_.clear();
  }
  Index size() const { return Index(members_.size()); }

  // Of `count` slots these are the support, and `h(k, l)` is H. False if H + ridge is not positive definite
  // beyond rounding, or if `spend(entries)`, which counts the work, returns true.
  template <class H, class Spend>
  bool operator()(const H& h, Index count, Slots support, CVec ridge, Spend&& spend) {
    std::vector<std::int32_t> at(std::size_t(count), -1); // place in the support
    for (std::size_t t = 0; t < support.size(); ++t) at[support[t]] = std::int32_t(t);
    const auto gone = [&](const Member& member) {
      return at[member.slot] < 0 || ridge[at[member.slot]] != member.ridge;
    };
    const Index size = Index(members_.size()),
                leaving = std::count_if(members_.begin(), members_.end(), gone);
    if (Real(leaving * size * size / 2) > Cholesky::cost(size)) drop(); // what removing them would cost
    if (!members_.empty() && spend(leaving * size * size / 2)) return false;
    for (std::size_t k = members_.size(); k-- > 0;)
      if (gone(members_[k])) {
        factor_.remove(Index(k));
        members_.erase(members_.begin() + std::ptrdiff_t(k));
      }
    order_.assign(support.size(), -1);
    for (std::size_t k = 0; k < members_.size(); ++k) order_[at[members_[k].slot]] = std::int32_t(k);
    for (std::size_t t = 0; t < support.size(); ++t) {
      if (order_[t] >= 0) continue;
      order_[t] = std::int32_t(members_.size());
      members_.push_back({support[t], ridge[t]});
    }
    const auto row = [&](Index k, Real* to) {
      const Member& own = members_[k];
      for (Index l = 0; l < k; ++l) to[l] = h(own.slot, members_[l].slot);
      to[k] = h(own.slot, own.slot) + own.ridge;
    };
    if (factor_.extend(Index(members_.size()) - factor_.size(), row, spend)) return true;
    drop();
    return false;
  }
  // In place, by the support it was last made for.
  void solve(Vec right) const {
    std::vector<Real> ordered(right.size());
    for (std::size_t t = 0; t < right.size(); ++t) ordered[order_[t]] = right[t];
    factor_.solve(ordered.data());
    for (std::size_t t = 0; t < right.size(); ++t) right[t] = ordered[order_[t]];
  }

  // Whether the factor, possibly of an earlier H, is that of the support but for this part of it.
  bool covers(Slots support, Index count, Real part) const {
    if (members_.empty()) return false;
    std::vector<char> in(static_cast<std::size_t>(count));
    for (const Index k : support) in[k] = 1;
    Index common = 0;
    for (const Member& member : members_) common += in[member.slot];
    return Real(Index(support.size() + members_.size()) - 2 * common) <= part * Real(support.size());
  }
  // Where each slot is in the order of the factor, and a solution in that order.
  void write_places(std::span<std::int32_t> place) const {
    for (std::size_t k = 0; k < members_.size(); ++k) place[members_[k].slot] = std::int32_t(k);
  }
  void solve_ordered(Real* right) const { factor_.solve(right); }

private:
  struct Member {
    std::int32_t slot;
    Real ridge;
  };
  Cholesky factor_;
  std::vector<Member> members_;
  std::vector<std::int32_t> order_; // where in the factor each of the support is
};

} // namespace southwell
