// The loss term sum_i s_i phi_i(m_i) over all samples, each with k margins: one (SampleLoss), one for each of
// several targets (TaskLoss), or one for each class (ClassLoss). Tables hold a row of k numbers for each
// sample. The calls are virtual: each loops over all samples.
//
// The second derivative of one sample is diag(h) or, where its k margins compete, diag(h) - h h' / sum h: so
// it is for softmax (h = p) and for the multi-class hinge (h = 1/corner where p > 0). Newton's method needs
// nothing else of it.
#pragma once
#include "core/concepts.hpp"
#include "core/design/fiber.hpp"
#include "core/support/helpers.hpp"
#include "core/support/rounding.hpp"
#include <algorithm>
#include <numeric>
#include <vector>

namespace southwell {

class SampleLoss;

// sum_i s_i phi_i*(y_i) from above, and the size of its terms. phi* is convex, so
// phi*((1 - r) y) <= phi*(y) + r (phi*(0) - phi*(y)): where a part r of y is given up, it rises by at most r
// times the sizes at y and at 0.
struct ConjugateAbove {
  Real value, size;
};
// How far a dual point is from one that meets its constraints exactly: that one is within `part` of each of
// its numbers, and within `weight` of the weights s beyond that.
struct Distance {
  Real part = 0, weight = 0;
};

class LossSum {
public:
  LossSum(Index width, CVec weights) : width_(width), weights_(weights) {}
  virtual ~LossSum() = default;

  Index width() const { return width_; }
  Index samples() const { return Index(weights_.size()); }
  CVec weights() const { return weights_; }

  virtual Real value(CVec margins) const = 0;             // sum_i s_i phi_i(m_i)
  virtual void derivative(CVec margins, Vec y) const = 0; // y_i = phi_i'(m_i)
  virtual void curvature(CVec y, Vec h) const = 0;        // s_i h_i where the derivative is y_i
  virtual bool coupled() const = 0;                       // do the margins of a sample compete?
  // The same loss over all margins, each a sample of its own, where they do not compete; otherwise null.
  virtual const SampleLoss* separate() const { return nullptr; }
  virtual Real conjugate(CVec y, Real scale) const = 0; // sum_i s_i phi_i*(scale y_i)
  // That from below, if it costs next to nothing; -infinity where it does not.
  virtual Real conjugate_at_least(CVec, Real) const { return -infinity; }
  virtual void derivative(Index i, const Real* m, Real* y) const = 0; // of one sample
  // argmax_y  <y, m> - phi_i*(y) - (q/2) ||y - y0||^2
  virtual void maximise(Index i, const Real* m, const Real* y0, Real q, Real* y) const = 0;
  virtual void into_domain(Vec y) const = 0; // to the nearest point of it
  // s_i h_i of that projection, at a point y of the domain: it moves with its argument by diag(h), less
  // h h' / sum h where margins compete, as `bend` has it, with h = 1 for numbers that are not at an end.
  virtual void inside(CVec y, Vec h) const = 0;
  virtual CVec targets() const { return {}; }                  // one for each margin, or classes:
  virtual std::span<const Index> labels() const { return {}; } // one for each sample
  virtual CVec offsets() const { return {}; }                  // what is added to each margin; empty: nothing
  // With all rounding errors counted: at margins that are known within radii, and at y in the domain.
  virtual Real value_above(CVec margins, CVec radii) const = 0;
  virtual ConjugateAbove conjugate_above(CVec y) const = 0;
  // y moved into the domain, so far inside that its ends may be off by rounding: a point of the domain itself
  // is within `Distance` of it.
  virtual Distance strictly_inside(Vec y) const = 0;
  virtual Distance imbalance(CVec y) const = 0;
  virtual void balance(Vec y) const = 0; // sum_i s_i y_i = 0, as an intercept asks; in the domain
  // Derivatives at the best intercepts that are balanced: at kinks those between the two sides.
  virtual void balanced_derivative(CVec margins, Vec y) const {
    derivative(margins, y);
    balance(y);
  }
  // Sets columns of y to zero that rounding errors keep from being balanced: one must not void all.
  virtual void drop_unbalanced(Vec) const {}
  // The best shifts of margins, one a column, from these; false: not computed here, Newton finds them.
  virtual bool best_shifts(CVec, Vec) const { return false; }
  virtual void shifts_of_zeros(Vec) const {}         // those of margins that are all zero, if they are known
  virtual Real smoothness() const = 0;               // 1/gamma
  virtual bool smooth() const = 0;                   // has it no kinks?
  virtual bool quadratic() const = 0;                // is the curvature the same everywhere?
  virtual bool piecewise() const = 0;                // is it, in pieces?
  virtual Real size(CVec margins, CVec y) const = 0; // of the numbers that cancel in a gap

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
  // The lower triangle of - sum_i h_i h_i' / sum h_i, what competing margins take from sum_i diag(h_i); empty
  // if they do not compete.
  std::vector<Real> competition(CVec h) const {
    const auto k = std::size_t(width_);
    std::vector<Real> matrix(coupled() ? k * k : 0);
    for (Index i = 0; i < (coupled() ? samples() : 0); ++i) {
      const Real* own = h.data() + std::size_t(i) * k;
      const Real total = std::reduce(own, own + k);
      if (!(total > 0)) continue;
      for (std::size_t a = 0; a < k; ++a)
        if (own[a] > 0) kernels::add(own, -own[a] / total, matrix.data() + a * k, Index(a) + 1);
    }
    return matrix;
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

} // namespace southwell
