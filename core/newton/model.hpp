// The quadratic model of the problem around a point, on gathered columns:
//
//     q(x) = <c, x - x0> + (1/2) (x - x0)' A'diag(h)A (x - x0) + sum_k g_k(x_k)
//     c = A'r,    r = s o phi'(m),    h = s o phi''(m)
//
// solved by coordinate sweeps and, once they have found the support, by Newton steps on it. For the squared
// loss it is the problem itself.
//
// The residual r + h o (A (x - x0)) is kept true in two parts, `residual` and u h, where u is what the frame
// has added to all margins alike (columns.hpp): a move costs the stored entries of its column, also for the
// intercept.
#pragma once
#include "core/drive.hpp"
#include "core/newton/extrapolation.hpp"
#include "core/newton/hessian.hpp"
#include <algorithm>

namespace southwell {

namespace kernels {

template <class Value>
SOUTHWELL_CLONES void add_weighted(const Value* a, Real shift, Real c, const Real* h, Real* v, Index n) {
#pragma omp simd
  for (Index k = 0; k < n; ++k) v[k] += c * h[k] * (Real(a[k]) + shift);
}

template <class Value>
SOUTHWELL_CLONES Design::Moments moments(const Value* a, Real shift, const Real* r, const Real* h, Index n) {
  Real slope = 0, weighted = 0, square = 0;
#pragma omp simd reduction(+ : slope, weighted, square)
  for (Index k = 0; k < n; ++k) {
    const Real value = Real(a[k]) + shift, with = h[k] * value;
    slope += r[k] * value;
    weighted += with;
    square += with * value;
  }
  return {slope, weighted, square};
}

} // namespace kernels

class Model {
  bool spend(Index entries) { // true: leave
    work_ += entries;
    return stopped_ = pulse_->spend(entries) || stopped_;
  }
  auto counting() {
    return [this](Index entries) { return spend(entries); };
  }

public:
  using Slots = std::vector<std::int32_t>;

  explicit Model(const WorkingColumns& columns) : weighted_{columns}, hessian_(weighted_) {}
  Model(const Model&) = delete; // its parts look at each other

  std::vector<Coordinate>& coordinates() { return weighted_.coordinates; }
  const std::vector<Coordinate>& coordinates() const { return weighted_.coordinates; }

  // All that follows is counted by this pulse, and left early when it says so; x is then no answer to
  // anything.
  void attend(Pulse& pulse) {
    pulse_ = &pulse;
    stopped_ = false;
  }
  bool stopped() const { return stopped_; }
  Index work() const { return work_; } // entries touched so far
  Real newton_cost(const Slots& support) const { return hessian_.cost(support); }
  // As many samples of equal weight would tell as much.
  Real samples() const {
    Real squares = 0;
    for (const Real value : weighted_.h) squares += value * value;
    return squares > 0 ? weighted_.total_h * weighted_.total_h / squares : 0;
  }
  Effort& newton_effort() { return newton_effort_; }
  const Effort& newton_effort() const { return newton_effort_; }

  // Does h change little where margins do?
  void smooth(bool yes) { weighted_.smooth = yes; }
  // Samples on flats have this part of the most curvature they could have: they may leave them.
  void flats(Real part, CVec most) {
    weighted_.flat = part;
    weighted_.most.assign(most.begin(), most.end());
  }
  // Around the present x, where the loss has these first and second derivatives; slopes and curvatures of all
  // slots. With the `same` curvature as before (the squared loss) what is known of it stays. The slot of an
  // `intercept`, or -1: it does not move itself but follows all others' moves, so that they see columns that
  // are centred, and need far fewer.
  void begin(CVec r, CVec h, bool same, Index intercept) {
    residual_.assign(r.begin(), r.end());
    if (!same || weighted_.h.empty()) {
      weighted_.h.assign(h.begin(), h.end());
      if (weighted_.flat > 0) {
        weighted_.bare = weighted_.h;
        for (std::size_t i = 0; i < h.size(); ++i)
          weighted_.h[i] += weighted_.flat * (weighted_.most[i] - h[i]);
      }
      weighted_.total_h = 0;
      for (const Real value : weighted_.h) weighted_.total_h += value;
      hessian_.forget();
      measured_ = 0;
    }
    total_r_ = 0;
    for (const Real value : residual_) total_r_ += value;
    intercept_ = weighted_.total_h > 0 ? intercept : -1;
    first_total_r_ = total_r_;
    u_ = intercept_ >= 0 ? -total_r_ / weighted_.total_h : 0;
    if (columns().by_rows()) {
      moments_.resize(columns().design().cols());
      columns().design().moments(residual_, weighted_.h, moments_);
      for (Index k = 0; k < columns().count(); ++k) measure(moments_[columns().name(k)], k);
    } else {
      columns().visit([&](const auto& store) {
        divide(columns().entries(), [&](int part, int parts) {
          const Index count = columns().count();
          for (Index k = count * part / parts; k < count * (part + 1) / parts; ++k)
            if (k < measured_)
              coordinates()[k].slope = store[k].dot(residual_) + coordinates()[k].gamma * total_r_;
            else
              measure(moments(store[k]), k);
        });
      });
    }
    measured_ = columns().count();
    spend(columns().entries());
  }

  // One pass of coordinate steps over these slots. Returns the largest change of a slope they asked for.
  Real sweep(const Slots& slots) {
    return columns().visit([&](const auto& store) {
      Real largest = 0;
      for (std::size_t t = 0; t < slots.size(); ++t) {
        if (t + 2 < slots.size()) store.prefetch(slots[t + 2]);
        const auto fiber = store[slots[t]];
        Coordinate& c = coordinates()[slots[t]];
        const Real by = step(c, c.curvature, slope(fiber, slots[t]), largest);
        if (spend(by == 0 ? fiber.size() : 2 * fiber.size())) break;
        if (by == 0) continue;
        add_weighted(fiber, by);
        total_r_ += by * c.weighted;
        u_ += by * c.gamma;
      }
      return largest;
    });
  }

  // Sweeps are about to begin, or one has been made; when enough have, x goes where they seem to lead, if the
  // model is less there.
  void begin_sweeps(const Slots& slots) {
    extrapolation_.forget();
    remember(slots);
  }
  void extrapolate(const Slots& slots) {
    remember(slots);
    if (!extrapolation_.ready()) return;
    std::vector<Real> x = state_, images = images_;
    if (extrapolation_(x, images) && better(slots, x, images)) {
      for (std::size_t t = 0; t < slots.size(); ++t) coordinates()[slots[t]].x = x[t];
      total_r_ = images.back();
      u_ = images[images.size() - 2];
      images.resize(residual_.size());
      residual_.swap(images);
    }
    begin_sweeps(slots);
  }

  // Newton steps on the support with its signs held: where one would change signs, as far as that, and on
  // without those that are zero then. Returns whether the last was taken in full.
  bool newton(Slots support) {
    const Timed timed(*this);
    const Index begun = work_;
    Index most = 0; // steps after the first only mend the factor; where that is dear, little is spent on it
    for (int k = 0; k < 20 && !support.empty() && !stopped_ && (k == 0 || work_ <= most); ++k) {
      if (newton_step(support)) return true;
      if (k == 0) most = work_ + std::max<Index>((work_ - begun) / 8, 200'000);
      std::erase_if(support, [&](Index k) { return !coordinates()[k].supports(); });
    }
    return support.empty();
  }

  // Is H on these slots cheap enough to form that sweeps should go through it?
  bool better_formed(const Slots& slots) const {
    Real stored = 0;
    for (const Index k : slots) stored += Real(columns().size(k));
    const Real size = Real(slots.size());
    return size <= 1000 && size * size <= stored && hessian_.formed().cost(slots) <= 12 * stored;
  }
  // Sweeps through H itself, without another look at the data, until no slope is asked to change by more than
  // a part of the first change, and Newton steps among them. Returns that first change. The residual is not
  // kept.
  Real solve_formed(const Slots& slots, Real part, Index every = 1) { // through about one row in so many
    const Index size = Index(slots.size());
    if (every > 1) hessian_.thin(every);
    hessian_.form(slots, counting());
    if (stopped_) return 0;
    square_.resize(std::size_t(size * size));
    for (Index a = 0; a < size; ++a)
      for (Index b = 0; b < size; ++b) square_[a * size + b] = hessian_.formed()(slots[a], slots[b]);
    slopes_.resize(slots.size());
    for (Index t = 0; t < size; ++t) slopes_[t] = coordinates()[slots[t]].slope;
    const auto moved = [&](Index t, Real by) {
      kernels::add(square_.data() + t * size, by, slopes_.data(), size);
    };
    Real first = 0;
    for (int k = 0; k < 500; ++k) {
      Real largest = 0;
      Index moves = 0;
      for (Index t = 0; t < size; ++t) {
        Coordinate& c = coordinates()[slots[t]];
        const Real by = step(c, c.curvature > 0 ? square_[t * size + t] : 0, slopes_[t], largest);
        if (by == 0) continue;
        moved(t, by);
        ++moves;
      }
      if (k == 0) first = largest;
      if (spend(moves * size / 8) || largest <= part * first) break;
      if (k % 10 == 9) newton_formed(slots, moved);
    }
    return first;
  }

  // The intercept to where the others' moves since x0 have taken it.
  void place_intercept(CVec from) { // `from`: x0 by slot
    if (intercept_ < 0) return;
    Real moved = -first_total_r_ / weighted_.total_h;
    for (Index k = 0; k < columns().count(); ++k) {
      const Coordinate& c = coordinates()[k];
      if (k != intercept_) moved += (c.gamma - columns().gamma(k)) * (c.x - from[k]);
    }
    coordinates()[intercept_].x = from[intercept_] + moved;
  }
  // By how much the loss would change from x0 to x if it had no curvature.
  Real descent(CVec from) const {
    Real total = intercept_ >= 0 ? -first_total_r_ * first_total_r_ / weighted_.total_h : 0;
    for (Index k = 0; k < columns().count(); ++k)
      if (k != intercept_) total += coordinates()[k].slope * (coordinates()[k].x - from[k]);
    return total;
  }

  // A (x - x0), what the margins have gained.
  void gained(CVec from, Vec margins) const { // `from`: x0 by slot
    if (columns().by_rows()) {
      std::vector<Real> by(std::size_t(columns().design().cols()));
      for (Index k = 0; k < columns().count(); ++k) by[columns().name(k)] = coordinates()[k].x - from[k];
      return columns().design().apply(by, margins);
    }
    std::fill(margins.begin(), margins.end(), 0.0);
    Real u = 0;
    columns().visit([&](const auto& store) {
      for (Index k = 0; k < columns().count(); ++k)
        if (const Real by = coordinates()[k].x - from[k]; by != 0) {
          store[k].add_to(margins, by);
          u += by * columns().gamma(k);
        }
    });
    if (u != 0)
      for (Real& m : margins) m += u;
  }

private:
  static constexpr Real damping = 1e-12;

  const WorkingColumns& columns() const { return weighted_.columns; }
  void remember(const Slots& slots) {
    state_.clear();
    for (const Index k : slots) state_.push_back(coordinates()[k].x);
    images_ = residual_;
    images_.push_back(u_);
    images_.push_back(total_r_);
    extrapolation_.remember(state_, images_);
  }
  // Is the model less there than it is here? With r = residual + u h it changes by
  // sum_i (r_i + dr_i / 2) dr_i / h_i, and by what the penalty does.
  bool better(const Slots& slots, CVec x, CVec images) const {
    Real change = 0;
    for (std::size_t t = 0; t < slots.size(); ++t) {
      const Coordinate& c = coordinates()[slots[t]];
      if (x[t] < c.g.lo || x[t] > c.g.hi) return false;
      change += c.g.value(x[t]) - c.g.value(c.x);
    }
    const Real du = images[residual_.size()] - u_;
    for (std::size_t i = 0; i < residual_.size(); ++i) {
      const Real h = weighted_.h[i], by = images[i] - residual_[i] + du * h;
      if (h > 0) change += (residual_[i] + u_ * h + by / 2) * by / h;
    }
    return change < 0;
  }
  // Books the time and the work of a Newton step.
  class Timed {
  public:
    explicit Timed(Model& model) : model_(model), begun_(model.work_) {}
    ~Timed() {
      ++model_.newton_effort_.rounds;
      model_.newton_effort_.entries += model_.work_ - begun_;
      model_.newton_effort_.seconds += clock_.seconds();
    }

  private:
    Model& model_;
    Index begun_;
    Clock clock_;
  };

  void measure(const Design::Moments& sums, Index k) {
    Coordinate& c = coordinates()[k];
    const bool centred = intercept_ >= 0 && k != intercept_;
    const Real gamma = c.gamma = centred ? -sums.weighted / weighted_.total_h : columns().gamma(k);
    const Real far = gamma * gamma * weighted_.total_h,
               square = sums.square + 2 * gamma * sums.weighted + far;
    c.slope = sums.slope + gamma * total_r_;
    c.weighted = sums.weighted;
    c.curvature = square > 1e-13 * (sums.square + far) ? square : 0; // a centred constant is no column
  }
  template <class Value> Design::Moments moments(const DenseFiber<Value>& fiber) const {
    if (fiber.size() == 0) return {};
    return kernels::moments(fiber.values(), fiber.shift(), residual_.data(), weighted_.h.data(),
                            fiber.size());
  }
  template <class F> Design::Moments moments(const F& fiber) const {
    Design::Moments out;
    fiber.visit([&](Index i, Real a) {
      const Real with = weighted_.h[i] * a;
      out.slope += residual_[i] * a;
      out.weighted += with;
      out.square += with * a;
    });
    return out;
  }
  template <class F> SOUTHWELL_INLINE Real slope(const F& fiber, Index k) const { // as it is now
    const Coordinate& c = coordinates()[k];
    return fiber.dot(residual_) + u_ * c.weighted + c.gamma * (total_r_ + u_ * weighted_.total_h);
  }
  // Moves x to its best with this slope, by what is returned; empty columns stay.
  SOUTHWELL_INLINE static Real step(Coordinate& c, Real curvature, Real slope, Real& largest) {
    curvature *= 1 + damping;
    if (!(curvature > 0)) return 0;
    const Real to = c.g.prox(c.x - slope / curvature, 1 / curvature), by = to - std::exchange(c.x, to);
    largest = std::max(largest, std::abs(by) * curvature);
    return by;
  }
  template <class Value> void add_weighted(const DenseFiber<Value>& fiber, Real by) {
    if (fiber.size() > 0)
      kernels::add_weighted(fiber.values(), fiber.shift(), by, weighted_.h.data(), residual_.data(),
                            fiber.size());
  }
  template <class F> void add_weighted(const F& fiber, Real by) {
    fiber.visit([&](Index i, Real a) { residual_[i] += by * weighted_.h[i] * a; });
  }

  // The Newton direction, and the part of it to the first sign change or bound.
  std::pair<std::vector<Real>, Real> newton_direction(const Slots& support, CVec slopes) {
    std::vector<Real> direction(support.size()), ridge(support.size());
    for (std::size_t t = 0; t < support.size(); ++t) {
      const Coordinate& c = coordinates()[support[t]];
      direction[t] = -(slopes[t] + c.pull());
      ridge[t] = std::max(c.g.l2, damping * c.curvature);
    }
    hessian_.solve(support, ridge, direction, counting());
    Real first = 1;
    for (std::size_t t = 0; t < support.size(); ++t) {
      const Coordinate& c = coordinates()[support[t]];
      const Real end = c.x + direction[t], stop = c.held(end);
      if (stop != end) first = std::min(first, (stop - c.x) / direction[t]);
    }
    return {std::move(direction), first};
  }
  void measure_slopes(const Slots& slots) { // as they are now
    slopes_.resize(slots.size());
    Index entries = 0;
    for (const Index k : slots) entries += columns().size(k);
    columns().visit([&](const auto& store) {
      divide(entries, [&](int part, int parts) {
        const std::size_t count = slots.size(), from = count * part / parts, to = count * (part + 1) / parts;
        for (std::size_t t = from; t < to; ++t) slopes_[t] = slope(store[slots[t]], slots[t]);
      });
    });
    spend(entries);
  }
  bool newton_step(const Slots& support) { // true: in full
    measure_slopes(support);
    const auto [direction, first] = newton_direction(support, slopes_);
    if (stopped_) return false;
    // Along the path that is clipped where signs would change, as far as the model falls.
    std::vector<Real> path(support.size());
    for (Real part = 1; part > std::max(first, 0.01); part /= 4) {
      for (std::size_t t = 0; t < support.size(); ++t) {
        const Coordinate& c = coordinates()[support[t]];
        path[t] = c.held(c.x + part * direction[t]) - c.x;
      }
      const Real u = along(support, path);
      if (!(change(support, path, u) < 0)) continue;
      take(support, path, 1, u);
      return false;
    }
    take(support, direction, first, along(support, direction));
    return first == 1;
  }
  // A d for a direction on these slots: what is stored, in `margins_`, and what the frame adds to all.
  Real along(const Slots& slots, CVec direction) {
    margins_.assign(residual_.size(), 0.0);
    Real u = 0;
    columns().visit([&](const auto& store) {
      for (std::size_t t = 0; t < slots.size(); ++t) {
        store[slots[t]].add_to(margins_, direction[t]);
        u += direction[t] * coordinates()[slots[t]].gamma;
        spend(store[slots[t]].size());
      }
    });
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
      total += weighted_.h[i] / 2 * m * m;
    }
    return total;
  }
  void take(const Slots& slots, CVec direction, Real part, Real u) {
    for (std::size_t t = 0; t < slots.size(); ++t) {
      Coordinate& c = coordinates()[slots[t]];
      c.put(c.x + part * direction[t]);
      total_r_ += part * direction[t] * c.weighted;
    }
    for (std::size_t i = 0; i < residual_.size(); ++i) residual_[i] += part * weighted_.h[i] * margins_[i];
    u_ += part * u;
  }
  // The same through H.
  template <class Moved> void newton_formed(const Slots& slots, Moved&& moved) {
    const Timed timed(*this);
    for (int most = 20; most > 0; --most) {
      Slots support;
      std::vector<Index> at;
      std::vector<Real> slopes;
      for (std::size_t t = 0; t < slots.size(); ++t)
        if (coordinates()[slots[t]].supports()) {
          support.push_back(slots[t]);
          at.push_back(Index(t));
          slopes.push_back(slopes_[t]);
        }
      if (support.empty()) return;
      const auto [direction, first] = newton_direction(support, slopes);
      if (stopped_) return;
      for (std::size_t t = 0; t < support.size(); ++t) {
        Coordinate& c = coordinates()[support[t]];
        const Real before = c.x;
        c.put(c.x + first * direction[t]);
        moved(at[t], c.x - before);
      }
      if (first == 1) return;
    }
  }

  Weighted weighted_;
  Hessian hessian_;
  Pulse* pulse_ = nullptr;
  bool stopped_ = false;
  std::vector<Real> residual_, margins_, slopes_, square_;
  std::vector<Design::Moments> moments_; // by feature
  Extrapolation extrapolation_;
  std::vector<Real> state_, images_; // x, and what is affine in it, as the last sweep left them
  Index intercept_ = -1;
  Real first_total_r_ = 0;   // where the model begins
  Real total_r_ = 0, u_ = 0; // the sum of the residual; what the frame has added to all margins
  Index measured_ = 0, work_ = 0;
  Effort newton_effort_{"newton"};
};

} // namespace southwell
