// Anderson extrapolation of sweeps (for coordinate descent: Bertrand and Massias 2021; of residuals, which
// are dual points: Massias, Gramfort and Salmon 2018). Of the last iterates the affine combination is taken
// whose steps, combined alike, would be the shortest. Whatever is affine in x is combined with it, without
// another look at the data.
#pragma once
#include "core/policy.hpp"
#include "core/support/cholesky.hpp"
#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace southwell {

class Extrapolation {
public:
  explicit Extrapolation(const Policy& policy)
      : steps_(std::max(std::size_t(policy.extrapolated), std::size_t(1))), iterates_(steps_ + 1) {}

  void forget() { count_ = 0; }
  bool ready() const { return count_ == steps_ + 1; }
  // An iterate, and what is affine in it.
  void remember(CVec x, CVec images) {
    if (ready()) {
      std::rotate(iterates_.begin(), iterates_.begin() + 1, iterates_.end());
      --count_;
    }
    auto& [point, image] = iterates_[count_++];
    point.assign(x.begin(), x.end());
    image.assign(images.begin(), images.end());
  }
  // In place of the last of them. False, and nothing changes, if steps are too much alike to tell.
  bool operator()(Vec x, Vec images) const {
    std::vector<Real> mix(steps_, 1.0), row(steps_);
    Cholesky gram;
    Real size = 0;
    for (std::size_t k = 0; k < steps_; ++k) size += product(k, k);
    for (std::size_t k = 0; k < steps_; ++k) {
      for (std::size_t l = 0; l <= k; ++l) row[l] = product(k, l) + (l == k ? 1e-12 * size : 0);
      if (!gram.append(row.data())) return false;
    }
    gram.solve(mix.data());
    const Real total = std::accumulate(mix.begin(), mix.end(), 0.0);
    if (!(std::abs(total) > 0) || !std::isfinite(total)) return false;
    std::fill(x.begin(), x.end(), 0.0);
    std::fill(images.begin(), images.end(), 0.0);
    for (std::size_t k = 0; k < steps_; ++k) {
      const Real part = mix[k] / total;
      const auto& [point, image] = iterates_[k + 1];
      for (std::size_t t = 0; t < x.size(); ++t) x[t] += part * point[t];
      for (std::size_t i = 0; i < images.size(); ++i) images[i] += part * image[i];
    }
    return true;
  }

private:
  struct Iterate {
    std::vector<Real> x, images;
  };
  Real product(std::size_t k, std::size_t l) const { // of two steps
    const auto step = [&](std::size_t s, Index t) { return iterates_[s + 1].x[t] - iterates_[s].x[t]; };
    return unrolled(Index(iterates_[0].x.size()), [&](Index t) { return step(k, t) * step(l, t); });
  }

  std::size_t steps_;
  std::vector<Iterate> iterates_;
  std::size_t count_ = 0;
};

} // namespace southwell
