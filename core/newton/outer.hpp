// Solves (A_S' diag(h) A_S + R) d = right where the columns S outnumber the n samples and R = diag(ridge) >
// 0, through n x n matrices (Woodbury's identity):
//
//     (A'HA + R)^-1 = R^-1 - R^-1 A' H^1/2 (I + H^1/2 G H^1/2)^-1 H^1/2 A R^-1,    G = A R^-1 A'
//
// G does not depend on h, and columns that enter or leave are added to it or taken from it.
#pragma once
#include "core/newton/coordinate.hpp"
#include "core/support/cholesky.hpp"
#include "core/support/products.hpp"
#include <algorithm>
#include <span>

namespace southwell {

class OuterHessian {
public:
  using Slots = std::span<const std::int32_t>;

  explicit OuterHessian(const Weighted& weighted) : weighted_(weighted) {}

  void forget() { current_ = false; } // h has changed

  // About how many entries a solution will touch.
  Real cost(Slots slots) const {
    const Real n = Real(samples());
    Real stored = 0, fresh = 0;
    for (const Index k : slots) {
      const Real size = Real(columns().size(k));
      stored += size;
      if (k >= Index(weight_.size()) || weight_[k] == 0)
        fresh += columns().sparse() ? size * size / 2 : n * n / weighted_.policy.pairs_at_once;
    }
    return fresh + Cholesky::cost(samples()) + 4 * stored;
  }

  // Solves in place; false if it failed.
  template <class Spend> bool solve(Slots slots, CVec ridge, Vec right, Spend&& spend) {
    if (!gather(slots, ridge, spend) || !factor(spend)) return false;
    for (std::size_t t = 0; t < slots.size(); ++t) right[t] /= ridge[t];
    apply(slots, right);
    for (std::size_t a = 0; a < active_.size(); ++a) image_[a] = roots_[a] * margins_[active_[a]];
    factor_.solve(image_.data());
    std::fill(margins_.begin(), margins_.end(), 0.0);
    for (std::size_t a = 0; a < active_.size(); ++a) margins_[active_[a]] = roots_[a] * image_[a];
    Real total = 0;
    for (const Real m : margins_) total += m;
    columns().visit([&](const auto& store) {
      for (std::size_t t = 0; t < slots.size(); ++t)
        right[t] -= (store[slots[t]].dot(margins_) + weighted_.gamma(slots[t]) * total) / ridge[t];
    });
    return true;
  }

private:
  const WorkingColumns& columns() const { return weighted_.columns; }
  Index samples() const { return Index(weighted_.at.h.size()); }

  void apply(Slots slots, CVec x) { // margins = A_S x
    margins_.assign(std::size_t(samples()), 0.0);
    Real u = 0;
    columns().visit([&](const auto& store) {
      for (std::size_t t = 0; t < slots.size(); ++t) {
        store[slots[t]].add_to(margins_, x[t]);
        u += x[t] * weighted_.gamma(slots[t]);
      }
    });
    for (Real& m : margins_) m += u;
  }

  // G as these slots and ridges make it.
  template <class Spend> bool gather(Slots slots, CVec ridge, Spend&& spend) {
    const std::size_t n = std::size_t(samples());
    wanted_.assign(std::size_t(columns().count()), 0.0);
    for (std::size_t t = 0; t < slots.size(); ++t) wanted_[slots[t]] = 1 / ridge[t];
    weight_.resize(wanted_.size());
    if (matrix_.empty() || left_ > Index(slots.size())) { // so that rounding errors do not accumulate
      matrix_.assign(n * n, 0.0);
      left_ = 0;
      std::fill(weight_.begin(), weight_.end(), 0.0);
    }
    changes_.clear();
    for (std::size_t k = 0; k < wanted_.size(); ++k)
      if (const Real by = wanted_[k] - weight_[k]; by != 0) {
        changes_.push_back({std::int32_t(k), by});
        left_ += weight_[k] != 0;
      }
    if (changes_.empty()) return true;
    current_ = false;
    if (columns().visit([&](const auto& store) { return add_stored(store, spend); })) {
      matrix_.clear();
      return false;
    }
    weight_.swap(wanted_);
    return true;
  }
  struct Change {
    std::int32_t slot;
    Real by; // of its weight 1 / ridge
  };
  // Column k is stored_k + gamma_k 1: G is what is stored, and shared 1' + 1 shared' + constant. Gammas may
  // follow h.
  void frame() {
    shared_.assign(std::size_t(samples()), 0.0);
    constant_ = 0;
    columns().visit([&](const auto& store) {
      for (std::size_t k = 0; k < weight_.size(); ++k) {
        const Real g = weight_[k] * weighted_.gamma(Index(k));
        if (g == 0) continue;
        store[Index(k)].add_to(shared_, g);
        constant_ += g * weighted_.gamma(Index(k));
      }
    });
  }
  template <class Spend> bool add_stored(const SparseColumns& store, Spend&& spend) {
    for (const auto& [k, by] : changes_) {
      const auto fiber = store[k];
      fiber.visit([&, by = by](Index i, Real a) { // by name: Clang before 16 cannot capture bindings
        Real* line = matrix_.data() + i * samples();
        fiber.visit_between(0, i + 1, [&](Index j, Real b) { line[j] += by * a * b; });
      });
      if (spend(fiber.size() * fiber.size() / 2)) return true;
    }
    return false;
  }
  template <class Value, class Spend> bool add_stored(const DenseColumns<Value>& store, Spend&& spend) {
    constexpr Index block = 64; // columns at a time, turned into lines by sample
    const Index n = samples();
    std::vector<Real> column(n), plain(std::size_t(n * block)), weighed(plain.size());
    for (std::size_t from = 0; from < changes_.size(); from += block) {
      const Index length = std::min<Index>(block, Index(changes_.size() - from));
      for (Index c = 0; c < length; ++c) {
        const auto [k, by] = changes_[from + c];
        if (store.size(k) == 0) std::fill(column.begin(), column.end(), 0.0);
        store[k].visit([&](Index i, Real a) { column[i] = a; });
        for (Index i = 0; i < n; ++i) {
          plain[i * length + c] = column[i];
          weighed[i * length + c] = by * column[i];
        }
      }
      southwell::add_products(weighed.data(), plain.data(), length, 0, n, matrix_.data(), n);
      if (spend(Index(Real(length * n * n) / weighted_.policy.pairs_at_once))) return true;
    }
    return false;
  }
  // Of I + H^1/2 G H^1/2, on the samples whose h is not zero.
  template <class Spend> bool factor(Spend&& spend) {
    if (current_) return true;
    frame();
    factor_.clear();
    active_.clear();
    roots_.clear();
    for (Index i = 0; i < samples(); ++i)
      if (weighted_.at.h[i] > 0) {
        active_.push_back(std::int32_t(i));
        roots_.push_back(std::sqrt(weighted_.at.h[i]));
      }
    image_.resize(active_.size());
    const auto row = [&](Index a, Real* to) {
      const Index i = active_[a];
      for (Index b = 0; b <= a; ++b) {
        const Index j = active_[b];
        to[b] = roots_[a] * roots_[b] * (matrix_[i * samples() + j] + shared_[i] + shared_[j] + constant_);
      }
      to[a] += 1;
    };
    return current_ = factor_.extend(Index(active_.size()), row, spend);
  }

  const Weighted& weighted_;
  std::vector<Real> weight_, wanted_; // 1 / ridge of each slot in G, or 0
  std::vector<Change> changes_;
  std::vector<Real> matrix_, shared_; // G, its lower triangle
  Real constant_ = 0;
  Index left_ = 0;       // columns taken out of G since it was begun
  bool current_ = false; // is the factor of the present h and G?
  std::vector<std::int32_t> active_;
  std::vector<Real> roots_, image_, margins_;
  Cholesky factor_;
};

} // namespace southwell
