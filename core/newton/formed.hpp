// H = A_K' diag(h) A_K, formed on the slots K that were asked for so far; or about, where that is as good:
// from a sample of the rows while steps are large (sub-sampled Newton methods: Byrd, Chin, Neveitt and
// Nocedal 2011), or with weights that were about the same a step ago.
//
// Where samples on flats are given a part f of the largest curvature (Weighted), H is a mixture
// (1 - f) C + f G; G is formed once.
#pragma once
#include "core/newton/column_products.hpp"

namespace southwell {

class FormedHessian {
public:
  using Slots = ColumnProducts::Slots;

  explicit FormedHessian(const Weighted& weighted)
      : weighted_(weighted), curved_(weighted, rows_), whole_(weighted, rows_) {}

  // From now on, until h changes, from about one row in so many, chosen in proportion to h: a few samples may
  // have most of all curvature.
  void thin(Index every) {
    const CVec h = weighted_.at.h;
    const Real total_h = weighted_.at.total_h, rows = Real(h.size()) / Real(every);
    Real kept = 0;
    std::vector<Real> sample(h.size());
    for (Index i = 0; i < Index(h.size()); ++i) {
      const auto mixed = std::uint64_t(i + 1) * 0x9e3779b97f4a7c15u; // as good as random
      const Real chance = std::min(h[i] / total_h * rows, 1.0);
      sample[i] = Real(mixed >> 32) * 0x1p-32 < chance ? h[i] / chance : 0;
      kept += sample[i];
    }
    if (!(kept > 0)) return;
    for (Real& value : sample) value *= total_h / kept;
    curved_.begin(sample);
    stale_ = false;
  }
  void changed() { // h has
    stale_ = true;
    share_ = curved_.empty() ? 1 : curved_.changed_share(weighted_.at.curved(), slack());
    if (share_ > weighted_.policy.weights_changed) curved_.forget();
  }
  bool knows(Index slot) const {
    return (!mixed(false) || curved_.knows(slot)) && (!mixed(true) || whole_.knows(slot));
  }
  Real operator()(Index k, Index l) const { // of two slots it knows
    const Real f = weighted_.at.flat;
    const Real both = (mixed(false) ? (1 - f) * curved_(k, l) : 0) +
                      (mixed(true) ? f * weighted_.at.most * whole_(k, l) : 0);
    return k == l ? std::max(both, weighted_.coordinates[k].curvature) : both; // the exact diagonal
  }

  // About how many entries will be touched: all pairs that meet in a row, those of dense columns at the speed
  // of vectors.
  Real cost(Slots slots) const {
    if (slots.empty()) return 0;
    Real stored = 0, total = 0;
    for (const Index k : slots) stored += Real(weighted_.columns.size(k));
    const Real pairs = stored * stored / Real(weighted_.at.h.size()) /
                       (weighted_.columns.sparse() ? 2 : weighted_.policy.pairs_at_once);
    for (const bool whole : {false, true}) {
      if (!mixed(whole)) continue;
      const ColumnProducts& products = whole ? whole_ : curved_;
      const auto fresh =
          std::count_if(slots.begin(), slots.end(), [&](Index k) { return !products.knows(k); });
      total += pairs * Real(fresh) / Real(slots.size());
      if (!whole && stale_ && !products.empty()) total += pairs * share_;
    }
    return total;
  }

  // `spend(entries)` counts the work; if it returns true, forming is abandoned and H must be formed anew.
  template <class Spend> void form(Slots slots, Spend&& spend) {
    if (mixed(false)) {
      if (std::exchange(stale_, false)) {
        if (Real(curved_.size()) >
            weighted_.policy.formed_room * Real(slots.size()) + weighted_.policy.formed_beside)
          curved_.forget(); // it has become too large
        if (curved_.empty())
          curved_.begin(weighted_.at.curved());
        else if (curved_.mend(weighted_.at.curved(), slack(), spend))
          return;
      }
      if (curved_.form(slots, spend)) return;
    }
    if (!mixed(true)) return;
    if (whole_.empty()) whole_.begin(weighted_.at.shares);
    whole_.form(slots, spend);
  }

private:
  // Whether the part belongs to the mixture. A tiny one is seen in the diagonal alone.
  bool mixed(bool whole) const {
    return whole ? weighted_.at.flat > weighted_.policy.flat_part : weighted_.at.flat < 1;
  }
  // How much a weight may have changed without being updated. Curvatures of pieces are equal or different;
  // other curvatures converge, and an approximate H costs accuracy, so it is used only where it saves work.
  Real slack() const {
    const Policy& policy = weighted_.policy;
    const bool saves = Real(weighted_.columns.entries()) >= policy.weights_entries;
    return weighted_.at.smooth && saves ? policy.weights_alike : 0;
  }

  const Weighted& weighted_;
  Rows rows_;
  ColumnProducts curved_, whole_; // C, and G but for the most curvature there is
  bool stale_ = true;             // has h changed since C was formed?
  Real share_ = 1;                // then of so many rows
};

} // namespace southwell
