// The quadratic model of the problem around a point, on the columns of a working set:
//
//     q(x) = <c, x - x0> + (1/2) (x - x0)' A'diag(h)A (x - x0) + sum_k g_k(x_k)
//     c = A'r,    r = s o phi'(m),    h = s o phi''(m)
//
// solved by coordinate sweeps and, once they have found the support, by Newton steps on it; or through H,
// where that is cheap to form. For the squared loss it is the problem itself.
#pragma once
#include "core/newton/extrapolation.hpp"
#include "core/newton/moments.hpp"
#include "core/newton/residual.hpp"
#include "core/newton/samples.hpp"
#include "core/newton/through_hessian.hpp"
#include <algorithm>

namespace southwell {

class Model {
public:
  using Slots = std::vector<std::int32_t>;

  // Of samples that are in memory: it keeps a residual over them.
  Model(const WorkingColumns& columns, const Policy& policy, const Samples& samples)
      : weighted_{columns, *samples.local(), policy}, hessian_(weighted_), residual_(weighted_),
        through_hessian_(weighted_, hessian_, ledger_), extrapolation_(policy) {}
  Model(const Model&) = delete; // its parts refer to each other

  std::vector<Coordinate>& coordinates() { return weighted_.coordinates; }
  const std::vector<Coordinate>& coordinates() const { return weighted_.coordinates; }
  // Counts the work. When it says to stop, x is not valid: a sweep was interrupted.
  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }
  ThroughHessian<Weighted, Hessian>& through_hessian() { return through_hessian_; }
  Real newton_cost(const Slots& support) const { return hessian_.cost(support); }
  Real samples() const { return Real(weighted_.at.h.size()); }

  // Around the present x: slopes and curvatures of all slots. `changed`: has the curvature of the loss, so
  // that nothing is known of it any more? The slot of an `intercept`, or -1: it does not move itself but
  // follows all others' moves, so that they see columns that are centred, and need far fewer.
  void begin(bool changed, Index intercept) {
    if (changed) {
      hessian_.forget();
      measured_ = 0;
    }
    const CVec r = weighted_.at.r;
    residual_.begin(r);
    intercept_ = weighted_.at.total_h > 0 ? intercept : -1;
    first_total_ = residual_.total();
    if (columns().by_rows()) {
      moments_.resize(columns().design().cols());
      columns().design().moments(r, weighted_.at.h, moments_);
      for (Index k = 0; k < columns().count(); ++k) measure(moments_[columns().name(k)], k);
    } else {
      columns().visit([&](const auto& store) {
        divide(columns().entries(), [&](int part, int parts) {
          const Index count = columns().count();
          for (Index k = count * part / parts; k < count * (part + 1) / parts; ++k)
            if (k < measured_)
              coordinates()[k].slope = residual_.slope(store[k], coordinates()[k]);
            else
              measure(moments_of(store[k], residual_.stored(), weighted_.at.h), k);
        });
      });
    }
    measured_ = columns().count();
    if (intercept_ >= 0) residual_.shift(-first_total_ / weighted_.at.total_h);
    ledger_(columns().entries());
  }

  // One pass of coordinate steps over these slots. Returns the largest change of a slope they asked for.
  Real sweep(const Slots& slots) {
    return columns().visit([&](const auto& store) {
      Real largest = 0;
      for (std::size_t t = 0; t < slots.size(); ++t) {
        if (t + 2 < slots.size()) store.prefetch(slots[t + 2]);
        const auto fiber = store[slots[t]];
        Coordinate& c = coordinates()[slots[t]];
        const Real by = coordinate_step(c, c.curvature, residual_.slope(fiber, c), largest);
        if (ledger_(by == 0 ? fiber.size() : 2 * fiber.size())) break;
        if (by != 0) residual_.move(fiber, c, by);
      }
      return largest;
    });
  }
  // Call `begin_sweeps` before the first sweep and `extrapolate` after each: after every few sweeps x moves
  // to the extrapolated point (Anderson), if the model is lower there.
  void begin_sweeps(const Slots& slots) {
    extrapolation_.forget();
    extrapolation_.remember(at(slots), residual_.image());
  }
  void extrapolate(const Slots& slots) {
    extrapolation_.remember(at(slots), residual_.image());
    if (!extrapolation_.ready()) return;
    std::vector<Real> x(slots.size()), image(residual_.stored().size() + 2);
    if (extrapolation_(x, image) && residual_.change(image) + penalty_change(slots, x) < 0) {
      for (std::size_t t = 0; t < slots.size(); ++t) coordinates()[slots[t]].x = x[t];
      residual_.become(image);
    }
    begin_sweeps(slots);
  }

  // Newton steps on the support with its signs held: a step that would change signs ends there, and the next
  // one leaves out the coefficients that have become zero. Returns whether the last was taken in full.
  bool newton(Slots support) {
    const Ledger::NewtonStep booked(ledger_);
    const Index begun = ledger_.work();
    Index most = 0; // steps after the first only update the factor; their work is limited
    for (int k = 0; k < int(weighted_.policy.steps_by_signs) && !support.empty() && !ledger_.stopped() &&
                    (k == 0 || ledger_.work() <= most);
         ++k) {
      if (newton_step(support)) return true;
      if (k == 0)
        most = ledger_.work() + Index(std::max(weighted_.policy.signs_part * Real(ledger_.work() - begun),
                                               weighted_.policy.signs_entries));
      std::erase_if(support, [&](Index k) { return !coordinates()[k].supports(); });
    }
    return support.empty();
  }

  // Moves the intercept by what the moves of the others since x0 imply.
  void place_intercept(CVec from) { // `from`: x0 by slot
    if (intercept_ < 0) return;
    Real moved = -first_total_ / weighted_.at.total_h;
    for (Index k = 0; k < columns().count(); ++k) {
      const Coordinate& c = coordinates()[k];
      if (k != intercept_) moved += (c.gamma - columns().gamma(k)) * (c.x - from[k]);
    }
    coordinates()[intercept_].x = from[intercept_] + moved;
  }

private:
  const WorkingColumns& columns() const { return weighted_.columns; }

  void measure(const Design::Moments& sums, Index k) {
    Coordinate& c = coordinates()[k];
    const bool centred = intercept_ >= 0 && k != intercept_;
    const Real gamma = c.gamma = centred ? -sums.weighted / weighted_.at.total_h : columns().gamma(k);
    const Real far = gamma * gamma * weighted_.at.total_h,
               square = sums.square + 2 * gamma * sums.weighted + far;
    c.slope = sums.slope + gamma * residual_.total();
    c.weighted = sums.weighted;
    c.curvature = square > 1e-13 * (sums.square + far) ? square : 0; // a centred constant is no column
  }
  std::vector<Real> at(const Slots& slots) const {
    std::vector<Real> x;
    for (const Index k : slots) x.push_back(coordinates()[k].x);
    return x;
  }
  Real penalty_change(const Slots& slots, CVec x) const { // infinity beyond bounds
    Real change = 0;
    for (std::size_t t = 0; t < slots.size(); ++t) {
      const Coordinate& c = coordinates()[slots[t]];
      if (c.g.domain().distance(x[t]) > 0) return infinity;
      change += c.g.value(x[t]) - c.g.value(c.x);
    }
    return change;
  }

  bool newton_step(const Slots& support) { // true: in full
    measure_slopes(support);
    const auto [direction, first] = newton_direction(weighted_, hessian_, support, slopes_, ledger_);
    if (ledger_.stopped()) return false;
    // Along the direction, clipped where signs would change, as far as the model falls: nearly dependent
    // columns have long directions, and each coefficient near zero would end an unclipped step at once.
    std::vector<Real> path(support.size());
    for (Real part = 1; part > std::max(first, weighted_.policy.shortest_clipped);
         part /= part > weighted_.policy.clipped_short ? weighted_.policy.clipped_by
                                                       : weighted_.policy.clipped_further_by) {
      for (std::size_t t = 0; t < support.size(); ++t) {
        const Coordinate& c = coordinates()[support[t]];
        path[t] = c.g.held(c.x, c.x + part * direction[t]) - c.x;
      }
      const Real u = along(support, path);
      if (!(change(support, path, u) < 0)) continue;
      take(support, path, 1, u);
      return false;
    }
    take(support, direction, first, along(support, direction));
    return first == 1;
  }
  void measure_slopes(const Slots& slots) { // as they are now
    slopes_.resize(slots.size());
    Index entries = 0;
    for (const Index k : slots) entries += columns().size(k);
    columns().visit([&](const auto& store) {
      divide(entries, [&](int part, int parts) {
        const std::size_t count = slots.size(), from = count * part / parts, to = count * (part + 1) / parts;
        for (std::size_t t = from; t < to; ++t)
          slopes_[t] = residual_.slope(store[slots[t]], coordinates()[slots[t]]);
      });
    });
    ledger_(entries);
  }
  // A d for a direction on these slots: what is stored, in `margins_`, and what the frame adds to all.
  Real along(const Slots& slots, CVec direction) {
    margins_.resize(weighted_.at.h.size());
    columns().combine(
        Index(slots.size()), [&](Index t) { return slots[t]; }, [&](Index t) { return direction[t]; },
        margins_);
    Real u = 0;
    for (std::size_t t = 0; t < slots.size(); ++t) {
      u += direction[t] * coordinates()[slots[t]].gamma;
      ledger_(columns().size(slots[t]));
    }
    return u;
  }
  // By how much the model would change along it, from `slopes_`.
  Real change(const Slots& slots, CVec direction, Real u) const {
    Real total = 0;
    for (std::size_t t = 0; t < slots.size(); ++t) {
      const Coordinate& c = coordinates()[slots[t]];
      total += slopes_[t] * direction[t] + c.g.value(c.x + direction[t]) - c.g.value(c.x);
    }
    for (std::size_t i = 0; i < margins_.size(); ++i) {
      const Real m = margins_[i] + u;
      total += weighted_.at.h[i] / 2 * m * m;
    }
    return total;
  }
  void take(const Slots& slots, CVec direction, Real part, Real u) {
    Real weighted = 0;
    for (std::size_t t = 0; t < slots.size(); ++t) {
      Coordinate& c = coordinates()[slots[t]];
      c.put(c.x + part * direction[t]);
      weighted += direction[t] * c.weighted;
    }
    residual_.move(margins_, u, weighted, part);
  }

  Ledger ledger_;
  Weighted weighted_;
  Hessian hessian_;
  Residual residual_;
  ThroughHessian<Weighted, Hessian> through_hessian_;
  Extrapolation extrapolation_;
  std::vector<Real> margins_, slopes_;
  std::vector<Design::Moments> moments_; // by feature
  Index intercept_ = -1;
  Real first_total_ = 0; // of the residual where the model begins
  Index measured_ = 0;
};

} // namespace southwell
