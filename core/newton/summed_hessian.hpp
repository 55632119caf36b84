// The curvature of the loss on a working set whose samples answer questions: H from the Gram matrix of some
// slots, which they sum, or known by its products alone where these slots are too many for its square.
//
// An intercept follows every move, so columns are centred: with w_k = sum_i h_i a_ik and w_0 = sum_i h_i,
//     H_kl = (A'diag(h)A)_kl - w_k w_l / w_0.
#pragma once
#include "core/newton/conjugate_gradients.hpp"
#include "core/newton/coordinate.hpp"
#include "core/newton/ledger.hpp"
#include "core/newton/samples.hpp"

namespace southwell {

// The coordinates of a working set whose columns are elsewhere.
struct Answered {
  Samples& samples;
  const Policy& policy;
  std::vector<Coordinate> coordinates{};
  Real total_h = 0; // 0: no intercept follows
};

class SummedHessian {
public:
  using Slots = std::span<const std::int32_t>;

  explicit SummedHessian(const Answered& at) : at_(at), patience_(at.policy.patience) {}

  void forget() { // because h has changed
    known_.clear();
    lines_.clear();
    stale_ = true;
  }
  // Whether H on these slots is worth its square: sending it once costs less than the products of many steps.
  bool sweeps_pay(Slots slots) const { return Real(slots.size()) <= at_.policy.factor_columns; }
  void thin(Index) {} // which rows are in a sample would depend on how they are divided

  void form(Slots slots, Ledger& ledger) {
    const auto unknown = std::count_if(slots.begin(), slots.end(),
                                       [&](Index k) { return k >= Index(place_.size()) || place_[k] < 0; });
    if (Real(unknown) + Real(known_.size()) > 2 * at_.policy.factor_columns) forget(); // it is too large
    if (std::exchange(stale_, false)) factor_.drop();
    place_.resize(at_.coordinates.size(), -1);
    if (known_.empty()) std::fill(place_.begin(), place_.end(), -1);
    const std::size_t before = known_.size();
    for (const std::int32_t k : slots)
      if (place_[k] < 0) {
        place_[k] = std::int32_t(known_.size());
        known_.push_back(k);
      }
    if (known_.size() == before) return;
    const auto start = [](std::size_t line) { return line * (line + 1) / 2; };
    lines_.resize(start(known_.size()));
    if (!at_.samples.gram(known_, Index(before), Vec(lines_).subspan(start(before)), std::ref(ledger)))
      forget(); // interrupted
  }
  const SummedHessian& formed() const { return *this; }
  Real operator()(Index k, Index l) const { // of two slots it knows
    if (k == l) return at_.coordinates[k].curvature;
    const std::size_t a = std::size_t(std::max(place_[k], place_[l])),
                      b = std::size_t(std::min(place_[k], place_[l]));
    return lines_[a * (a + 1) / 2 + b] - common(k) * at_.coordinates[l].weighted;
  }

  // out = H v on these slots; false: interrupted.
  bool multiply(Slots slots, CVec v, Vec out, Ledger& ledger) const {
    if (!at_.samples.product(slots, v, out, std::ref(ledger))) return false;
    if (!(at_.total_h > 0)) return true;
    Real with = 0;
    for (std::size_t t = 0; t < slots.size(); ++t) with += v[t] * at_.coordinates[slots[t]].weighted;
    for (std::size_t t = 0; t < slots.size(); ++t) out[t] -= with * common(slots[t]);
    return true;
  }
  // Solves (H + diag(ridge)) d = right in place: through a factor of what is formed, or by products.
  void solve(Slots support, CVec ridge, Vec right, Ledger& ledger) {
    if (sweeps_pay(support)) {
      form(support, ledger);
      if (ledger.stopped()) return;
      if (factor_(*this, Index(at_.coordinates.size()), support, ridge, ledger)) return factor_.solve(right);
      if (ledger.stopped()) return;
    }
    const Policy& policy = at_.policy;
    conjugate_gradients(
        factor_, at_.coordinates, support, ridge, right, policy, int(patience_),
        [&](CVec v, Vec image) {
          multiply(support, v, image, ledger);
          return Index(0); // counted there
        },
        ledger);
    patience_ = std::min(2 * patience_, policy.most_patience); // see Hessian
  }

private:
  Real common(Index k) const { return at_.total_h > 0 ? at_.coordinates[k].weighted / at_.total_h : 0; }

  const Answered& at_;
  std::vector<std::int32_t> known_, place_; // slots in the matrix, and where each slot is in it, or -1
  std::vector<Real> lines_;                 // its lower triangle
  UpdatedFactor factor_;
  Real patience_;      // of conjugate gradients, in steps
  bool stale_ = false; // has h changed since the factor was made?
};

} // namespace southwell
