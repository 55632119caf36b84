// Mirror for rows of `width` numbers: keeps an image up to date while coordinates move, each by `width`
// numbers, and reads the products of fibers with it. Where the map from the potential (A X, or A'(s o Y)) to
// the image is linear, with a rate for each position,
//
//     image = kept + tau' (rate o w),   <fiber k, image> = <stored_k, kept> + cross_k tau + gamma_k <w,
//     image>
//
// costs O(width) for the frame (fiber k = stored_k + gamma_k w), with cross_k = <stored_k, rate o w>. Where
// it is curved, reading costs as much, but a move with gamma_k != 0 visits the support of w.
#pragma once
#include "core/design/any_fibers.hpp"
#include <span>
#include <utility>

namespace southwell {

class WideMirror {
public:
  // `fibers` are stored ones; without `rates` the map is curved.
  WideMirror(const AnyFibers& fibers, Index width, std::vector<Real> rates)
      : fibers_(fibers), k_(width), rates_(std::move(rates)), common_(fibers.common()),
        tau_(std::size_t(width)), along_(tau_.size()), by_(tau_.size()),
        touched_(linear() ? 0 : fibers.length(), width) {
    if (!linear()) return;
    uniform_ = std::all_of(rates_.begin(), rates_.end(), [&](Real rate) { return rate == rates_[0]; });
    if (!framed()) return;
    std::vector<Real> rate_w(rates_);
    for (std::size_t i = 0; i < rate_w.size(); ++i) {
      rate_w[i] *= common_[i];
      common_curvature_ += rate_w[i] * common_[i];
    }
    for (Index k = 0; k < fibers.count(); ++k) cross_.push_back(fibers.dot(k, rate_w));
  }

  bool linear() const { return !rates_.empty(); }
  // Of a linear map the image is all that is needed.
  void reset(CVec image, CVec potential) {
    image_.assign(image.begin(), image.end());
    if (!linear()) potential_.assign(potential.begin(), potential.end());
    std::fill(tau_.begin(), tau_.end(), 0.0);
    sum_along();
  }
  const Real* potential(Index i) const { return potential_.data() + i * k_; }
  CVec potential() const { return potential_; }
  void put(Index i, const Real* row) { // of the image
    Real* own = image_.data() + i * k_;
    for (Index c = 0; c < k_; ++c) {
      if (framed()) along_[c] += common_[i] * (row[c] - own[c]);
      own[c] = row[c];
    }
  }

  Index size(Index k) const { return fibers_.size(k); }
  void read(Index k, Real* out) const {
    fibers_.dot(k, image_.data(), k_, out);
    if (!framed()) return;
    const Real gamma = fibers_.gamma(k), cross = linear() ? cross_[k] : 0;
    for (Index c = 0; c < k_; ++c) out[c] += cross * tau_[c] + gamma * along_[c];
  }
  // Coordinates move, each by a row of `by`. Of a curved map `renew(positions)` is called with the positions
  // whose potential has changed; it puts their image. Returns the entries touched.
  template <class Renew> Index move(std::span<const Index> which, CVec by, Renew&& renew) {
    Index cost = 0;
    touched_.settle();
    std::fill(by_.begin(), by_.end(), 0.0); // what the frame adds
    for (std::size_t t = 0; t < which.size(); ++t) {
      const Real *own = by.data() + Index(t) * k_, gamma = framed() ? fibers_.gamma(which[t]) : 0;
      linear() ? move_linear(which[t], own) : fibers_.add(which[t], own, k_, touched_);
      for (Index c = 0; gamma != 0 && c < k_; ++c) by_[c] += gamma * own[c]; // a move may have overflowed
      cost += fibers_.size(which[t]);
    }
    if (linear()) {
      for (Index c = 0; c < k_; ++c) {
        tau_[c] += by_[c];
        along_[c] += by_[c] * common_curvature_;
      }
      return cost;
    }
    const bool all = std::any_of(by_.begin(), by_.end(), [](Real v) { return v != 0; });
    if (all)
      for (Index i = 0; i < fibers_.length(); ++i)
        if (common_[i] != 0) {
          touched_.mark(i);
          for (Index c = 0; c < k_; ++c) potential_[i * k_ + c] += common_[i] * by_[c];
        }
    for (const std::uint32_t i : touched_.changed)
      for (Index e = Index(i) * k_; e < (Index(i) + 1) * k_; ++e)
        potential_[e] += std::exchange(touched_.values[e], 0.0);
    renew(std::span<const std::uint32_t>(touched_.changed));
    if (all) sum_along(); // what many small changes have rounded off
    return cost + (all ? fibers_.length() : 0);
  }

private:
  bool framed() const { return !common_.empty(); }
  void sum_along() {
    std::fill(along_.begin(), along_.end(), 0.0);
    for (std::size_t i = 0; i < common_.size(); ++i)
      for (Index c = 0; c < k_; ++c) along_[c] += common_[i] * image_[i * std::size_t(k_) + std::size_t(c)];
  }
  void move_linear(Index k, const Real* by) {
    if (framed())
      for (Index c = 0; c < k_; ++c) along_[c] += by[c] * cross_[k];
    if (uniform_) {
      scaled_.assign(by, by + k_);
      for (Real& v : scaled_) v *= rates_[0];
      return fibers_.add(k, scaled_.data(), k_, image_.data());
    }
    fibers_.copy(k, positions_, values_);
    for (std::size_t e = 0; e < values_.size(); ++e) {
      Real* row = image_.data() + positions_[e] * k_;
      for (Index c = 0; c < k_; ++c) row[c] += values_[e] * rates_[positions_[e]] * by[c];
    }
  }

  const AnyFibers& fibers_;
  Index k_;
  std::vector<Real> rates_, common_, cross_;
  std::vector<Real> image_, potential_; // the former without what the frame adds, of a linear map
  std::vector<Real> tau_, along_, by_;  // along_ is <w, image>
  Real common_curvature_ = 0;           // <w, rate o w>
  bool uniform_ = false;                // rates
  Ripple touched_;
  std::vector<Index> positions_;
  std::vector<Real> values_, scaled_;
};

} // namespace southwell
