// The loss term over all samples, sum_i s_i phi(m_i; b_i), erased: its loops are long, so a virtual call is
// free.
#pragma once
#include "core/losses/all.hpp"
#include "core/support/rounding.hpp"
#include <memory>

namespace southwell {

struct Slope {
  Real first, second; // sum_i s_i phi', sum_i s_i phi''
};

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

// y sums to zero, s-weighted, after its positive or its negative part is scaled towards 0.
inline void balance(CVec weights, Vec y) {
  CompensatedSum above, below; // equal terms round alike: plain sums of many would drift
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
  // The same with all rounding errors counted: at margins that are known within radii, and at y in the
  // domain.
  virtual Real value_above(CVec margins, CVec radii) const = 0;
  virtual ConjugateAbove conjugate_above(CVec y) const = 0;
  virtual Interval domain(Index i) const = 0; // of phi_i*
  virtual Real smoothness() const = 0;        // 1/gamma
  virtual bool smooth() const = 0;            // has it no kinks?
  virtual bool quadratic() const = 0;         // is its curvature the same everywhere?
  virtual bool piecewise() const = 0;         // is it, in pieces?

  // One sample at a time, for algorithms whose steps are long.
  virtual Real derivative(Index i, Real m) const = 0;
  virtual Real maximise(Index i, Real m, Real y0,
                        Real q) const = 0;                 // argmax  y m - phi*(y) - (q/2)(y - y0)^2
  virtual Real bracket(Index i, Real m, Real y) const = 0; // phi(m) + phi*(y) - y m >= 0

  Real size(CVec margins, CVec y) const { // sum_i s_i |y_i| (|m_i| + |b_i|): what the gap is a difference of
    Real total = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      total += weights_[i] * std::abs(y[i]) * (std::abs(margins[i]) + std::abs(targets_[i]));
    return total;
  }

  void balance(Vec y) const { southwell::balance(weights_, y); }
  // y moved into the domain, by so much that its ends may be off by rounding.
  virtual Distance strictly_inside(Vec y) const = 0;
  // A point that sums to zero exactly has the positive or the negative part of y scaled towards 0.
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

namespace kernels {

template <Loss L>
SOUTHWELL_CLONES Real loss_value(const L& loss, const Real* m, Real shift, const Real* b, const Real* s,
                                 Index n) {
  Real total = 0;
#pragma omp simd reduction(+ : total)
  for (Index i = 0; i < n; ++i) {
    const Real term = s[i] * loss.value(m[i] + shift, b[i]);
    total += s[i] > 0 ? term : 0; // not 0 * infinity
  }
  return total;
}

template <Loss L>
SOUTHWELL_CLONES Real loss_conjugate(const L& loss, const Real* y, Real scale, const Real* b, const Real* s,
                                     Index n) {
  Real total = 0;
#pragma omp simd reduction(+ : total)
  for (Index i = 0; i < n; ++i) {
    const Real term = s[i] * loss.conjugate(scale * y[i], b[i]);
    total += s[i] > 0 ? term : 0;
  }
  return total;
}

template <Loss L>
SOUTHWELL_CLONES Slope loss_slope(const L& loss, const Real* m, Real shift, const Real* b, const Real* s,
                                  Index n) {
  Real first = 0, second = 0;
#pragma omp simd reduction(+ : first, second)
  for (Index i = 0; i < n; ++i) {
    const Real y = loss.derivative(m[i] + shift, b[i]);
    first += s[i] * y;
    second += s[i] * loss.curvature(y, b[i]);
  }
  return {first, second};
}

template <Loss L>
SOUTHWELL_CLONES void loss_derivative(const L& loss, const Real* m, const Real* b, Real* y, Index n) {
#pragma omp simd
  for (Index i = 0; i < n; ++i) y[i] = loss.derivative(m[i], b[i]);
}

template <Loss L>
SOUTHWELL_CLONES void loss_curvature(const L& loss, const Real* y, const Real* b, const Real* s, Real* h,
                                     Index n) {
#pragma omp simd
  for (Index i = 0; i < n; ++i) h[i] = s[i] * loss.curvature(y[i], b[i]);
}

// See SampleLoss::value_above and the like. phi is convex: over an interval it is largest at an end.
template <Loss L>
SOUTHWELL_CLONES rounding::Sum loss_value_above(const L& loss, const Real* m, const Real* radii,
                                                const Real* b, const Real* s, Index n) {
  Real total = 0, size = 0;
#pragma omp simd reduction(+ : total, size)
  for (Index i = 0; i < n; ++i) {
    const Real off = 1.01 * (radii[i] + 2 * rounding::unit * std::abs(m[i])), low = m[i] - off,
               high = m[i] + off, below = loss.value(low, b[i]), above = loss.value(high, b[i]),
               term = s[i] * std::max(below + loss.value_rounding(low, b[i], below),
                                      above + loss.value_rounding(high, b[i], above));
    total += s[i] > 0 ? term : 0;
    size += s[i] > 0 ? std::abs(term) : 0;
  }
  return {total, size};
}

template <Loss L>
SOUTHWELL_CLONES rounding::Sum loss_conjugate_above(const L& loss, const Real* y, const Real* b,
                                                    const Real* s, Index n) {
  Real total = 0, size = 0;
#pragma omp simd reduction(+ : total, size)
  for (Index i = 0; i < n; ++i) {
    const Real value = loss.conjugate(y[i], b[i]),
               term = s[i] * (value + loss.conjugate_rounding(y[i], b[i], value));
    total += s[i] > 0 ? term : 0;
    size += s[i] > 0 ? std::abs(term) : 0;
  }
  return {total, size};
}

template <Loss L> SOUTHWELL_CLONES void strictly_inside(const L& loss, Real* y, const Real* b, Index n) {
#pragma omp simd
  for (Index i = 0; i < n; ++i) y[i] = clip(y[i], loss.domain(b[i])) * (1 - 0x1p-50);
}

} // namespace kernels

template <Loss L> class SampleLossOf final : public SampleLoss {
public:
  SampleLossOf(L loss, CVec targets, CVec weights) : SampleLoss(targets, weights), loss_(loss) {}

  Real value(CVec m, Real shift) const override {
    return kernels::loss_value(loss_, m.data(), shift, targets_.data(), weights_.data(), samples());
  }
  Slope slope(CVec m, Real shift) const override {
    return kernels::loss_slope(loss_, m.data(), shift, targets_.data(), weights_.data(), samples());
  }
  void derivative(CVec m, Vec y) const override {
    kernels::loss_derivative(loss_, m.data(), targets_.data(), y.data(), samples());
  }
  void curvature(CVec y, Vec h) const override {
    kernels::loss_curvature(loss_, y.data(), targets_.data(), weights_.data(), h.data(), samples());
  }
  Real maximise(CVec m, CVec centre, Real q, Vec y) const override {
    Real total = 0;
    for (Index i = 0; i < samples(); ++i) {
      const Real b = targets_[i], to = y[i] = loss_.maximise(m[i], centre[i], q, b), off = to - centre[i];
      if (weights_[i] > 0) total += weights_[i] * (to * m[i] - loss_.conjugate(to, b) - q / 2 * off * off);
    }
    return total;
  }
  Real conjugate(CVec y, Real scale) const override {
    return kernels::loss_conjugate(loss_, y.data(), scale, targets_.data(), weights_.data(), samples());
  }
  Real value_above(CVec m, CVec radii) const override {
    const auto chunk = [&](Index from, Index size) {
      return kernels::loss_value_above(loss_, m.data() + from, radii.data() + from, targets_.data() + from,
                                       weights_.data() + from, size);
    };
    return rounding::sum_of_chunks(samples(), chunk).above();
  }
  ConjugateAbove conjugate_above(CVec y) const override {
    const auto chunk = [&](Index from, Index size) {
      return kernels::loss_conjugate_above(loss_, y.data() + from, targets_.data() + from,
                                           weights_.data() + from, size);
    };
    const rounding::SumAbove sum = rounding::sum_of_chunks(samples(), chunk);
    return {sum.above(), sum.size()};
  }
  Distance strictly_inside(Vec y) const override {
    kernels::strictly_inside(loss_, y.data(), targets_.data(), samples());
    return {};
  }
  Interval domain(Index i) const override { return loss_.domain(targets_[i]); }
  Real smoothness() const override { return loss_.smoothness(); }
  bool smooth() const override { return L::smooth; }
  bool quadratic() const override { return std::is_same_v<L, Squared>; }
  bool piecewise() const override { return L::self_concordance == 0; }
  Real derivative(Index i, Real m) const override { return loss_.derivative(m, targets_[i]); }
  Real maximise(Index i, Real m, Real y0, Real q) const override {
    return loss_.maximise(m, y0, q, targets_[i]);
  }
  Real bracket(Index i, Real m, Real y) const override {
    return std::max(loss_.value(m, targets_[i]) + loss_.conjugate(y, targets_[i]) - y * m, 0.0);
  }

private:
  L loss_;
};

inline std::unique_ptr<SampleLoss> over_samples(const AnyLoss& loss, CVec targets, CVec weights) {
  return std::visit(
      [&]<class L>(const L& l) -> std::unique_ptr<SampleLoss> {
        return std::make_unique<SampleLossOf<L>>(l, targets, weights);
      },
      loss);
}

} // namespace southwell
