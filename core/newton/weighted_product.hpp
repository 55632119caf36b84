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
    margins_.resize(h.size());
    Real u = 0, total = 0; // what the frame adds to all margins; the sum of what is then weighed
    Index cost = 0;
    const WorkingColumns& columns = weighted_.columns;
    columns.combine(
        Index(from.size()), [&](Index t) { return from[t]; }, [&](Index t) { return v[t]; }, margins_);
    for (std::size_t t = 0; t < from.size(); ++t) {
      u += v[t] * weighted_.gamma(from[t]);
      cost += columns.size(from[t]);
    }
    for (std::size_t i = 0; i < h.size(); ++i) total += margins_[i] *= h[i];
    Index entries = 0;
    for (const Index k : to) entries += columns.size(k);
    columns.visit([&](const auto& store) {
      divide(entries, [&](int part, int parts) {
        const std::size_t size = to.size(), last = size * (part + 1) / parts;
        for (std::size_t t = size * part / parts; t < last; ++t) {
          const Index k = to[t];
          image[t] = store[k].dot(margins_) + u * weighted_.coordinates[k].weighted +
                     weighted_.gamma(k) * (total + u * weighted_.at.total_h);
        }
      });
    });
    return cost + entries;
  }

private:
  const Weighted& weighted_;
  std::vector<Real> margins_;
};

} // namespace southwell
