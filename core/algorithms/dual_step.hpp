// The scalar problem of one sample: maximise  y m_i - phi_i*(y) - (q_i/2)(y - y_i)^2,
// q_i = s_i sum_j a_ij^2 / l2_j  (SDCA).
//
// With `towards` in (0, 1] it is the step of MISO instead (Lin, Mairal, Harchaoui 2015):
// y_i + towards (phi_i'(m_i) - y_i).
//
// The interface is that of PrimalStep.
#pragma once
#include "core/algorithms/dealt_sweep.hpp"
#include "core/losses/logistic.hpp"
#include "core/problem.hpp"
#include "core/rules/score.hpp"
#include <cstdint>
#include <limits>
#include <utility>

namespace southwell {

// How exact the dual steps of a mover are that comes again soon.
struct Rough {
  Real settled = Logistic::exactly; // the last step of Newton's method within a step of the logistic loss
  Index one_in = 1;                 // one in so many steps adds to the estimate of the gap
};

template <Loss L> class DualStep {
public:
  // A reading is minus the gradient of the coupled part, for a share of one.
  static constexpr Real direction = -1;
  static constexpr bool parabola = L::quadratic;

  // `norms` holds sum_j a_ij^2 / l2_j for each sample.
  DualStep(const Problem& problem, L loss, CVec norms, CVec start, Real towards = 0, Rough rough = {})
      : problem_(problem), loss_(loss), towards_(towards), offsets_(problem.loss.offsets()),
        settled_(rough.settled), one_in_(rough.one_in) {
    const CVec s = problem.loss.weights(), b = problem.loss.targets();
    samples_.reserve(start.size());
    for (std::size_t i = 0; i < start.size(); ++i)
      samples_.push_back({clip(start[i], loss.domain(b[i])), s[i] * norms[i], s[i], b[i]});
  }

  Index coordinates() const { return Index(samples_.size()); }
  Real smoothness() const { return 1; } // lengths of rows include that of g*
  void prefetch(Index i) const { SOUTHWELL_PREFETCH(&samples_[i]); }

  template <class C> SOUTHWELL_INLINE Real operator()(Index i, Real reading, C& hand) {
    Sample& sample = samples_[i];
    if (sample.s == 0) return 0;
    const Real before = sample.y, margin = reading + offset(i);
    sample.y = towards_ > 0 ? before + towards_ * (loss_.derivative(margin, sample.b) - before)
                            : maximiser(margin, sample, norm(i, hand));
    return sample.s * (sample.y - before);
  }

  // Its part of the gap, estimated from some samples that are spread evenly (their numbers times the golden
  // ratio).
  SOUTHWELL_INLINE Real estimate(Index i, Real m) const {
    if (one_in_ > 1 && std::uint32_t(i) * 2654435769U > std::numeric_limits<std::uint32_t>::max() / one_in_)
      return 0;
    return Real(one_in_) * bracket(samples_[i], m + offset(i));
  }
  // Whether it pays to share sweeps. With kinked losses most samples soon rest at a bound, and parts that
  // take others off theirs need more epochs: on a9a 88 instead of 55.
  bool shares() const { return std::isfinite(loss_.smoothness()); }
  // Of the terms -s_i phi*(y_i) of samples that went from `before` to where they are, as a function of the
  // part t of the way: its slope, at the ends from within; and they go that part of the way only.
  Real slope_along(std::span<const Moved> steps, Real t) const {
    Real total = 0;
    for (const auto& [i, before] : steps) {
      const Sample& sample = samples_[i];
      const Real way = sample.y - before;
      const Interval slopes = loss_.conjugate_subdifferential(on_the_way(i, before, t), sample.b);
      total -= sample.s * way * (((way > 0) == (t > 0) ? slopes.lo : slopes.hi) - offset(i));
    }
    return total;
  }
  void shorten(std::span<const Moved> steps, Real t) {
    for (const auto& [i, before] : steps) samples_[i].y = on_the_way(i, before, t);
  }

  void prepare_scores() {
    largest_ = level_ = 0;
    for (Index i = 0; i < coordinates(); ++i) {
      const Sample& sample = samples_[i];
      largest_ = std::max(largest_, std::sqrt(sample.s * sample.q));
      level_ +=
          sample.s > 0 ? sample.s * (loss_.value(offset(i), sample.b) + loss_.conjugate(0, sample.b)) : 0;
    }
  }
  Real score(Score kind, Index i, Real reading) const {
    const auto [y, q, s, b] = samples_[i];
    const Real m = reading + offset(i);
    if (s == 0) return 0;
    const auto size = [&, s = s, q = q] { return q > 0 ? std::sqrt(s * q) : largest_; };
    switch (kind) {
    case Score::none:
      return 0;
    case Score::reach:
      return std::max(-end(i, -1), end(i, 1)) * size();
    case Score::residual: { // kinks within rounding of m count as met
      const Real slack = 1e-12 * (std::abs(b) + std::abs(m));
      return Interval{loss_.derivative(m - slack, b), loss_.derivative(m + slack, b)}.distance(y) * size();
    }
    case Score::bracket:
      return bracket(samples_[i], m);
    case Score::violation:
      return s * loss_.conjugate_subdifferential(y, b).distance(m);
    case Score::step:
    case Score::decrease:
      break;
    }
    const Real next = loss_.maximise(m, y, q, b), d = next - y;
    if (kind == Score::step) return std::abs(d);
    // d m - phi*(next) + phi*(y) - (q/2) d^2; m - q d is a subgradient of phi* at next
    return s * (q / 2 * d * d + loss_.conjugate_bregman(y, next, m - q * d, b));
  }

  // Do the scores `bracket` of all samples add up to the gap? So it is where x is the gradient of g*, and no
  // proximal term holds it elsewhere but for the intercept, of which certificates find the best.
  template <class C>
    requires requires(C c) { c.map().first_anchored(); }
  bool brackets_are_the_gap(C& coupling) const {
    return coupling.map().first_anchored() >= problem_.features();
  }

  Interval quiet(Index i) const {
    const Sample& sample = samples_[i];
    if (sample.s == 0) return {-infinity, infinity};
    const Interval slopes = loss_.conjugate_subdifferential(sample.y, sample.b);
    return {slopes.lo - offset(i), slopes.hi - offset(i)};
  }

  Real prox(Index i, Real m, Real from, Real stretch) const {
    const Sample& sample = samples_[i];
    return sample.s == 0 ? from : loss_.maximise(m + offset(i), from, stretch * sample.q, sample.b);
  }
  std::pair<Real, Real> smooth(Index i, Real m, Real y) const { // for a phi* that is a parabola
    const Sample& sample = samples_[i];
    const Real slope = loss_.conjugate_subdifferential(y, sample.b).lo - (m + offset(i));
    return {slope, sample.q + 1 / loss_.smoothness()};
  }
  Real convexity(Index i) const {
    const Sample& sample = samples_[i];
    return sample.s > 0 && sample.q > 0 ? 1 / (loss_.smoothness() * sample.q) : infinity;
  }
  Real share(Index i) const { return samples_[i].s; }
  Real coupled_value(CVec slopes) const {
    Real total = 0;
    for (Index j = 0; j < Index(slopes.size()); ++j) total += problem_.penalty[j].conjugate(-slopes[j]);
    return total;
  }
  Real own_value(CVec y) const { return problem_.loss.conjugate(y, 1); }
  Real at(Index i) const { return samples_[i].y; }
  void place(Index i, Real y) { samples_[i].y = y; }

  bool has_intercept() const { return problem_.has_intercept(); }
  static CVec readings(const Point& point) { return point.margins; }
  static CVec product(const Point& point) { return point.slopes; }
  template <class C> void locate(Point& point, C& coupling) {
    for (std::size_t i = 0; i < samples_.size(); ++i) point.y[i] = samples_[i].y;
    complete_from_dual(problem_, point, coupling.map());
  }
  template <class C> void resync(const Point& point, C& coupling) {
    Real shift = 0;
    if (problem_.has_intercept()) { // its anchor moves to the best intercept
      const Index last = problem_.design.cols() - 1;
      coupling.map().recentre(last, point.x.back());
      shift = coupling.map().at(last, point.slopes.back()) - point.x.back();
    }
    if constexpr (C::keeps_potential) {
      coupling.reset(point.slopes);
    } else {
      std::vector<Real> margins = point.margins;
      for (Real& m : margins) m += shift;
      coupling.reset(margins, point.slopes.back());
    }
  }

private:
  struct Sample { // what one step needs, on one cache line
    Real y, q, s, b;
  };
  template <class C> SOUTHWELL_INLINE Real norm(Index i, const C& hand) const {
    if constexpr (requires { hand.added_norm(i); }) return samples_[i].q + samples_[i].s * hand.added_norm(i);
    return samples_[i].q;
  }
  SOUTHWELL_INLINE Real maximiser(Real m, const Sample& sample, Real q) const {
    if constexpr (requires { loss_.maximise(m, sample.y, q, sample.b, settled_); })
      return loss_.maximise(m, sample.y, q, sample.b, settled_);
    else
      return loss_.maximise(m, sample.y, q, sample.b);
  }
  SOUTHWELL_INLINE Real bracket(const Sample& sample, Real m) const { // its part of the gap
    const auto [y, q, s, b] = sample;
    return s > 0 ? s * std::max(loss_.value(m, b) + loss_.conjugate(y, b) - y * m, 0.0) : 0;
  }
  SOUTHWELL_INLINE Real offset(Index i) const { return offsets_.empty() ? 0 : offsets_[i]; }

  Real on_the_way(Index i, Real before, Real t) const {
    const Sample& sample = samples_[i];
    return t < 1 ? clip(before + t * (sample.y - before), loss_.domain(sample.b)) : sample.y;
  }
  // The largest y_i (times `sign`) that an iterate can have: the end of dom phi_i* or, if that is infinite,
  // the y at which s_i (phi_i*(y) + phi_i(0)) = P(0) - D(0), since any ascent from y = 0 stays below that.
  // Found by bisection, because phi* is convex.
  Real end(Index i, Real sign) const {
    const Sample& sample = samples_[i];
    const Interval dom = loss_.domain(sample.b);
    if (const Real limit = sign > 0 ? dom.hi : dom.lo; std::isfinite(limit)) return limit;
    const auto conjugate = [&](Real y) { return loss_.conjugate(y, sample.b) - offset(i) * y; };
    const Real most = level_ / sample.s - loss_.value(offset(i), sample.b);
    Real far = sample.b == 0 ? sign : sign * std::abs(sample.b);
    while (std::abs(far) < 1e150 && conjugate(far) <= most) far *= 2;
    Real near = 0;
    for (int k = 0; k < 60; ++k) {
      const Real middle = near + (far - near) / 2;
      (conjugate(middle) <= most ? near : far) = middle;
    }
    return far;
  }

  const Problem& problem_;
  L loss_;
  Real towards_; // the share of MISO's step; 0: exact steps
  CVec offsets_; // of readings from margins
  Real settled_;
  Index one_in_;
  std::vector<Sample> samples_;
  Real largest_ = 0, level_ = 0;
};

} // namespace southwell
