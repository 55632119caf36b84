// The loss over all samples where each has k margins, sum_i s_i phi(m_i; b_i), erased. Tables hold a row of k
// numbers for each sample.
//
// The second derivative of one sample is diag(h) or, where its k margins compete, diag(h) - h h' / sum h: so
// it is for softmax (h = p) and for the multi-class hinge (h = 1/corner where p > 0). Nothing else needs to
// be known of it.
#pragma once
#include "core/losses/multiclass_hinge.hpp"
#include "core/losses/softmax.hpp"
#include "core/problem.hpp"
#include "core/support/helpers.hpp"
#include <deque>
#include <numeric>

namespace southwell {

class WideLoss {
public:
  WideLoss(Index width, CVec weights) : width_(width), weights_(weights) {}
  virtual ~WideLoss() = default;

  Index width() const { return width_; }
  Index samples() const { return Index(weights_.size()); }
  CVec weights() const { return weights_; }

  virtual Real value(CVec margins) const = 0;
  virtual void derivative(CVec margins, Vec y) const = 0;
  virtual void curvature(CVec y, Vec h) const = 0; // s_i h_i where the derivative is y_i
  virtual bool coupled() const = 0;                // do the margins of a sample compete?
  // The same loss over all margins, each a sample of its own, where they do not compete; else none.
  virtual const SampleLoss* separate() const { return nullptr; }
  virtual Real conjugate(CVec y, Real scale) const = 0;
  virtual void derivative(Index i, const Real* m, Real* y) const = 0; // of one sample
  // argmax_y  <y, m> - phi_i*(y) - (q/2) ||y - y0||^2
  virtual void maximise(Index i, const Real* m, const Real* y0, Real q, Real* y) const = 0;
  virtual void into_domain(Vec y) const = 0;
  // See SampleLoss. A point of the domain itself is within `Distance` of what `strictly_inside` leaves.
  virtual Real value_above(CVec margins, CVec radii) const = 0;
  virtual ConjugateAbove conjugate_above(CVec y) const = 0;
  virtual Distance strictly_inside(Vec y) const = 0;
  virtual Distance imbalance(CVec y) const = 0;
  virtual void balance(Vec y) const = 0; // sum_i s_i y_i = 0, as an intercept asks; in the domain
  // The best shifts of margins, one a column, from these; false: nothing is told, Newton may find them.
  virtual bool best_shifts(CVec, Vec) const { return false; }
  virtual Real smoothness() const = 0;
  virtual bool smooth() const = 0;
  virtual bool quadratic() const = 0;                // is the curvature the same everywhere?
  virtual bool piecewise() const = 0;                // is it, in pieces?
  virtual Real size(CVec margins, CVec y) const = 0; // see SampleLoss

  // out_i = s_i H_i v_i, with h from `curvature`.
  void bend(CVec h, CVec v, Vec out) const {
    divide(Index(h.size()) * 4, [&](int part, int parts) {
      for (Index i = samples() * part / parts; i < samples() * (part + 1) / parts; ++i)
        bend_row(h.data() + i * width_, v.data() + i * width_, out.data() + i * width_);
    });
  }
  void bend_row(const Real* h, const Real* v, Real* out) const {
    const Real mean = coupled() ? centre(h, v) : 0;
    for (Index c = 0; c < width_; ++c) out[c] = h[c] * (v[c] - mean);
  }
  // <h, v> / sum h
  Real centre(const Real* h, const Real* v) const {
    Real with = 0, total = 0;
    for (Index c = 0; c < width_; ++c) {
      with += h[c] * v[c];
      total += h[c];
    }
    return total > 0 ? with / total : 0;
  }

protected:
  Index width_;
  CVec weights_;

  // sum_i s_i term(i), in stretches that do not depend on the number of threads.
  template <class Term> Real over_samples_sum(Term&& term) const {
    constexpr Index stretch = 1024;
    const Index count = (samples() + stretch - 1) / stretch;
    std::vector<Real> sums(static_cast<std::size_t>(count));
    divide(samples() * width_ * 8, [&](int part, int parts) {
      for (Index k = count * part / parts; k < count * (part + 1) / parts; ++k)
        for (Index i = k * stretch; i < std::min(samples(), (k + 1) * stretch); ++i)
          if (weights_[i] > 0) sums[k] += weights_[i] * term(i);
    });
    return std::reduce(sums.begin(), sums.end());
  }
  // work(first sample, how many), some hundreds at a time
  template <class Work> void in_stretches(Work&& work) const {
    constexpr Index stretch = 256;
    const Index count = (samples() + stretch - 1) / stretch;
    divide(samples() * width_ * 8, [&](int part, int parts) {
      for (Index k = count * part / parts; k < count * (part + 1) / parts; ++k)
        work(k * stretch, std::min(stretch, samples() - k * stretch));
    });
  }
  template <class Work> void each_sample(Work&& work) const {
    divide(samples() * width_ * 8, [&](int part, int parts) {
      for (Index i = samples() * part / parts; i < samples() * (part + 1) / parts; ++i) work(i);
    });
  }
};

// k separate targets under one scalar loss: several tasks, or a single one (k = 1) with a penalty of blocks.
class TaskLoss final : public WideLoss {
public:
  TaskLoss(const AnyLoss& loss, Index width, CVec targets, CVec weights) : WideLoss(width, weights) {
    for (const Real s : weights) repeated_.insert(repeated_.end(), std::size_t(width), s);
    flat_ = over_samples(loss, targets, repeated_);
    for (Index c = 0; c < width; ++c) {
      auto& own = columns_.emplace_back();
      for (Index i = 0; i < samples(); ++i) own.targets.push_back(targets[i * width + c]);
      own.loss = over_samples(loss, own.targets, weights);
    }
  }
  Real value(CVec margins) const override { return flat_->value(margins); }
  void derivative(CVec margins, Vec y) const override { flat_->derivative(margins, y); }
  void curvature(CVec y, Vec h) const override { flat_->curvature(y, h); }
  bool coupled() const override { return false; }
  const SampleLoss* separate() const override { return flat_.get(); }
  Real conjugate(CVec y, Real scale) const override { return flat_->conjugate(y, scale); }
  void derivative(Index i, const Real* m, Real* y) const override {
    for (Index c = 0; c < width_; ++c) y[c] = flat_->derivative(i * width_ + c, m[c]);
  }
  void maximise(Index i, const Real* m, const Real* y0, Real q, Real* y) const override {
    for (Index c = 0; c < width_; ++c) y[c] = flat_->maximise(i * width_ + c, m[c], y0[c], q);
  }
  void into_domain(Vec y) const override {
    for (std::size_t k = 0; k < y.size(); ++k) y[k] = clip(y[k], flat_->domain(Index(k)));
  }
  Real value_above(CVec m, CVec radii) const override { return flat_->value_above(m, radii); }
  ConjugateAbove conjugate_above(CVec y) const override { return flat_->conjugate_above(y); }
  Distance strictly_inside(Vec y) const override { return flat_->strictly_inside(y); }
  Distance imbalance(CVec y) const override {
    std::vector<Real> column(weights_.size());
    Distance worst;
    for (Index c = 0; c < width_; ++c) {
      for (Index i = 0; i < samples(); ++i) column[i] = y[i * width_ + c];
      worst.part = std::max(worst.part, columns_[c].loss->imbalance(column).part);
    }
    return worst;
  }
  void balance(Vec y) const override {
    std::vector<Real> column(weights_.size());
    for (Index c = 0; c < width_; ++c) {
      for (Index i = 0; i < samples(); ++i) column[i] = y[i * width_ + c];
      southwell::balance(weights_, column);
      for (Index i = 0; i < samples(); ++i) y[i * width_ + c] = column[i];
    }
  }
  bool best_shifts(CVec margins, Vec shifts) const override { // each target on its own, inside a bracket
    std::vector<Real> column(weights_.size());
    for (Index c = 0; c < width_; ++c) {
      for (Index i = 0; i < samples(); ++i) column[i] = margins[i * width_ + c];
      const SampleLoss& loss = *columns_[c].loss;
      Shift shift = best_shift(loss, column, shifts[c]);
      if (loss.quadratic()) shift = best_shift(loss, column, shift.best); // what rounding has left
      if (shift.found || loss.value(column, shift.best) < loss.value(column, shifts[c]))
        shifts[c] = shift.best;
    }
    return true;
  }
  Real smoothness() const override { return flat_->smoothness(); }
  bool smooth() const override { return flat_->smooth(); }
  bool quadratic() const override { return flat_->quadratic(); }
  bool piecewise() const override { return flat_->piecewise(); }
  Real size(CVec margins, CVec y) const override { return flat_->size(margins, y); }

private:
  struct Column { // the targets of one task, in a row
    std::vector<Real> targets;
    std::unique_ptr<SampleLoss> loss;
  };
  std::vector<Real> repeated_;
  std::unique_ptr<SampleLoss> flat_;
  std::deque<Column> columns_; // which stay where they are: losses look into them
};

// k classes, of which each sample has one; L is a loss over the simplex.
template <class L> class ClassLoss final : public WideLoss {
public:
  ClassLoss(L loss, Index width, std::span<const Index> labels, CVec weights)
      : WideLoss(width, weights), loss_(loss), labels_(labels.begin(), labels.end()),
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
  void into_domain(Vec y) const override {
    for (Index i = 0; i < samples(); ++i) {
      Real* p = y.data() + i * width_;
      p[labels_[i]] += 1;
      simplex::project(p, width_);
      p[labels_[i]] -= 1;
    }
  }
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
