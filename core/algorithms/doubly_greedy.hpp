// Doubly greedy primal-dual coordinate descent (Lei, Yen, Wu, Dhillon, Ravikumar 2017, algorithm 1): the
// primal coordinates that lower the saddle function most, then the dual coordinates with the longest steps.
//
//     xbar = grad g*(-z)                                                                                  (4)
//     x_j  = xbar_j   where  g_j(x_j) + g_j*(-z_j) + z_j x_j  is largest                                  (5)
//     y_i  = argmax_y  y m_i - phi_i*(y) - (q/2)(y - y_i)^2   where that is the longest step         (7), (8)
//
// m = A x and z = A'(s o y) follow every move, and trees hold the scores of both sides, so an iteration costs
// the entries of its columns and rows and a logarithm for each, not n + d.
//
// The safe weight is q = S (10 R^2 + n gamma l2) / (2 n l2), S the number of coordinates where x is not xbar:
// (16) with the 10 that its proof needs, times the batch sizes' worst case. Scores depend on q, so it is
// doubled when S has outgrown it, and lowered once an epoch.
//
// If `adapt` is set, q may be smaller than this bound. What theorem 4.2 lets fall in every iteration with a
// safe q is, but for the constant D*,
//
//     V = sum_j excess_j - D(y) = 2 sum_j excess_j - L(x, y)
//
// A check computes V from the kept products. It costs n + d, and comes when the iterations since the last one
// have touched as many entries, so that all checks together at most double the cost. If V has fallen, q is
// divided by 1.5; if it has risen, the iterations since the last check are undone and q is multiplied by
// four.
#pragma once
#include "core/design/any_fibers.hpp"
#include "core/drive.hpp"
#include "core/perturbation.hpp"
#include "core/support/tree.hpp"
#include <memory>

namespace southwell {

struct GreedySpec {
  Index columns = 1, rows = 1; // moved in an iteration
  Real unit = 0;               // (10 R^2 + n gamma l2) / (2 n l2)
  Real weight = 0;             // q as set by the user; 0: the safe weight
  bool adapt = true;           // shorten the safe weight
  Real dx = 0, dy = 0;         // see Perturbation
  Index recentre_every = 0;
};

class DoublyGreedy final : public Algorithm {
public:
  DoublyGreedy(const Problem& problem, std::unique_ptr<AnyFibers> rows, std::unique_ptr<AnyFibers> columns,
               const GreedySpec& spec, CVec x, CVec y)
      : problem_(problem), rows_(std::move(rows)), columns_(std::move(columns)), spec_(spec),
        perturbation_(problem, spec.dx, spec.dy, spec.recentre_every), x_(within_bounds(problem, x)),
        y_(within_domain(problem, y)), m_(rows_->count()), z_(columns_->count()), primal_(columns_->count()),
        dual_(rows_->count()), score_(columns_->count()), q_(spec.weight) {
    perturbation_.begin(x_, y_);
  }

  void epoch(Pulse& pulse) override {
    for (Index left = problem_.rounds(spec_.rows, spec_.columns); left > 0; --left)
      if (pulse.beat(advance())) return;
    if (perturbation_.due()) {
      perturbation_.recentre(x_, y_);
      safe_.merit = infinity; // V is another function now
    }
    score_all();
    pulse.spend(size());
  }
  void locate(Point& point) override {
    point.x = x_;
    point.y = y_;
    complete(problem_, point);
  }
  void resync(const Point& point) override {
    m_.values = point.margins;
    if (problem_.has_intercept()) m_.values = margins_with(point, x_.back()); // the point has another one
    z_.values = point.slopes;
    score_all();
  }

  std::vector<Index> draw(Index count) override { // the column it would move, `count` times
    return std::vector<Index>(count, primal_.argmax());
  }
  std::vector<Index> lead(Index moves) override { // the columns, -1, the rows, -1, for each iteration
    std::vector<Index> led;
    for (; moves > 0; --moves) {
      advance();
      for (const auto* moved : {&moved_columns_, &moved_rows_}) {
        led.insert(led.end(), moved->begin(), moved->end());
        led.push_back(-1);
      }
    }
    return led;
  }

private:
  struct Safe { // where V was last seen to fall
    std::vector<Real> x, y, m, z;
    Real merit = infinity;
  };
  Index size() const { return Index(x_.size() + y_.size()); }

  Index advance() {
    const Index cost = iterate();
    return spec_.adapt && (unchecked_ += cost) >= size() ? cost + check() : cost;
  }
  Index iterate() {
    Index cost = 0;
    pick(primal_, spec_.columns, moved_columns_);
    for (const Index j : moved_columns_) {
      const Real to = perturbation_.best(j, z_.values[j]), by = to - std::exchange(x_[j], to);
      columns_->add(j, by, m_);
      cost += columns_->size(j);
    }
    for (const Index j : moved_columns_) score_column(j);
    primal_.settle();
    if (spec_.weight == 0 && safe_weight() * ease_ > q_) {
      set_weight(2);
      score_rows();
      cost += Index(y_.size());
    } else {
      for (const std::uint32_t i : m_.changed) score_row(i);
      dual_.settle();
    }
    m_.settle();

    pick(dual_, spec_.rows, moved_rows_);
    const CVec s = problem_.loss.weights();
    for (const Index i : moved_rows_) {
      const Real to = perturbation_.maximise(i, m_.values[i], y_[i], q_), by = to - std::exchange(y_[i], to);
      rows_->add(i, s[i] * by, z_);
      cost += rows_->size(i);
    }
    for (const Index i : moved_rows_) score_row(i);
    dual_.settle();
    for (const std::uint32_t j : z_.changed) score_column(j);
    primal_.settle();
    z_.settle();
    return cost;
  }
  // The at most `most` coordinates with the largest positive scores.
  static void pick(Tree<Largest>& tree, Index most, std::vector<Index>& picked) {
    picked.clear();
    while (Index(picked.size()) < most && tree.top() > 0) {
      picked.push_back(tree.argmax());
      tree.set(picked.back(), 0); // scored again after the move
      tree.settle();
    }
  }

  void score_column(Index j) {
    const Real excess = perturbation_.excess(j, z_.values[j], x_[j]);
    misplaced_ += Index(excess > 0) - Index(score_[j] > 0);
    score_[j] = excess;
    primal_.set(j, excess);
  }
  void score_row(Index i) { // the length of its step, in the norm in which weights are equal
    const Real step = perturbation_.maximise(i, m_.values[i], y_[i], q_) - y_[i];
    dual_.set(i, std::sqrt(problem_.loss.weights()[i]) * std::abs(step));
  }
  void score_rows() {
    for (Index i = 0; i < Index(y_.size()); ++i) score_row(i);
    dual_.settle();
  }
  void score_all() {
    m_.settle();
    z_.settle();
    for (Index j = 0; j < Index(x_.size()); ++j) score_column(j);
    primal_.settle();
    if (spec_.weight == 0) set_weight(1);
    score_rows();
  }

  Real safe_weight() const {
    const Real rounds = std::max(Real(misplaced_) / Real(spec_.columns), 1.0);
    return Real(spec_.rows) * rounds * spec_.unit;
  }
  void set_weight(Real room) { q_ = ease_ * room * safe_weight(); }
  Real merit() const { // V
    Real excess = 0;
    for (const Real one : score_) excess += one;
    return 2 * excess - perturbation_.saddle(x_, y_, m_.values);
  }
  Index check() {
    unchecked_ = 0;
    const Real now = merit();
    if (now < safe_.merit || ease_ == 1) {
      safe_ = Safe{.x = x_, .y = y_, .m = m_.values, .z = z_.values, .merit = now};
      ease_ = std::max(ease_ / 1.5, limit_);
      limit_ *= 0.8;
      set_weight(1);
      score_rows();
    } else { // back to where it was, with shorter steps
      x_ = safe_.x;
      y_ = safe_.y;
      m_.values = safe_.m;
      z_.values = safe_.z;
      limit_ = std::min(2 * ease_, 1.0);
      ease_ = std::min(4 * ease_, 1.0);
      score_all();
    }
    return size();
  }

  const Problem& problem_;
  std::unique_ptr<AnyFibers> rows_, columns_;
  GreedySpec spec_;
  Perturbation perturbation_;
  std::vector<Real> x_, y_;
  Ripple m_, z_;
  Tree<Largest> primal_, dual_;
  std::vector<Real> score_;       // of the columns
  Real q_, ease_ = 1, limit_ = 0; // q as a share of the safe weight, and the smallest share allowed
  Safe safe_;
  Index misplaced_ = 0, unchecked_ = 0; // entries touched since the last check
  std::vector<Index> moved_columns_, moved_rows_;
};

} // namespace southwell
