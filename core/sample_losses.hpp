// SampleLoss for each loss: loops over samples that are compiled for each instruction set.
#pragma once
#include "core/offset_samples.hpp"

namespace southwell {

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

  using SampleLoss::derivative;
  using SampleLoss::maximise;
  using SampleLoss::value;
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
  bool quadratic() const override { return L::quadratic; }
  bool piecewise() const override { return L::piecewise; }
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

std::unique_ptr<SampleLoss> over_samples(const AnyLoss& loss, CVec targets, CVec weights, CVec offsets) {
  auto made = std::visit(
      [&]<class L>(const L& l) -> std::unique_ptr<SampleLoss> {
        return std::make_unique<SampleLossOf<L>>(l, targets, weights);
      },
      loss);
  return with_offsets(std::move(made), offsets);
}

} // namespace southwell
