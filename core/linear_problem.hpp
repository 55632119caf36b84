// What problems over numbers and over blocks have in common: data A, and a loss over margins A X of k numbers
// a sample. X has a row of k numbers for each feature; the last row is that of the intercept, if there is
// one.
#pragma once
#include "core/design/design.hpp"
#include "core/loss_sum.hpp"
#include "core/question.hpp"

namespace southwell {

struct LinearProblem : Question {
  const Design& design;

  explicit LinearProblem(const Design& design) : design(design) {}

  virtual const LossSum& losses() const = 0;
  virtual bool has_intercept() const = 0;
  // Is x_j (or a row of X) free to grow along the sign of v, without a penalty or a bound? Then a slope of
  // the sign of -v must be zero. An intercept is free both ways.
  virtual bool open(Index j, Real v) const = 0;
  virtual Real end(Index) const { return infinity; } // the bound of an x_j that is open one way only
  virtual Real dual_at_zero() const = 0;             // D(0), a lower bound that needs no product
  // The best intercept for margins without one, from a guess, in its place; the margins then have it.
  virtual void settle_intercept(Vec intercept, Vec margins) const = 0;

  Index width() const { return losses().width(); }
  Index features() const { return design.cols() - has_intercept(); }
  // Features that are open, in one direction at least.
  virtual std::vector<Index> open_features() const {
    std::vector<Index> found;
    for (Index j = 0; j < features(); ++j)
      if (open(j, 1) || open(j, -1)) found.push_back(j);
    return found;
  }
  Index primal_size() const override { return design.cols() * width(); }
  Index dual_size() const override { return design.rows() * width(); }
  Index stored() const override { return design.stored(); }
  Real terms(const Point& point) const override { return losses().size(point.margins, point.y); }

  void slopes(CVec y, Vec z) const { // Z = A'(s o Y)
    if (width() == 1) return design.adjoint(losses().weights(), y, z);
    std::vector<Real> weighted(y.begin(), y.end());
    weigh(weighted);
    design.adjoint(weighted, width(), z);
  }
  void weigh(Vec y) const { // by samples
    const CVec s = losses().weights();
    const auto k = std::size_t(width());
    for (std::size_t i = 0; i < s.size(); ++i)
      for (std::size_t c = 0; c < k; ++c) y[i * k + c] *= s[i];
  }
};

} // namespace southwell
