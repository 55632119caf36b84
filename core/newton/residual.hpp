// The residual r + h o (A (x - x0)) of a quadratic model, kept true as x moves. It is in two parts, what is
// stored and u h, where u is what the frame has added to all margins alike: a move costs the stored entries
// of its column.
#pragma once
#include "core/newton/coordinate.hpp"
#include <numeric>

namespace southwell {

namespace kernels {

template <class Value>
SOUTHWELL_CLONES void add_weighted(const Value* a, Real shift, Real c, const Real* h, Real* v, Index n) {
#pragma omp simd
  for (Index k = 0; k < n; ++k) v[k] += c * h[k] * (Real(a[k]) + shift);
}

} // namespace kernels

class Residual {
public:
  explicit Residual(const Weighted& weighted) : weighted_(weighted) {}

  void begin(CVec r) {
    stored_.assign(r.begin(), r.end());
    total_ = std::reduce(r.begin(), r.end());
    u_ = 0;
  }
  void shift(Real u) { u_ += u; } // of all margins

  CVec stored() const { return stored_; }
  Real total() const { return total_; } // of what is stored

  // Of a coordinate, as it is now.
  template <class F> SOUTHWELL_INLINE Real slope(const F& fiber, const Coordinate& c) const {
    return fiber.dot(stored_) + u_ * c.weighted + c.gamma * (total_ + u_ * weighted_.at.total_h);
  }
  template <class F> SOUTHWELL_INLINE void move(const F& fiber, const Coordinate& c, Real by) {
    add(fiber, by);
    total_ += by * c.weighted;
    u_ += by * c.gamma;
  }
  // Many at once: margins change by `part` times `margins` and u, sum_i h_i margins_i being `weighted`.
  void move(CVec margins, Real u, Real weighted, Real part) {
    for (std::size_t i = 0; i < stored_.size(); ++i) stored_[i] += part * weighted_.at.h[i] * margins[i];
    total_ += part * weighted;
    u_ += part * u;
  }

  // All of it as one vector, which is affine in x.
  std::vector<Real> image() const {
    std::vector<Real> image(stored_);
    image.push_back(u_);
    image.push_back(total_);
    return image;
  }
  void become(CVec image) {
    stored_.assign(image.begin(), image.end() - 2);
    u_ = image[stored_.size()];
    total_ = image.back();
  }
  // By how much the quadratic part of the model would change then: sum_i (r_i + dr_i / 2) dr_i / h_i.
  Real change(CVec image) const {
    Real change = 0;
    const Real du = image[stored_.size()] - u_;
    for (std::size_t i = 0; i < stored_.size(); ++i) {
      const Real h = weighted_.at.h[i], by = image[i] - stored_[i] + du * h;
      if (h > 0) change += (stored_[i] + u_ * h + by / 2) * by / h;
    }
    return change;
  }

private:
  template <class Value> void add(const DenseFiber<Value>& fiber, Real by) {
    if (fiber.size() > 0)
      kernels::add_weighted(fiber.values(), fiber.shift(), by, weighted_.at.h.data(), stored_.data(),
                            fiber.size());
  }
  template <class F> void add(const F& fiber, Real by) {
    fiber.visit([&](Index i, Real a) { stored_[i] += by * weighted_.at.h[i] * a; });
  }

  const Weighted& weighted_;
  std::vector<Real> stored_;
  Real total_ = 0, u_ = 0;
};

} // namespace southwell
