// The quadratic model of model.hpp where there are no samples to keep a residual over: sweeps and Newton
// steps in the space of W, through the Gram matrix that the samples sum; where W is too large for its square,
// proximal steps and conjugate gradients by products.
#pragma once
#include "core/newton/summed_hessian.hpp"
#include "core/newton/through_hessian.hpp"

namespace southwell {

class ModelByQuestions {
public:
  using Slots = std::vector<std::int32_t>;

  template <class Columns>
  ModelByQuestions(const Columns&, const Policy& policy, Samples& samples)
      : at_{samples, policy}, hessian_(at_), through_hessian_(at_, hessian_, ledger_) {}
  ModelByQuestions(const ModelByQuestions&) = delete; // its parts refer to each other

  std::vector<Coordinate>& coordinates() { return at_.coordinates; }
  const std::vector<Coordinate>& coordinates() const { return at_.coordinates; }
  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }
  ThroughHessian<Answered, SummedHessian>& through_hessian() { return through_hessian_; }
  Real samples() const { return 0; } // from so few no rows are sampled: H is a sum over all of them

  void begin(bool changed, Index intercept) {
    if (changed) hessian_.forget();
    moments_.resize(coordinates().size());
    at_.samples.moments(moments_);
    ledger_(at_.samples.entries());
    const Design::Moments all = intercept >= 0 ? moments_[std::size_t(intercept)] : Design::Moments{};
    at_.total_h = all.weighted;
    intercept_ = at_.total_h > 0 ? intercept : -1;
    first_total_ = all.slope;
    for (std::size_t k = 0; k < coordinates().size(); ++k) {
      Coordinate& c = coordinates()[k];
      const Design::Moments& sums = moments_[k];
      const bool centred = intercept_ >= 0 && Index(k) != intercept_;
      c.weighted = intercept_ >= 0 ? sums.weighted : 0;
      c.gamma = centred ? -sums.weighted / at_.total_h : 0;
      c.slope = sums.slope + c.gamma * first_total_;
      const Real far = c.gamma * sums.weighted, square = sums.square + far;
      c.curvature = square > 1e-13 * (sums.square - far) ? square : 0; // a centred constant is no column
    }
  }
  void place_intercept(CVec from) { // see Model
    if (intercept_ < 0) return;
    Real moved = -first_total_ / at_.total_h;
    for (std::size_t k = 0; k < coordinates().size(); ++k)
      moved += coordinates()[k].gamma * (coordinates()[k].x - from[k]);
    coordinates()[std::size_t(intercept_)].x = from[std::size_t(intercept_)] + moved;
  }

  // On slots too many for the square: a proximal step in the metric of the diagonal, as far along as the
  // model falls, then a Newton step on the support; until no slope is asked to change by more than a part of
  // the first change, which is returned.
  Real by_products(const Slots& slots, Real part) {
    slopes_.clear();
    for (const Index k : slots) slopes_.push_back(coordinates()[std::size_t(k)].slope);
    Real first = 0;
    for (int step = 0; step < int(at_.policy.sweeps); ++step) {
      std::vector<Real> path(slots.size());
      Real largest = 0;
      for (std::size_t t = 0; t < slots.size(); ++t) {
        Coordinate trial = coordinates()[std::size_t(slots[t])];
        path[t] = coordinate_step(trial, trial.curvature, slopes_[t], largest);
      }
      if (step == 0) first = largest;
      if (largest <= part * first || !along(slots, path)) break;
      newton(slots);
      if (ledger_.stopped()) break;
    }
    return first;
  }

private:
  // Moves by the largest part of the path, of halves, along which the model falls. False: none, or
  // interrupted.
  bool along(const Slots& slots, CVec path) {
    std::vector<Real> image(slots.size());
    if (!hessian_.multiply(slots, path, image, ledger_)) return false;
    Real slope = 0, bend = 0;
    for (std::size_t t = 0; t < slots.size(); ++t) {
      slope += slopes_[t] * path[t];
      bend += image[t] * path[t];
    }
    const auto change = [&](Real part) {
      Real total = part * slope + part * part / 2 * bend;
      for (std::size_t t = 0; t < slots.size(); ++t) {
        const Coordinate& c = coordinates()[std::size_t(slots[t])];
        total += c.g.value(c.x + part * path[t]) - c.g.value(c.x);
      }
      return total;
    };
    for (Real part = 1; part > at_.policy.shortest_clipped; part /= 2) {
      if (!(change(part) < 0)) continue;
      for (std::size_t t = 0; t < slots.size(); ++t) {
        Coordinate& c = coordinates()[std::size_t(slots[t])];
        c.put(c.x + part * path[t]);
        slopes_[t] += part * image[t];
      }
      return true;
    }
    return false;
  }
  void newton(const Slots& slots) {
    const Ledger::NewtonStep booked(ledger_);
    Slots support;
    std::vector<Real> slopes, path(slots.size());
    for (std::size_t t = 0; t < slots.size(); ++t)
      if (coordinates()[std::size_t(slots[t])].supports()) {
        support.push_back(slots[t]);
        slopes.push_back(slopes_[t]);
      }
    if (support.empty()) return;
    const auto [direction, first] = newton_direction(at_, hessian_, support, slopes, ledger_);
    if (ledger_.stopped()) return;
    // Clipped where signs would change, if the model falls there.
    for (std::size_t t = 0, s = 0; t < slots.size(); ++t) {
      if (s == support.size() || support[s] != slots[t]) continue;
      const Coordinate& c = coordinates()[std::size_t(slots[t])];
      path[t] = c.g.held(c.x, c.x + direction[s++]) - c.x;
    }
    along(slots, path);
  }

  Ledger ledger_;
  Answered at_;
  SummedHessian hessian_;
  ThroughHessian<Answered, SummedHessian> through_hessian_;
  std::vector<Design::Moments> moments_; // by slot
  std::vector<Real> slopes_;             // as they are now, by place in `slots`
  Index intercept_ = -1;
  Real first_total_ = 0; // slope of the intercept where the model begins
};

} // namespace southwell
