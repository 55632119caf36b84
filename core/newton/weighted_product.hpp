// image = A_T' diag(h) A_S v for slots T and S of a working set, their frame included.
#pragma once
#include "core/newton/coordinate.hpp"
#include <span>

namespace southwell {

class WeightedProduct {
public:
  using Slots = std::span<const std::int32_t>;

  explicit WeightedProduct(const Weighted& weighted) : weighted_(weighted) {}

  Index operator()(Slots to, Slots from, CVec v, Vec image) { // returns the entries touched
    const CVec h = weighted_.at.h;
    margins_.assign(h.size(), 0.0);
    Real u = 0, total = 0; // what the frame adds to all margins; the sum of what is then weighed
    Index cost = 0;
    weighted_.columns.visit([&](const auto& store) {
      for (std::size_t t = 0; t < from.size(); ++t) {
        store[from[t]].add_to(margins_, v[t]);
        u += v[t] * weighted_.gamma(from[t]);
        cost += store[from[t]].size();
      }
      for (std::size_t i = 0; i < h.size(); ++i) total += margins_[i] *= h[i];
      for (std::size_t t = 0; t < to.size(); ++t) {
        const Index k = to[t];
        cost += store[k].size();
        image[t] = store[k].dot(margins_) + u * weighted_.coordinates[k].weighted +
                   weighted_.gamma(k) * (total + u * weighted_.at.total_h);
      }
    });
    return cost;
  }

private:
  const Weighted& weighted_;
  std::vector<Real> margins_;
};

} // namespace southwell
