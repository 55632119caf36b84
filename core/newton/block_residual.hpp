// The residual R_i + H_i (A (X - X0))_i of a quadratic model over blocks, H_i = diag(h_i) or, where margins
// compete, diag(h_i) - h_i h_i'/sum h_i, kept true as rows of X move. Like that of numbers (residual.hpp) it
// is in two parts, what is stored and H_i t with the k numbers t that the frame has added to all margins: a
// move costs the stored entries of its column, and k^2 for the sum over all samples.
#pragma once
#include "core/design/wide.hpp"
#include "core/loss_sum.hpp"
#include "core/newton/expansion.hpp"
#include "core/support/simd.hpp"

namespace southwell {

class BlockResidual {
public:
  BlockResidual(const LossSum& loss, const Expansion& at) : loss_(loss), at_(at), k_(loss.width()) {}

  void begin(CVec r) {
    stored_.assign(r.begin(), r.end());
    t_.assign(std::size_t(k_), 0.0);
  }
  // Before sweeps; `framed`: has any column a constant?
  void begin_sweeps(bool framed) {
    framed_ = framed;
    if (!framed) return;
    total_.assign(std::size_t(k_), 0.0);
    diagonal_.assign(std::size_t(k_), 0.0);
    for (std::size_t e = 0; e < stored_.size(); ++e) {
      total_[e % std::size_t(k_)] += stored_[e];
      diagonal_[e % std::size_t(k_)] += at_.h[e];
    }
    competition_ = loss_.competition(at_.h);
    for (Index a = 0; a < (competition_.empty() ? 0 : k_); ++a) // the whole of a symmetric matrix
      for (Index b = a + 1; b < k_; ++b) competition_[a * k_ + b] = competition_[b * k_ + a];
  }

  // Of a column that is `column` plus gamma, as it is now.
  template <class F> void slope(const F& column, Real gamma, Real* out) const {
    if (!framed_) return dot_wide(column, stored_.data(), k_, out);
    column.visit([&](Index i, Real a) {
      const Real *r = stored_.data() + i * k_, *h = at_.h.data() + i * k_;
      const Real mean = centre(h, t_.data());
      for (Index c = 0; c < k_; ++c) out[c] += a * (r[c] + h[c] * (t_[c] - mean));
    });
    for (Index c = 0; c < k_; ++c) out[c] += gamma * total_[c];
  }
  template <class F> void move(const F& column, Real gamma, const Real* by) {
    if (k_ == 1 && !framed_) return column.visit([&](Index i, Real a) { stored_[i] += at_.h[i] * a * *by; });
    column.visit([&](Index i, Real a) {
      const Real* h = at_.h.data() + i * k_;
      Real* r = stored_.data() + i * k_;
      const Real mean = centre(h, by);
      for (Index c = 0; c < k_; ++c) {
        const Real change = a * h[c] * (by[c] - mean);
        r[c] += change;
        if (framed_) total_[c] += change;
      }
    });
    if (gamma == 0) return;
    for (Index c = 0; c < k_; ++c) {
      t_[c] += gamma * by[c];
      total_[c] += gamma * diagonal_[c] * by[c];
      if (loss_.coupled()) total_[c] += gamma * kernels::dot(competition_.data() + c * k_, by, k_);
    }
  }
  // All of it as one table.
  CVec whole() {
    if (std::any_of(t_.begin(), t_.end(), [](Real v) { return v != 0; }))
      for (std::size_t i = 0; i < stored_.size() / t_.size(); ++i) {
        const Real* h = at_.h.data() + i * t_.size();
        const Real mean = centre(h, t_.data());
        for (std::size_t c = 0; c < t_.size(); ++c) stored_[i * t_.size() + c] += h[c] * (t_[c] - mean);
      }
    std::fill(t_.begin(), t_.end(), 0.0);
    return stored_;
  }

private:
  Real centre(const Real* h, const Real* v) const { return loss_.coupled() ? loss_.centre(h, v) : 0; }

  const LossSum& loss_;
  const Expansion& at_;
  Index k_;
  bool framed_ = false;
  std::vector<Real> stored_, t_;
  std::vector<Real> total_;                  // over the samples, of all of it
  std::vector<Real> diagonal_, competition_; // of sum_i H_i
};

} // namespace southwell
