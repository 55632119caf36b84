// The vector x of an incremental method. Every step updates all of x, with slope z_j plus what the row adds
// to it.
//
// Lazy: the updates of a coordinate without an entry in the row (its drift) are postponed until a row with an
// entry comes, so that a step costs the entries of its row. The data of a coordinate lie on half a cache
// line, because rows access coordinates in no particular order. Eager: if every row has an entry for every
// coordinate, nothing can be postponed, and plain vectors let the loops use SIMD.
#pragma once
#include "core/design/fiber.hpp"
#include "core/penalties/drift.hpp"
#include "core/support/huge_pages.hpp"

namespace southwell {

template <bool plain> class LazyCoordinates {
public:
  LazyCoordinates(const ElasticNet& penalty, Real tau, Real extra, Real theta, CVec x)
      : drift_(penalty, Index(x.size()), tau, extra), theta_(theta) {
    coordinates_.reserve(x.size());
    for (const Real start : x) coordinates_.push_back({start, start, 0, 0});
  }

  Index size() const { return Index(coordinates_.size()); }
  Real x(Index j) const { return coordinates_[j].x; } // after `arrive`
  Real& slope(Index j) { return coordinates_[j].slope; }
  void prefetch(Index j) const { SOUTHWELL_PREFETCH(&coordinates_[j]); }

  // For one coordinate: `meet` brings it up to date, `extrapolated` returns x_j + theta (x_j - x_j before),
  // `waits` says whether it has yet to move in this step, and `leap` moves it.
  SOUTHWELL_INLINE void meet(Index j) {
    Coordinate& c = coordinates_[j];
    if (const Index k = now_ - c.time; k > 0) {
      c.before = k == 1 ? c.x : drift_.times(j, c.x, c.slope, k - 1);
      c.x = drift_.once(j, c.before, c.slope);
      c.time = now_;
    }
  }
  SOUTHWELL_INLINE Real extrapolated(Index j) const {
    const Coordinate& c = coordinates_[j];
    return c.x + theta_ * (c.x - c.before);
  }
  bool waits(Index j) const { return coordinates_[j].time == now_; }
  SOUTHWELL_INLINE void leap(Index j, Real by, Real slope_by) {
    Coordinate& c = coordinates_[j];
    c.before = c.x;
    c.x = drift_.once(j, c.x, c.slope + by);
    c.slope += slope_by;
    c.time = now_ + 1;
  }

  // The same for all coordinates of a row.
  template <class F> SOUTHWELL_INLINE Real read(const F& row) {
    return row.sum([&](Index j, Real a) {
      meet(j);
      return a * extrapolated(j);
    });
  }
  template <class F> SOUTHWELL_INLINE void leap(const F& row, Real by, Real slope_by) {
    if (by != 0) row.visit([&](Index j, Real a) { leap(j, by * a, slope_by * a); });
  }
  void next() { ++now_; }
  void arrive() { // brings all coordinates up to date
    for (Index j = 0; j < size(); ++j) meet(j);
  }
  void pace(Real tau) { // the length of the steps from now on; after `arrive`
    drift_.pace(tau);
  }

private:
  struct Coordinate { // x as of `time`, the x one step before, and the slope
    Real x, before, slope;
    Index time;
  };
  Drift<plain> drift_;
  Real theta_;
  Index now_ = 0;
  std::vector<Coordinate, HugePages<Coordinate>> coordinates_;
};

namespace kernels {

// x <- soft(x - tau pull, threshold) rho, ahead = x + theta (x - x before)
SOUTHWELL_CLONES inline void leap(Real* x, Real* ahead, const Real* pull, Real tau, Real threshold, Real rho,
                                  Real theta, Index n) {
#pragma omp simd
  for (Index j = 0; j < n; ++j) {
    const Real before = x[j], next = soft(before - tau * pull[j], threshold) * rho;
    x[j] = next;
    ahead[j] = next + theta * (next - before);
  }
}

} // namespace kernels

// For dense rows and the same penalty without bounds on every coordinate.
class EagerCoordinates {
public:
  EagerCoordinates(const ElasticNet& penalty, Real tau, Real extra, Real theta, CVec x)
      : net_(penalty[0].with_ridge(extra)), tau_(tau), step_(net_.shrinkage(tau)), theta_(theta),
        x_(x.begin(), x.end()), ahead_(x_), slope_(x.size()), pull_(x.size()), moved_(x.size(), -1) {}

  Index size() const { return Index(x_.size()); }
  Real x(Index j) const { return x_[j]; }
  Real& slope(Index j) { return slope_[j]; }
  void prefetch(Index) const {}

  void meet(Index) {}
  Real extrapolated(Index j) const { return ahead_[j]; }
  bool waits(Index j) const { return moved_[j] != now_; }
  void leap(Index j, Real by, Real slope_by) {
    const Real pull = slope_[j] + by;
    kernels::leap(&x_[j], &ahead_[j], &pull, tau_, step_.threshold, step_.factor, theta_, 1);
    slope_[j] += slope_by;
    moved_[j] = now_;
  }

  template <class F> Real read(const F& row) const { return row.dot(ahead_); }
  template <class F> void leap(const F& row, Real by, Real slope_by) {
    const Real* pull = slope_.data();
    if (by != 0) {
      std::copy(slope_.begin(), slope_.end(), pull_.begin());
      row.add_to(pull_, by);
      pull = pull_.data();
    }
    kernels::leap(x_.data(), ahead_.data(), pull, tau_, step_.threshold, step_.factor, theta_, size());
    if (slope_by != 0) row.add_to(slope_, slope_by);
  }
  void next() { ++now_; }
  void arrive() {}
  void pace(Real tau) {
    tau_ = tau;
    step_ = net_.shrinkage(tau);
  }

private:
  ScalarElasticNet net_;
  Real tau_;
  Shrinkage step_; // the proximal step, with `extra`
  Real theta_;
  std::vector<Real> x_, ahead_, slope_, pull_;
  std::vector<Index> moved_; // the step in which it last moved, for batches
  Index now_ = 0;
};

} // namespace southwell
