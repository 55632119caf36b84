// k classes, of which each sample has one; L is a loss over the simplex.
#pragma once
#include "core/loss_sum.hpp"
#include "core/losses/multiclass_hinge.hpp"
#include "core/losses/softmax.hpp"

namespace southwell {

template <class L> class ClassLoss final : public LossSum {
public:
  ClassLoss(L loss, Index width, std::span<const Index> labels, CVec weights)
      : LossSum(width, weights), loss_(loss), labels_(labels.begin(), labels.end()),
        shares_(std::size_t(width)) {
    for (Index i = 0; i < samples(); ++i) shares_[labels_[i]] += weights[i];
  }
  Real value(CVec m) const override {
    if constexpr (requires { loss_.values(m.data(), width_, width_, labels_.data(), nullptr); }) {
      std::vector<Real> values(labels_.size());
      in_stretches([&](Index from, Index count) {
        loss_.values(row(m, from), count, width_, labels_.data() + from, values.data() + from);
      });
      return over_samples_sum([&](Index i) { return values[i]; });
    } else {
      return over_samples_sum([&](Index i) { return loss_.value(row(m, i), width_, labels_[i]); });
    }
  }
  void derivative(CVec m, Vec y) const override {
    if constexpr (requires { loss_.derivatives(m.data(), width_, width_, labels_.data(), y.data()); })
      in_stretches([&](Index from, Index count) {
        loss_.derivatives(row(m, from), count, width_, labels_.data() + from, y.data() + from * width_);
      });
    else
      each_sample([&](Index i) { loss_.derivative(row(m, i), width_, labels_[i], y.data() + i * width_); });
  }
  void curvature(CVec y, Vec h) const override {
    each_sample([&](Index i) {
      Real* own = h.data() + i * width_;
      loss_.curvature(row(y, i), width_, labels_[i], own);
      for (Index c = 0; c < width_; ++c) own[c] *= weights_[i];
    });
  }
  bool coupled() const override { return true; }
  Real conjugate(CVec y, Real scale) const override {
    return over_samples_sum([&](Index i) { return loss_.conjugate(row(y, i), scale, width_, labels_[i]); });
  }
  void derivative(Index i, const Real* m, Real* y) const override {
    loss_.derivative(m, width_, labels_[i], y);
  }
  void maximise(Index i, const Real* m, const Real* y0, Real q, Real* y) const override {
    loss_.maximise(m, y0, q, width_, labels_[i], y);
  }
  void shifts_of_zeros(Vec shifts) const override { // centred: the same number in all changes nothing
    if (!L::log_odds || !(*std::min_element(shares_.begin(), shares_.end()) > 0)) return;
    Real mean = 0;
    for (const Real share : shares_) mean += std::log(share) / Real(width_);
    for (std::size_t c = 0; c < shares_.size(); ++c) shifts[c] = std::log(shares_[c]) - mean;
  }
  void into_domain(Vec y) const override {
    for (Index i = 0; i < samples(); ++i) {
      Real* p = y.data() + i * width_;
      p[labels_[i]] += 1;
      simplex::project(p, width_);
      Real others = 0; // y_b is minus their sum: p_b - 1 has few digits where p_b is near 1
      for (Index c = 0; c < width_; ++c) others += c == labels_[i] ? 0 : p[c];
      p[labels_[i]] = p[labels_[i]] > 0 ? std::max(-others, -1 + 1e-16) : -1;
    }
  }
  void inside(CVec y, Vec h) const override {
    each_sample([&](Index i) {
      for (Index c = 0; c < width_; ++c)
        h[i * width_ + c] = row(y, i)[c] > (c == labels_[i] ? -1 : 0) ? weights_[i] : 0;
    });
  }
  std::span<const Index> labels() const override { return labels_; }
  Real value_above(CVec m, CVec radii) const override { // phi rises by at most the sum of two margins' errors
    rounding::SumAbove sum;
    for (Index i = 0; i < samples(); ++i) {
      if (!(weights_[i] > 0)) continue;
      const Real* own = row(radii, i);
      const Real at =
          loss_.value(row(m, i), width_, labels_[i]) + loss_.value_rounding(row(m, i), width_, labels_[i]);
      sum.add(weights_[i] * (at + 2.01 * *std::max_element(own, own + width_)));
    }
    return sum.above();
  }
  ConjugateAbove conjugate_above(CVec y) const override {
    rounding::SumAbove sum;
    Real largest = 0; // over the domain: what another point of it may be worth
    for (Index i = 0; i < samples(); ++i) {
      if (!(weights_[i] > 0)) continue;
      sum.add(weights_[i] * (loss_.conjugate(row(y, i), 1, width_, labels_[i]) +
                             loss_.conjugate_rounding(row(y, i), width_, labels_[i])));
      largest += weights_[i] * loss_.largest_conjugate();
    }
    return {sum.above(), 1.01 * (sum.size() + largest)};
  }
  // p_c >= 0 for the other classes, which sum to less than one; p_b is what is left, and y_b minus their sum.
  Distance strictly_inside(Vec y) const override {
    const Real terms = Real(width_ + 4);
    for (Index i = 0; i < samples(); ++i) {
      Real *own = y.data() + i * width_, others = 0;
      for (Index c = 0; c < width_; ++c) others += c == labels_[i] ? 0 : own[c] = std::max(own[c], 0.0);
      const Real factor = (1 - 4 * terms * rounding::unit) / std::max(others, 1.0);
      others = 0;
      for (Index c = 0; c < width_; ++c) others += c == labels_[i] ? 0 : own[c] *= factor;
      own[labels_[i]] = -others;
    }
    return {2 * terms * rounding::unit, 0};
  }
  // With e = sum_i s_i y_i as small as rounding and the shares f of the classes, (1 - t) y + t (r - e_b) sums
  // to zero exactly for r = f - e (1 - t)/t, a probability vector if t f >= e. No entry moves by more than 2
  // t.
  Distance imbalance(CVec y) const override {
    Real part = 0;
    for (Index c = 0; c < width_; ++c) {
      rounding::SumAbove sum;
      for (Index i = 0; i < samples(); ++i) sum.add(weights_[i] * y[i * width_ + c]);
      const Real size = 2 * Real(width_ + 4) * rounding::unit * sum.size(); // y_b is known within this part
      const Real off = std::max(std::abs(sum.above()), std::abs(sum.below())) + size;
      part = std::max(part, shares_[c] > 0 ? 1.02 * off / shares_[c] : infinity);
    }
    return {0, 2.01 * part};
  }
  // With e = sum_i s_i y_i and the shares f of the classes, (1 - t) y + t (r - e_b) sums to zero for
  // r = f - e (1 - t)/t, which is a probability vector once t is large enough.
  void balance(Vec y) const override {
    std::vector<Real> off(static_cast<std::size_t>(width_));
    for (Index c = 0; c < width_; ++c) {
      CompensatedSum sum;
      for (Index i = 0; i < samples(); ++i) sum.add(weights_[i] * y[i * width_ + c]);
      off[c] = sum.value();
    }
    Real ratio = 0;
    for (Index c = 0; c < width_; ++c)
      if (off[c] > 0) ratio = std::max(ratio, shares_[c] > 0 ? off[c] / shares_[c] : infinity);
    if (ratio == 0) return;
    const Real t = std::isfinite(ratio) ? ratio / (1 + ratio) : 1;
    for (Index c = 0; c < width_; ++c) off[c] = shares_[c] - (t < 1 ? off[c] / ratio : 0);
    for (Index i = 0; i < samples(); ++i)
      for (Index c = 0; c < width_; ++c) {
        Real& v = y[i * width_ + c];
        v += t * (off[c] - (c == labels_[i]) - v);
      }
  }
  Real smoothness() const override { return loss_.smoothness(); }
  bool smooth() const override { return true; }
  bool quadratic() const override { return false; }
  bool piecewise() const override { return L::piecewise; }
  Real size(CVec margins, CVec y) const override {
    return over_samples_sum([&](Index i) {
      Real total = 0;
      for (Index c = 0; c < width_; ++c) total += std::abs(row(y, i)[c]) * (std::abs(row(margins, i)[c]) + 1);
      return total;
    });
  }

private:
  const Real* row(CVec table, Index i) const { return table.data() + i * width_; }

  L loss_;
  std::vector<Index> labels_;
  std::vector<Real> shares_; // of the weight, by class
};

} // namespace southwell
