// The loss around the present margins, to second order: what samples contribute to a quadratic model. Each
// vector has a number for each margin.
#pragma once
#include "core/newton/floor.hpp"
#include "core/newton/soft_loss.hpp"
#include <numeric>

namespace southwell {

struct Expansion {
  std::vector<Real> r; // s_i phi'
  // s_i phi''. Samples on flats are given a part of the most curvature there can be: h is then the mixture
  // (1 - flat) bare + flat most shares.
  std::vector<Real> h, bare; // the latter is empty where there are no flats
  Real flat = 0, most = 0, total_h = 0;
  std::vector<Real> shares; // of the margins in the mean: the sample weights
  bool smooth = true;       // does h change little where margins do?
  bool constant = false;    // does it never change?

  CVec curved() const { return bare.empty() ? CVec(h) : CVec(bare); }

  // At margins where the derivatives of the loss are y. `least` is the part of its slope that a sample has as
  // curvature at least; samples elsewhere may have a curvature of `steepest`. Returns whether h has changed.
  bool update(const LossSum& losses, const SoftLoss& loss, CVec y, const Floor& floor, Real least,
              Real steepest = 0) {
    if (shares.empty()) {
      smooth = !losses.piecewise();
      constant = losses.quadratic();
      for (const Real s : losses.weights()) shares.insert(shares.end(), std::size_t(losses.width()), s);
    }
    r.resize(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) r[i] = shares[i] * y[i];
    if (losses.quadratic() && !h.empty()) return false;
    h.resize(y.size());
    loss.curvature(y, h);
    flat = losses.quadratic() ? 0 : floor.part();
    most = floor.pieces() ? loss.most_curvature() : flat > 0 ? std::max(largest(), steepest) : 0;
    // A model that is steep and straight has no minimum: the logistic loss is so, far on the wrong side.
    if (smooth)
      for (std::size_t i = 0; i < h.size(); ++i) h[i] = std::max(h[i], least * std::abs(r[i]));
    bare.clear();
    if (flat > 0) {
      bare = h;
      for (std::size_t i = 0; i < h.size(); ++i) h[i] += flat * (most * shares[i] - h[i]);
    }
    total_h = std::reduce(h.begin(), h.end());
    return true;
  }

private:
  Real largest() const { // curvature of a sample
    Real value = 0;
    for (std::size_t i = 0; i < h.size(); ++i)
      value = shares[i] > 0 ? std::max(value, h[i] / shares[i]) : value;
    return value;
  }
};

} // namespace southwell
