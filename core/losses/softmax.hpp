// phi(m) = log sum_c exp(m_c) - m_b: the multinomial logistic loss. phi*(p - e_b) = sum_c p_c log p_c on
// probability vectors p. Of two classes it is the logistic loss of m_b - m_other.
#pragma once
#include "core/losses/loss.hpp"
#include "core/losses/simplex.hpp"
#include "core/support/rounding.hpp"
#include <vector>

namespace southwell {

namespace kernels {

SOUTHWELL_CLONES inline void exponentials(Real* v, Index n) {
#pragma omp simd
  for (Index i = 0; i < n; ++i) v[i] = exponential(v[i]);
}

} // namespace kernels

struct Softmax : ManyMargins {
  static constexpr std::string_view name = "softmax";
  static constexpr bool log_odds = true; // differences of margins are

  Real value(const Real* m, Index k, Index b) const {
    Real value;
    values(m, 1, k, &b, &value);
    return value;
  }
  // argmax_p  <p, m> - sum_c p_c log p_c
  void derivative(const Real* m, Index k, Index b, Real* y) const { derivatives(m, 1, k, &b, y); }
  // Of many samples at once: the exponentials are taken together.
  void derivatives(const Real* m, Index samples, Index k, const Index* b, Real* y) const {
    for (Index i = 0; i < samples; ++i) {
      const Real top = *std::max_element(m + i * k, m + (i + 1) * k);
      for (Index e = i * k; e < (i + 1) * k; ++e) y[e] = m[e] - top;
    }
    kernels::exponentials(y, samples * k);
    for (Index i = 0; i < samples; ++i) normalise(k, b[i], y + i * k);
  }
  void values(const Real* m, Index samples, Index k, const Index* b, Real* out) const {
    thread_local std::vector<Real> shifted;
    shifted.resize(std::size_t(samples * k));
    for (Index i = 0; i < samples; ++i) {
      const Real* top = std::max_element(m + i * k, m + (i + 1) * k);
      for (Index e = i * k; e < (i + 1) * k; ++e) shifted[e] = m[e] - *top;
      shifted[top - m] = -800; // its 1 would drown the others: log1p has it
      out[i] = *top - m[i * k + b[i]];
    }
    kernels::exponentials(shifted.data(), samples * k);
    for (Index i = 0; i < samples; ++i) {
      Real rest = 0;
      for (Index e = i * k; e < (i + 1) * k; ++e) rest += shifted[e];
      out[i] += std::log1p(rest);
    }
  }
  Real conjugate(const Real* y, Real scale, Index k, Index b) const {
    Real total = 0, others = 0;
    for (Index c = 0; c < k; ++c) {
      if (c == b) continue;
      const Real p = scale * y[c];
      if (p < -1e-12) return infinity;
      others += p;
      total += xlogx(p);
    }
    const Real own = 1 + scale * y[b];
    if (own < -1e-11 || std::abs(scale * y[b] + others) > 1e-11) return infinity;
    return total + (others < 0.5 ? (1 - others) * std::log1p(-others) : xlogx(own));
  }
  // Bounds of the errors of both, as computed. Differences of margins are off by u of each, and so are the
  // exponents; the sum of k exponentials by k u of itself.
  Real value_rounding(const Real* m, Index k, Index b) const {
    Real most = 0;
    for (Index c = 0; c < k; ++c) most = std::max(most, std::abs(m[c]));
    return rounding::unit * (8 * most + Real(k + 16) * (1 + value(m, k, b))) + rounding::tiny;
  }
  // p_b is one less the sum of the others, which is off by k u of itself: that counts log p_b times.
  Real conjugate_rounding(const Real* y, Index k, Index b) const {
    Real size = 1, others = 0;
    for (Index c = 0; c < k; ++c)
      if (c != b) {
        others += y[c];
        size += std::abs(xlogx(y[c]));
      }
    size -= std::log(std::max(1 - others, rounding::unit));
    return 16 * Real(k + 16) * rounding::unit * size + rounding::tiny;
  }
  // The diagonal h of H = diag(h) - h h' / sum h, the second derivative where the first is y.
  void curvature(const Real* y, Index k, Index b, Real* h) const {
    for (Index c = 0; c < k; ++c) h[c] = std::max(y[c] + (c == b), 0.0);
  }
  // argmax_y  <y, m> - phi*(y) - (q/2) ||y - y0||^2. With p = y + e_b each entry solves
  //     log p_c + q p_c = a_c - nu,     a = m + q p0,
  // for the nu that makes them sum to one: Newton on nu, bracketed; inside, Newton on log p_c.
  void maximise(const Real* m, const Real* y0, Real q, Index k, Index b, Real* y) const {
    if (q == 0) return derivative(m, k, b, y);
    thread_local std::vector<Real> a, u;
    a.resize(std::size_t(k));
    u.resize(std::size_t(k));
    Real top = -infinity;
    for (Index c = 0; c < k; ++c) top = std::max(top, a[c] = m[c] + q * (y0[c] + (c == b)));
    for (Index c = 0; c < k; ++c) a[c] -= top;
    // At nu = -q the largest alone is 1; at nu = log k each is at most 1/k.
    Real lo = -q, hi = std::log(Real(k)), nu = clip(0, lo, hi);
    for (Index c = 0; c < k; ++c) u[c] = std::min(a[c] - nu, 0.0); // to the right of the root
    for (int round = 0; round < 100; ++round) {
      Real total = -1, slope = 0;
      for (Index c = 0; c < k; ++c) {
        const Real to = a[c] - nu;
        Real at = std::min(std::max(u[c], std::min(to, 0.0) - q), to); // p <= 1: the root is in between
        Real p = 0;
        for (int step = 0; step < 50; ++step) {
          p = exponential(at);
          const Real by = (to - at - q * p) / (1 + q * p);
          at = std::min(at + by, 0.0); // p <= 1
          if (std::abs(by) <= 1e-9 * (1 + std::abs(at))) break;
        }
        p = exponential(at);
        u[c] = at;
        total += p;
        slope += p / (1 + q * p);
      }
      (total > 0 ? lo : hi) = nu;
      const Real by = total / slope;
      Real next = nu + by;
      if (!(next > lo && next < hi)) next = lo + (hi - lo) / 2;
      const bool close =
          std::abs(total) <= 1e-15 * Real(k) || next == nu || hi - lo <= 1e-16 * (1 + std::abs(nu));
      if (close) break;
      nu = next;
    }
    for (Index c = 0; c < k; ++c) y[c] = exponential(u[c]);
    normalise(k, b, y);
  }
  Real largest_conjugate() const { return 0; } // over the domain
  Real smoothness() const { return 0.5; }      // the largest eigenvalue of diag(p) - p p'

private:
  static void normalise(Index k, Index b, Real* y) { // p, less e_b
    Real total = 0, others = 0;
    for (Index c = 0; c < k; ++c) total += y[c];
    for (Index c = 0; c < k; ++c) {
      y[c] /= total;
      others += c == b ? 0 : y[c];
    }
    y[b] = -others; // p_b - 1, exact where p_b is near 1
  }
};

} // namespace southwell
