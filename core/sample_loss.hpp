// The loss over all samples, sum_i s_i phi(m_i; b_i), type-erased: its loops are long, so a virtual call
// costs nothing.
#pragma once
#include "core/losses/all.hpp"
#include "core/support/rounding.hpp"
#include <memory>

namespace southwell {

struct Slope {
  Real first, second; // sum_i s_i phi', sum_i s_i phi''
};

// An upper bound of sum_i s_i phi_i*(y_i), and the sum of the absolute values of its terms. phi* is convex,
// so phi*((1 - r) y) <= phi*(y) + r (phi*(0) - phi*(y)): scaling y by 1 - r raises the sum by at most r times
// the sizes at y and at 0.
struct ConjugateAbove {
  Real value, size;
};
// The distance of a dual point y to a point y' that satisfies its constraints exactly:
// |y'_i - y_i| <= part |y_i| + weight.
struct Distance {
  Real part = 0, weight = 0;
};

// Scales the positive or the negative part of y towards 0 so that its s-weighted sum is zero.
inline void balance(CVec weights, Vec y) {
  CompensatedSum above, below; // compensated, since rounding errors of many equal terms would add up
  for (std::size_t i = 0; i < y.size(); ++i) (y[i] > 0 ? above : below).add(weights[i] * std::abs(y[i]));
  const Real up = above.value(), down = below.value();
  if (up == down) return;
  const Real scale = std::min(up, down) / std::max(up, down);
  for (Real& v : y)
    if ((v > 0) == (up > down)) v *= scale;
}

namespace kernels {

// sum_i s_i |y_i| over the y_i of this sign
template <class Value>
SOUTHWELL_CLONES rounding::Sum part_of_sign(const Value* y, const Real* s, Real sign, Index n) {
  Real total = 0;
#pragma omp simd reduction(+ : total)
  for (Index i = 0; i < n; ++i) total += s[i] * std::max(sign * y[i], 0.0);
  return {total, total};
}

} // namespace kernels

class SampleLoss {
public:
  SampleLoss(CVec targets, CVec weights) : targets_(targets), weights_(weights) {}
  virtual ~SampleLoss() = default;

  Index samples() const { return Index(targets_.size()); }
  CVec targets() const { return targets_; }
  CVec weights() const { return weights_; }

  virtual Real value(CVec margins, Real shift = 0) const = 0; // sum_i s_i phi(m_i + shift)
  virtual Slope slope(CVec margins, Real shift) const = 0;    // its derivatives in the shift
  virtual void derivative(CVec margins, Vec y) const = 0;     // y_i = phi'(m_i)
  virtual void curvature(CVec y, Vec h) const = 0;            // h_i = s_i phi'' where phi' is y_i
  virtual Real conjugate(CVec y, Real scale) const = 0;       // sum_i s_i phi*(scale y_i)
  // y_i = argmax  y m_i - phi*(y) - (q/2)(y - centre_i)^2; returns sum_i s_i times what is attained
  virtual Real maximise(CVec margins, CVec centre, Real q, Vec y) const = 0;
  // Upper bounds that include all rounding errors, for margins known up to radii, and for y in the domain.
  virtual Real value_above(CVec margins, CVec radii) const = 0;
  virtual ConjugateAbove conjugate_above(CVec y) const = 0;
  virtual Interval domain(Index i) const = 0; // of phi_i*
  virtual Real smoothness() const = 0;        // 1/gamma
  virtual bool smooth() const = 0;            // phi has no kinks
  virtual bool quadratic() const = 0;         // phi'' is constant
  virtual bool piecewise() const = 0;         // phi'' is piecewise constant

  // One sample at a time, for algorithms whose steps are long.
  virtual Real derivative(Index i, Real m) const = 0;
  virtual Real maximise(Index i, Real m, Real y0,
                        Real q) const = 0;                 // argmax  y m - phi*(y) - (q/2)(y - y0)^2
  virtual Real bracket(Index i, Real m, Real y) const = 0; // phi(m) + phi*(y) - y m >= 0

  Real size(CVec margins, CVec y) const { // sum_i s_i |y_i| (|m_i| + |b_i|), the size of the terms of the gap
    Real total = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      total += weights_[i] * std::abs(y[i]) * (std::abs(margins[i]) + std::abs(targets_[i]));
    return total;
  }

  void balance(Vec y) const { southwell::balance(weights_, y); }
  // Clips y to the interior of dom phi*, so far from its ends that rounding errors in these do not matter.
  virtual Distance strictly_inside(Vec y) const = 0;
  // The distance to the point with a sum of exactly zero that has the positive or negative part scaled
  // towards 0.
  Distance imbalance(CVec y) const {
    const auto part = [&](Real sign) {
      return rounding::sum_of_chunks(samples(), [&](Index from, Index size) {
        return kernels::part_of_sign(y.data() + from, weights_.data() + from, sign, size);
      });
    };
    const rounding::SumAbove above = part(1), below = part(-1);
    const Real off = std::max(above.above() - below.below(), below.above() - above.below()),
               least = std::min(above.below(), below.below());
    return {off > 0 ? (least > 0 ? 1.01 * off / least : infinity) : 0, 0};
  }

protected:
  CVec targets_, weights_;
};

// Defined in sample_losses.hpp, which only one file includes, because it takes long to compile.
std::unique_ptr<SampleLoss> over_samples(const AnyLoss& loss, CVec targets, CVec weights);

} // namespace southwell
