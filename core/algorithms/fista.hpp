// Accelerated proximal gradient descent (Nesterov 2013; Beck and Teboulle 2009) with a line search that can
// lengthen steps again, and restarts when the momentum is an ascent direction (O'Donoghue and Candes 2015).
//
//     v  = x + beta (x - x_before)
//     x  = prox_{1/L} g (v - grad f(v) / L)
//     L  such that  f(x) <= f(v) + <grad f(v), x - v> + (L/2) ||x - v||^2
//
//     beta  (t_k - 1)/t_{k+1} with t growing like k/2; or, for a g that is mu-strongly convex, the constant
//           (1 - r)/(1 + r), r^2 = mu/(L + mu) (Chambolle and Pock 2016, theorem B.1 with t = 1/r); or zero,
//           which is plain proximal gradient descent
//
// A x is kept for both points, so A v costs nothing: an iteration is one product with A' and one with A for
// each step tried. It needs products alone, so it takes any design.
#pragma once
#include "core/drive.hpp"

namespace southwell {

struct FistaSpec {
  Real lipschitz = 0; // the first L
  bool momentum = true;
  bool restarts = true; // of momentum that grows
  Real constant = 0;    // mu of constant momentum; 0: it grows
};

class Fista final : public Algorithm {
public:
  Fista(const Problem& problem, CVec x, const FistaSpec& spec)
      : problem_(problem), spec_(spec),
        may_lengthen_(!spec.momentum || (spec.restarts && spec.constant == 0)),
        lipschitz_(spec.lipschitz > 0 ? std::min(spec.lipschitz, largest) : 1), x_(within_bounds(problem, x)),
        v_(x_.size()), next_(x_.size()), slopes_(x_.size()), y_(problem.design.rows()), margins_(y_.size()),
        v_margins_(y_.size()), next_margins_(y_.size()) {
    before_ = x_;
    before_margins_ = margins_;
  }

  void epoch(Pulse& pulse) override {
    const Index work = problem_.design.stored();
    iterate([&] { return pulse.spend(work); });
    pulse.beat(0);
  }
  void locate(Point& point) override {
    point.x = x_;
    complete_from_primal(problem_, point);
  }
  void resync(const Point& point) override {
    margins_ = problem_.has_intercept() ? margins_with(point, x_.back()) : point.margins;
    if (!begun_) before_margins_ = margins_;
    begun_ = true;
  }
  std::vector<Index> lead(Index moves) override {
    for (; moves > 0; --moves) iterate([] { return false; });
    return {};
  }

private:
  static constexpr Real largest = 1e300; // of L; with a larger one no step would move x

  Real momentum(Real t) const {
    if (!spec_.momentum) return 0;
    if (spec_.constant == 0) return (t_ - 1) / t;
    const Real r = std::sqrt(spec_.constant / (lipschitz_ + spec_.constant));
    return (1 - r) / (1 + r);
  }
  // `interrupted()` is asked after each product; true ends the line search.
  template <class Interrupted> void iterate(Interrupted&& interrupted) {
    const Real t = (1 + std::sqrt(1 + 4 * t_ * t_)) / 2, beta = momentum(t);
    for (std::size_t j = 0; j < x_.size(); ++j) v_[j] = x_[j] + beta * (x_[j] - before_[j]);
    for (std::size_t i = 0; i < y_.size(); ++i)
      v_margins_[i] = margins_[i] + beta * (margins_[i] - before_margins_[i]);
    const Real at_v = problem_.loss.value(v_margins_);
    problem_.loss.derivative(v_margins_, y_);
    problem_.slopes(y_, slopes_);
    bool leave = interrupted();
    for (;;) {
      Real along = 0, square = 0;
      for (std::size_t j = 0; j < x_.size(); ++j) {
        next_[j] = problem_.penalty[Index(j)].prox(v_[j] - slopes_[j] / lipschitz_, 1 / lipschitz_);
        const Real step = next_[j] - v_[j];
        along += slopes_[j] * step;
        square += step * step;
      }
      problem_.design.apply(next_, next_margins_);
      leave = interrupted() || leave;
      const Real at_next = problem_.loss.value(next_margins_);
      const Real rounding = 1e-14 * (std::abs(at_v) + std::abs(at_next));
      const bool enough = at_next - at_v - along <= lipschitz_ / 2 * square + rounding;
      if (enough || leave || lipschitz_ >= largest) break;
      lipschitz_ = std::min(2 * lipschitz_, largest); // also where the loss has overflowed
    }
    Real uphill = 0;
    for (std::size_t j = 0; j < x_.size(); ++j) uphill += (v_[j] - next_[j]) * (next_[j] - x_[j]);
    t_ = spec_.restarts && uphill > 0 ? 1 : t;
    std::swap(before_, x_);
    std::swap(x_, next_);
    std::swap(before_margins_, margins_);
    std::swap(margins_, next_margins_);
    if (may_lengthen_) lipschitz_ = std::max(0.95 * lipschitz_, 1 / largest); // where the loss is flat
  }

  const Problem& problem_;
  FistaSpec spec_;
  bool may_lengthen_; // without restarts, momentum needs an L that never falls (Beck and Teboulle, lemma 4.1)
  Real lipschitz_, t_ = 1;
  bool begun_ = false;
  std::vector<Real> x_, before_, v_, next_, slopes_;
  std::vector<Real> y_, margins_, before_margins_, v_margins_, next_margins_;
};

} // namespace southwell
