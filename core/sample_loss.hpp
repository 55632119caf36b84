// The loss term over samples of one margin each, sum_i s_i phi(m_i; b_i).
#pragma once
#include "core/loss_sum.hpp"
#include "core/losses/all.hpp"
#include <memory>

namespace southwell {

struct Slope {
  Real first, second; // sum_i s_i phi', sum_i s_i phi''
};

// y sums to zero, s-weighted, after its positive or its negative part is scaled towards 0.
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

class SampleLoss : public LossSum {
public:
  SampleLoss(CVec targets, CVec weights) : LossSum(1, weights), targets_(targets) {}

  CVec targets() const final { return targets_; }

  using LossSum::derivative;
  using LossSum::maximise;
  Real value(CVec margins) const final { return value(margins, 0); }
  virtual Real value(CVec margins, Real shift) const = 0;  // sum_i s_i phi(m_i + shift)
  virtual Slope slope(CVec margins, Real shift) const = 0; // its derivatives in the shift
  // y_i = argmax  y m_i - phi*(y) - (q/2)(y - centre_i)^2; returns sum_i s_i times what is attained
  virtual Real maximise(CVec margins, CVec centre, Real q, Vec y) const = 0;
  virtual Interval domain(Index i) const = 0; // of phi_i*

  bool coupled() const final { return false; }
  const SampleLoss* separate() const final { return this; }
  void derivative(Index i, const Real* m, Real* y) const final { *y = derivative(i, *m); }
  void maximise(Index i, const Real* m, const Real* y0, Real q, Real* y) const final {
    *y = maximise(i, *m, *y0, q);
  }
  void into_domain(Vec y) const final {
    for (std::size_t i = 0; i < y.size(); ++i) y[i] = clip(y[i], domain(Index(i)));
  }
  void inside(CVec y, Vec h) const final {
    for (std::size_t i = 0; i < y.size(); ++i) {
      const Interval dom = domain(Index(i));
      h[i] = y[i] > dom.lo && y[i] < dom.hi ? weights_[i] : 0;
    }
  }

  // One sample at a time, for algorithms whose steps are long.
  virtual Real derivative(Index i, Real m) const = 0;
  virtual Real maximise(Index i, Real m, Real y0,
                        Real q) const = 0;                 // argmax  y m - phi*(y) - (q/2)(y - y0)^2
  virtual Real bracket(Index i, Real m, Real y) const = 0; // phi(m) + phi*(y) - y m >= 0

  // sum_i s_i |y_i| (|m_i| + |o_i| + |b_i|): what the gap is a difference of
  Real size(CVec margins, CVec y) const final {
    const CVec o = offsets();
    Real total = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      total += weights_[i] * std::abs(y[i]) *
               (std::abs(margins[i]) + (o.empty() ? 0 : std::abs(o[i])) + std::abs(targets_[i]));
    return total;
  }

  void balance(Vec y) const final { southwell::balance(weights_, y); }
  // A point that sums to zero exactly has the positive or the negative part of y scaled towards 0.
  Distance imbalance(CVec y) const final {
    if (std::all_of(y.begin(), y.end(), [](Real v) { return v == 0; })) return {}; // without any rounding
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
  CVec targets_;
};

// Defined in sample_losses.hpp, which only one file includes, because it takes long to compile.
std::unique_ptr<SampleLoss> over_samples(const AnyLoss& loss, CVec targets, CVec weights, CVec offsets = {});

} // namespace southwell
