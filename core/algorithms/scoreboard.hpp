// The scores of all coordinates, and which of them cannot have changed.
//
// Most coordinates are at their optimum (*content*): a feature at zero with a slope below l1, a sample at a
// bound with a margin beyond the kink. Their score is zero and stays zero while their reading (slope or
// margin) stays in a known interval. After a move it is enough to compare readings with intervals, which SIMD
// does fast, and to score the coordinates outside (*restless*).
#pragma once
#include "core/support/math.hpp"
#include <vector>

namespace southwell {

namespace kernels {

SOUTHWELL_CLONES inline bool any_outside(const Real* v, const float* lo, const float* hi, Index n) {
  int outside = 0;
#pragma omp simd reduction(| : outside)
  for (Index k = 0; k < n; ++k) outside |= int(v[k] < Real(lo[k])) | int(v[k] > Real(hi[k]));
  return outside != 0;
}

} // namespace kernels

class Scoreboard {
public:
  explicit Scoreboard(Index n) : scores_(n), lo_(n, 1), hi_(n, -1) {}

  CVec scores() const { return scores_; }
  // `quiet` is the interval of readings for which the score is zero; empty if the score is not zero, so that
  // it is computed again after every move.
  void set(Index k, Real score, Interval quiet) {
    scores_[k] = score;
    lo_[k] = upwards(quiet.lo);
    hi_[k] = downwards(quiet.hi);
  }
  Interval quiet(Index k) const { return {lo_[k], hi_[k]}; }
  bool restless(Index k, Real reading) const { return reading < Real(lo_[k]) || reading > Real(hi_[k]); }
  // f(k) for each restless k, the readings of all being given.
  template <class F> void visit_restless(CVec readings, F&& f) const {
    constexpr Index block = 64;
    for (Index start = 0, n = Index(readings.size()); start < n; start += block) {
      const Index end = std::min(start + block, n);
      if (kernels::any_outside(&readings[start], &lo_[start], &hi_[start], end - start))
        for (Index k = start; k < end; ++k)
          if (restless(k, readings[k])) f(k);
    }
  }

private:
  // Single precision halves the memory traffic. Intervals are rounded inwards, so that a score inside is
  // zero.
  static float upwards(Real v) {
    const float f = float(v);
    return Real(f) < v ? std::nextafter(f, std::numeric_limits<float>::infinity()) : f;
  }
  static float downwards(Real v) { return -upwards(-v); }

  std::vector<Real> scores_;
  std::vector<float> lo_, hi_;
};

} // namespace southwell
