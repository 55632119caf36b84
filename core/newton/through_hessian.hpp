// Sweeps on a formed H, which do not read the data, with Newton steps among them. `At` has the coordinates of
// the working set, and `H` forms the matrix from the columns (Weighted, Hessian) or asks for it (Answered,
// SummedHessian).
#pragma once
#include "core/newton/steps.hpp"

namespace southwell {

template <class At, class H> class ThroughHessian {
public:
  using Slots = std::vector<std::int32_t>;

  ThroughHessian(At& at, H& hessian, Ledger& ledger) : at_(at), hessian_(hessian), ledger_(ledger) {}

  // Whether H on these slots is cheap enough to form.
  bool pays(const Slots& slots) const { return hessian_.sweeps_pay(slots); }
  // From where the model begins, until no slope is asked to change by more than a part of the first change,
  // which is returned. Through about one row in `every`.
  Real solve(const Slots& slots, Real part, Index every) {
    const Index size = Index(slots.size());
    if (every > 1) hessian_.thin(every);
    hessian_.form(slots, ledger_);
    if (ledger_.stopped()) return 0;
    square_.resize(std::size_t(size * size));
    for (Index a = 0; a < size; ++a)
      for (Index b = 0; b < size; ++b) square_[a * size + b] = hessian_.formed()(slots[a], slots[b]);
    slopes_.resize(slots.size());
    for (Index t = 0; t < size; ++t) slopes_[t] = coordinate(slots[t]).slope;
    Real first = 0;
    for (int k = 0; k < int(at_.policy.hessian_part); ++k) {
      Real largest = 0;
      Index moves = 0;
      for (Index t = 0; t < size; ++t) {
        Coordinate& c = coordinate(slots[t]);
        const Real by = coordinate_step(c, c.curvature > 0 ? square_[t * size + t] : 0, slopes_[t], largest);
        if (by == 0) continue;
        moved(t, by);
        ++moves;
      }
      if (k == 0) first = largest;
      if (ledger_(Index(Real(moves * size) / at_.policy.sums_at_once)) || largest <= part * first) break;
      if ((k + 1) % std::max(int(at_.policy.hessian_newton), 1) == 0) newton(slots);
    }
    return first;
  }

private:
  Coordinate& coordinate(Index slot) { return at_.coordinates[slot]; }
  void moved(Index t, Real by) {
    const Index size = Index(slopes_.size());
    kernels::add(square_.data() + t * size, by, slopes_.data(), size);
  }
  void newton(const Slots& slots) {
    const Ledger::NewtonStep booked(ledger_);
    for (int most = int(at_.policy.steps_by_signs); most > 0; --most) {
      Slots support;
      std::vector<Index> at;
      std::vector<Real> slopes;
      for (std::size_t t = 0; t < slots.size(); ++t)
        if (coordinate(slots[t]).supports()) {
          support.push_back(slots[t]);
          at.push_back(Index(t));
          slopes.push_back(slopes_[t]);
        }
      if (support.empty()) return;
      const auto [direction, first] = newton_direction(at_, hessian_, support, slopes, ledger_);
      if (ledger_.stopped()) return;
      for (std::size_t t = 0; t < support.size(); ++t) {
        Coordinate& c = coordinate(support[t]);
        const Real before = c.x;
        c.put(c.x + first * direction[t]);
        moved(at[t], c.x - before);
      }
      if (first == 1) return;
    }
  }

  At& at_;
  H& hessian_;
  Ledger& ledger_;
  std::vector<Real> square_, slopes_; // H and the slopes as they are now, by place in `slots`
};

} // namespace southwell
