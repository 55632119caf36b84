// Incremental methods: a row, or a batch of rows, at a time. One iteration on the rows K is
//
//     m_i = <a_i, x + theta (x - x_before)>                                                       i in K
//     y_i = argmax_y  y m_i - phi_i*(y) - (q_i/2)(y - y_i)^2    SPDC;      phi_i'(m_i)     the others
//     x   = prox_tau g (x - tau (z + sum_i leap_i dy_i a_i))
//     z   = z + sum_i s_i dy_i a_i                              so that z = A'(s o y) again
//
// and the methods differ in a few numbers (share_i = n p_i is 1 where rows are drawn uniformly; w_i = n s_i):
//
//            theta   q_i             leap_i
//     SPDC   < 1     share_i/sigma   w_i/(|K| share_i)     Zhang and Xiao 2015, algorithms 1 and 2
//     SAGA   0                       w_i                   Defazio, Bach, Lacoste-Julien 2014
//     SAG    0                       s_i                   Le Roux, Schmidt, Bach 2012
//     SVRG   0                       w_i                   Xiao and Zhang 2014: y, z change only at snapshots
//     SGD    0                       w_i                   y and z stay 0; tau falls from epoch to epoch
//
// An iteration costs the entries of its rows, independently of d: a coordinate without an entry in the rows K
// takes the same step with a constant slope (it drifts), and these steps are applied at once when it is next
// needed (moving_coordinates.hpp). A batch is split over threads by rows for the margins and by columns for
// the rest, so the numbers do not depend on how many there are.
//
// With weights the problem is the papers' with rows sqrt(w_i) a_i and losses w_i phi_i(t / sqrt(w_i)), which
// are as smooth as phi_i; in the y of this library that changes leap_i and the norms alone.
#pragma once
#include "core/algorithms/moving_coordinates.hpp"
#include "core/drive.hpp"
#include "core/perturbation.hpp"
#include "core/support/alias_table.hpp"
#include "core/support/crew.hpp"
#include "core/support/enumeration.hpp"
#include "core/support/subset.hpp"
#include <array>
#include <optional>
#include <type_traits>
#include <utility>

namespace southwell {

#define SOUTHWELL_INCREMENTAL(one) one(spdc) one(saga) one(sag) one(svrg) one(sgd)
SOUTHWELL_ENUMERATION(IncrementalKind, SOUTHWELL_INCREMENTAL)

struct IncrementalSpec {
  IncrementalKind kind = IncrementalKind::spdc;
  Real tau = 0, sigma = 0, theta = 0;
  std::vector<Real> probabilities = {}; // of the rows; none: uniform
  Index batch = 1, threads = 1;
  Index snapshot_every = 1;  // epochs, SVRG
  Real decay = 0, power = 0; // SGD: after e epochs tau is divided by (1 + decay e)^power
  Real dx = 0, dy = 0;       // see Perturbation
  Index recentre_every = 0;
};

template <class F> inline constexpr bool without_gaps = false;
template <> inline constexpr bool without_gaps<StoredDenseFiber> = true;

// `plain`: the same penalty on every coefficient, without bounds, and no intercept.
template <class D, bool plain> class Incremental final : public Algorithm {
public:
  using Kind = IncrementalKind;
  using Row = decltype(std::declval<const D&>().fiber(0));
  using Coordinates =
      std::conditional_t<plain && without_gaps<Row>, EagerCoordinates, LazyCoordinates<plain>>;

  Incremental(const Problem& problem, const D& design, const IncrementalSpec& spec, CVec x, CVec y,
              std::uint64_t seed)
      : problem_(problem), design_(design), kind_(spec.kind), batch_(spec.batch),
        snapshot_every_(spec.snapshot_every), tau_(spec.tau), decay_(spec.decay), power_(spec.power),
        perturbation_(problem, spec.dx, spec.dy, spec.recentre_every), random_(seed),
        subset_(spec.batch > 1 ? design.rows() : 1, spec.batch), crew_(int(spec.threads)),
        coordinates_(problem.penalty, spec.tau, spec.dx, spec.theta, within_bounds(problem, x)),
        leap_(spec.batch > 1 ? design.cols() : 0), ahead_(spec.batch), crowded_(design.cols() > 20'000) {
    const CVec s = problem.loss.weights();
    const Real n = Real(design.rows());
    samples_.reserve(s.size());
    for (Index i = 0; i < design.rows(); ++i) {
      const Real share = spec.probabilities.empty() ? 1 : n * spec.probabilities[i];
      const Real leap = kind_ == Kind::sag ? s[i] : n * s[i] / (Real(batch_) * share);
      const Real begin = kind_ == Kind::sgd ? 0 : clip(y[i], problem.loss.domain(i));
      samples_.push_back({begin, share / spec.sigma, leap, s[i]});
    }
    perturbation_.begin(within_bounds(problem, x), within_domain(problem, y));
    if (!spec.probabilities.empty()) alias_.emplace().assign(spec.probabilities);
    if (batch_ > 1) divide_columns();
  }

  void epoch(Pulse& pulse) override {
    if (kind_ == Kind::svrg && since_snapshot_++ >= snapshot_every_) {
      snapshot();
      since_snapshot_ = 1;
      if (pulse.spend(2 * design_.stored())) return;
    }
    if (batch_ == 1) {
      std::array<Index, 64> rows;
      for (Index left = design_.rows(); left > 0;) {
        const Index take = std::min(left, Index(rows.size()));
        for (Index t = 0; t < take; ++t) rows[t] = draw_row();
        for (Index t = 0; t < take; ++t) {
          if (t + 8 < take) design_.prefetch_start(rows[t + 8]);
          if (t + 3 < take) design_.prefetch(rows[t + 3]);
          if (t + 2 < take) prefetch(rows[t + 2]);
          if (pulse.beat(visit(rows[t]))) return;
        }
        left -= take;
      }
    } else {
      for (Index left = design_.rows(); left > 0; left -= batch_) {
        const Index entries = visit(subset_.draw(random_));
        for (Index k = 1; k < batch_; ++k) pulse.beat(0);
        if (pulse.beat(entries)) return;
      }
    }
    if (perturbation_.due()) recentre();
    if (kind_ == Kind::sgd) slow_down(pulse);
  }

  void locate(Point& point) override {
    coordinates_.arrive();
    for (Index j = 0; j < design_.cols(); ++j) point.x[j] = coordinates_.x(j);
    if (kind_ != Kind::spdc) return complete_from_primal(problem_, point);
    for (Index i = 0; i < design_.rows(); ++i) point.y[i] = samples_[i].y;
    complete(problem_, point);
  }
  // The tables of SAGA and SAG start with the gradients that the first certificate has computed. Every
  // certificate serves as a snapshot for SVRG.
  void resync(const Point& point) override {
    if (kind_ == Kind::sgd) return;
    if (kind_ == Kind::svrg || (kind_ != Kind::spdc && !begun_)) {
      for (Index i = 0; i < design_.rows(); ++i) samples_[i].y = point.y[i];
      since_snapshot_ = 0;
    }
    if (kind_ == Kind::spdc || kind_ == Kind::svrg || !begun_)
      take_slopes(point.slopes);
    else
      renew_slopes();
    begun_ = true;
  }

  std::vector<Index> draw(Index count) override {
    std::vector<Index> drawn;
    for (; count > 0; --count) {
      if (batch_ == 1) {
        drawn.push_back(draw_row());
      } else {
        const auto rows = subset_.draw(random_);
        drawn.insert(drawn.end(), rows.begin(), rows.end());
      }
    }
    return drawn;
  }
  std::vector<Index> lead(Index moves) override {
    std::vector<Index> led;
    for (; moves > 0; --moves) {
      const std::vector<Index> rows = draw(1);
      batch_ == 1 ? visit(rows[0]) : visit(rows);
      led.insert(led.end(), rows.begin(), rows.end());
    }
    return led;
  }

private:
  struct Sample {
    Real y, q, leap, s;
  };

  // Prefetches the coordinates that row i will read, if they are too many for the caches.
  void prefetch(Index i) const {
    SOUTHWELL_PREFETCH(&samples_[i]);
    if (crowded_ && !without_gaps<Row>)
      design_.fiber(i).visit([&](Index j, Real) { coordinates_.prefetch(j); });
  }
  bool keeps_table() const { return kind_ != Kind::svrg && kind_ != Kind::sgd; }
  void slow_down(Pulse& pulse) {
    coordinates_.arrive();
    coordinates_.pace(tau_ / std::pow(1 + decay_ * Real(++epochs_), power_));
    pulse.spend(design_.cols());
  }
  bool framed() const { return !plain && design_.shifted(); } // an intercept, which is the last coordinate
  Index draw_row() { return alias_ ? alias_->draw(random_) : random_.below(design_.rows()); }

  // Updates y_i at margin m; returns its change.
  SOUTHWELL_INLINE Real renew(Sample& sample, Index i, Real m) {
    if (kind_ == Kind::spdc) {
      const Real next = perturbation_.maximise(i, m, sample.y, sample.q);
      return next - std::exchange(sample.y, next);
    }
    const Real next = problem_.loss.derivative(i, m), change = next - sample.y;
    if (keeps_table()) sample.y = next;
    return change;
  }

  Index visit(Index i) { // one row; returns the entries touched
    const Row row = design_.fiber(i);
    Real m = coordinates_.read(row);
    if (framed()) m += intercept();
    Sample& sample = samples_[i];
    const Real dy = renew(sample, i, m);
    const Real by = sample.leap * dy, slope_by = keeps_table() ? sample.s * dy : 0;
    coordinates_.leap(row, by, slope_by);
    if (framed() && by != 0) coordinates_.leap(design_.cols() - 1, by, slope_by);
    coordinates_.next();
    return row.size() * (by != 0 ? 2 : 1);
  }
  Real intercept() {
    coordinates_.meet(design_.cols() - 1);
    return coordinates_.extrapolated(design_.cols() - 1);
  }

  Index visit(std::span<const Index> rows) { // a batch
    const auto in_columns = [&](int k, auto&& h) {
      const Index from = columns_[k], to = columns_[k + 1];
      for (std::size_t t = 0; t < rows.size(); ++t) {
        design_.fiber(rows[t]).visit_between(from, to, [&](Index j, Real a) { h(t, j, a); });
        if (framed() && from < to && to == design_.cols()) h(t, design_.cols() - 1, Real(1));
      }
    };
    crew_([&](int k) { in_columns(k, [&](std::size_t, Index j, Real) { coordinates_.meet(j); }); });
    crew_([&](int k) {
      for (std::size_t t = std::size_t(k); t < rows.size(); t += std::size_t(crew_.size())) {
        Real m =
            design_.fiber(rows[t]).sum([&](Index j, Real a) { return a * coordinates_.extrapolated(j); });
        if (framed()) m += coordinates_.extrapolated(design_.cols() - 1);
        Sample& sample = samples_[rows[t]];
        ahead_[t] = sample.leap * renew(sample, rows[t], m);
      }
    });
    const Real of_slope = Real(batch_) / Real(design_.rows()); // s_i / leap_i
    crew_([&](int k) {
      in_columns(k, [&](std::size_t t, Index j, Real a) { leap_[j] += ahead_[t] * a; });
      in_columns(k, [&](std::size_t, Index j, Real) {
        if (!coordinates_.waits(j)) return; // another row of the batch has updated it
        const Real by = std::exchange(leap_[j], 0.0);
        coordinates_.leap(j, by, of_slope * by);
      });
    });
    coordinates_.next();
    Index entries = 0;
    for (const Index i : rows) entries += 2 * design_.fiber(i).size();
    return entries;
  }
  // Divides the columns among the threads, with about equally many entries for each.
  void divide_columns() {
    std::vector<Index> counts(design_.cols());
    for (Index i = 0; i < design_.rows(); ++i) design_.fiber(i).visit([&](Index j, Real) { ++counts[j]; });
    Index total = 0, sum = 0;
    for (const Index c : counts) total += c;
    columns_.assign(1, 0);
    for (Index j = 0; j < design_.cols() && Index(columns_.size()) < crew_.size(); ++j) {
      sum += counts[j];
      if (sum * crew_.size() >= total * Index(columns_.size())) columns_.push_back(j + 1);
    }
    while (Index(columns_.size()) <= crew_.size()) columns_.push_back(design_.cols());
    columns_.back() = design_.cols();
  }

  void take_slopes(CVec slopes) {
    for (Index j = 0; j < design_.cols(); ++j) coordinates_.slope(j) = slopes[j] + perturbation_.slope(j);
  }
  void renew_slopes() { // from y
    std::vector<Real> y(design_.rows()), slopes(design_.cols());
    for (Index i = 0; i < design_.rows(); ++i) y[i] = samples_[i].y;
    problem_.slopes(y, slopes);
    take_slopes(slopes);
  }
  void snapshot() {
    Point point(problem_);
    locate(point);
    resync(point);
  }
  void recentre() {
    coordinates_.arrive();
    std::vector<Real> x(design_.cols()), y(design_.rows());
    for (Index j = 0; j < design_.cols(); ++j) {
      x[j] = coordinates_.x(j);
      coordinates_.slope(j) -= perturbation_.slope(j);
    }
    for (Index i = 0; i < design_.rows(); ++i) y[i] = samples_[i].y;
    perturbation_.recentre(x, y);
    for (Index j = 0; j < design_.cols(); ++j) coordinates_.slope(j) += perturbation_.slope(j);
  }

  const Problem& problem_;
  const D& design_;
  Kind kind_;
  Index batch_, snapshot_every_, since_snapshot_ = 0, epochs_ = 0;
  Real tau_, decay_, power_; // SGD
  Perturbation perturbation_;
  Random random_;
  std::optional<AliasTable> alias_;
  Subset subset_;
  Crew crew_;
  Coordinates coordinates_;
  std::vector<Sample> samples_;
  std::vector<Real> leap_, ahead_; // of a batch: by column, by row
  std::vector<Index> columns_;     // where each thread's columns begin
  bool begun_ = false, crowded_;
};

} // namespace southwell
