// What is asked where each sample has k margins and each feature k coefficients, a row of X for each:
//
//   P(X) = sum_i s_i phi_i(a_i'X) + sum_g g_g(X_g),           M = A X           (margins)
//   D(Y) = - sum_i s_i phi_i*(y_i) - sum_g g_g*(-Z_g),        Z = A'(s o Y)     (slopes)
//
// over a partition of the features into groups g. The intercept, k free numbers, is the last row of X.
#pragma once
#include "core/feasible.hpp"
#include "core/penalties/groups.hpp"
#include "core/support/cholesky.hpp"
#include "core/support/table_rows.hpp"

namespace southwell {

struct BlockProblem final : LinearProblem {
  const LossSum& loss;
  const Groups& penalty;

  BlockProblem(const Design& design, const LossSum& loss, const Groups& penalty)
      : LinearProblem(design), loss(loss), penalty(penalty) {}

  const LossSum& losses() const override { return loss; }
  bool has_intercept() const override { return penalty.penalised() < design.cols(); }
  Real value(const Point& point) const override { return loss.value(point.margins) + penalty.value(point.x); }
  Index nonzeros(CVec x) const override {
    return penalised_size() - std::count(x.begin(), x.begin() + penalised_size(), 0.0);
  }
  Unit unit(Point& point) const override {
    if (has_intercept()) {
      loss.shifts_of_zeros(Vec(point.x).last(std::size_t(width())));
      solve_intercept(point);
    }
    loss.derivative(point.margins, point.y);
    return unit_of(loss.value(point.margins), dual_at_zero(), terms(point));
  }
  std::unique_ptr<Bound> bound(std::function<bool()>) const override;

  Index penalised_size() const { return penalty.penalised() * width(); }
  bool open(Index j, Real v) const override {
    return j >= penalty.penalised() || penalty[penalty.group_of(j)].open(v);
  }
  Real dual_at_zero() const override {
    return -loss.conjugate(std::vector<Real>(std::size_t(dual_size())), 0);
  }

  void solve_intercept(Point& point) const { // with margins without an intercept
    settle_intercept(Vec(point.x).last(std::size_t(width())), point.margins);
  }
  // By Newton's method in k dimensions, unless the loss can tell.
  void settle_intercept(Vec own, Vec margins) const override {
    const Index k = width();
    if (loss.best_shifts(margins, own)) { return add_to_rows(own, margins); }
    std::vector<Real> best(margins.begin(), margins.end()), trial(best.size()), y(best.size()),
        h(best.size());
    const auto shifted = [&](CVec by, Vec out) {
      std::copy(margins.begin(), margins.end(), out.begin());
      add_to_rows(by, out);
    };
    std::vector<Real> at(own.begin(), own.end()), next(at);
    shifted(at, best);
    Real value = std::numeric_limits<Real>::quiet_NaN(),
         last = infinity; // of the loss at `best`: not yet known
    std::vector<Real> slope;
    const auto differentiate = [&] {
      loss.derivative(best, y);
      slope = column_sums(y, true);
    };
    differentiate();
    // P at zero is at least P - <slope, at>. Was the first guess a bad one?
    if (!(std::inner_product(at.begin(), at.end(), slope.begin(), 0.0) <= 0)) {
      value = loss.value(best);
      if (const Real zero = loss.value(margins); !(value <= zero)) {
        std::fill(at.begin(), at.end(), 0.0);
        best.assign(margins.begin(), margins.end());
        value = zero;
        differentiate();
      }
    }
    for (int step = 0; step < 50; ++step) {
      if (step > 0) differentiate();
      Real size = 0, worst = 0;
      for (Index c = 0; c < k; ++c) worst = std::max(worst, std::abs(slope[c]));
      for (Index i = 0; i < design.rows(); ++i)
        for (Index c = 0; c < k; ++c) size += loss.weights()[i] * std::abs(y[i * k + c]);
      // Down to rounding, which the sum over many samples has its share of.
      if (!(worst > 1e-16 * size) || (worst <= 1e-12 * size && worst > 0.1 * last)) break;
      last = worst;
      loss.curvature(y, h);
      const std::vector<Real> move = newton_shift(h, slope);
      Real promised = 0, longest = 0;
      for (Index c = 0; c < k; ++c) {
        promised += move[c] * slope[c];
        longest = std::max(longest, std::abs(move[c]));
      }
      if (longest <= 0.1 && !loss.piecewise()) { // so short that the curvature hardly changes
        for (Index c = 0; c < k; ++c) at[c] += move[c];
        shifted(at, best);
        value = std::numeric_limits<Real>::quiet_NaN();
        if (longest <= 1e-8) break; // the error falls with its square
        continue;
      }
      if (std::isnan(value)) value = loss.value(best);
      Real part = 1, now = infinity;
      for (; part > 1e-10; part /= 2) {
        for (Index c = 0; c < k; ++c) next[c] = at[c] + part * move[c];
        shifted(next, trial);
        now = loss.value(trial);
        if (now <= value + 0.1 * part * promised + 1e-14 * std::abs(value)) break;
        if (-promised <= 1e-10 * std::abs(value) && now <= value + 1e-10 * std::abs(value)) break; // rounding
      }
      if (part <= 1e-10) break;
      const bool moved = next != at;
      at = next;
      best.swap(trial);
      value = std::min(now, value);
      if (!moved || (loss.quadratic() && step > 0)) break;
    }
    if (loss.coupled()) { // a constant added to all k changes nothing
      const Real mean = std::accumulate(at.begin(), at.end(), 0.0) / Real(k);
      for (Real& c : at) c -= mean;
    }
    std::copy(at.begin(), at.end(), own.begin());
    shifted(at, trial);
    std::copy(trial.begin(), trial.end(), margins.begin());
  }
  // sum_i [s_i] y_i
  std::vector<Real> column_sums(CVec table, bool weighted) const {
    const Index k = width();
    std::vector<Real> sums(static_cast<std::size_t>(k));
    for (Index i = 0; i < design.rows(); ++i)
      for (Index c = 0; c < k; ++c) sums[c] += (weighted ? loss.weights()[i] : 1) * table[i * k + c];
    return sums;
  }

  // Fresh products of a point from both halves, for the methods that have them.
  void complete(Point& point) const {
    compute_margins(point);
    if (has_intercept()) solve_intercept(point);
    slopes(point.y, point.slopes);
  }
  // From its primal half: Y = phi'(M).
  void complete_from_primal(Point& point) const {
    compute_margins(point);
    finish(point);
  }
  // The same where the margins, without an intercept, are there.
  void finish(Point& point) const {
    if (has_intercept()) solve_intercept(point);
    loss.derivative(point.margins, point.y);
    if (has_intercept()) loss.balance(point.y);
    slopes(point.y, point.slopes);
  }

private:
  void compute_margins(Point& point) const { // M = A X, without an intercept
    const auto free = point.x.begin() + penalised_size();
    const std::vector<Real> own(free, point.x.end());
    std::fill(free, point.x.end(), 0.0);
    design.apply(point.x, width(), point.margins);
    std::copy(own.begin(), own.end(), free);
  }
  // -H^-1 slope for H = sum_i s_i H_i, whose null space the slope does not meet: through its factor, or, of
  // very many classes, with its diagonal alone.
  std::vector<Real> newton_shift(CVec h, CVec slope) const {
    const auto k = std::size_t(width());
    std::vector<Real> move(slope.begin(), slope.end()), diagonal(k);
    add_rows(h, diagonal);
    const Real most = *std::max_element(diagonal.begin(), diagonal.end()),
               floor = most > 0 ? 1e-10 * most : 1;
    for (Real& v : move) v = -v;
    if (!loss.coupled() || k > 500) {
      for (std::size_t c = 0; c < k; ++c) move[c] /= diagonal[c] + floor;
      return move;
    }
    std::vector<Real> matrix = loss.competition(h);
    Cholesky factor;
    for (std::size_t a = 0; a < k; ++a) {
      matrix[a * k + a] += diagonal[a] + floor;
      if (!factor.append(matrix.data() + a * k)) { // the diagonal is an upper bound
        for (std::size_t c = 0; c < k; ++c) move[c] /= diagonal[c] + floor;
        return move;
      }
    }
    factor.solve(move.data());
    return move;
  }
};

// Dual points made feasible (see feasible.hpp): scales and conjugates of groups.
class FeasibleBlocks final : public Feasible {
public:
  FeasibleBlocks(const BlockProblem& problem, std::function<bool()> hurry)
      : Feasible(problem, std::move(hurry)), penalty_(problem.penalty) {}

private:
  Real least_scale(bool with_l2) const override {
    Real scale = 1;
    std::vector<Real> buffer;
    for (Index g = 0; g < penalty_.count(); ++g)
      if (!with_l2 || penalty_[g].l2() == 0)
        scale = std::min(scale, penalty_[g].feasible_scale(penalty_.block(z_, g, buffer), -1));
    return scale;
  }
  Real penalty_conjugate(Real scale) const override {
    return penalty_.sum(z_, [&](const BlockPenalty& g, CVec block) { return g.conjugate(block, -scale); });
  }
  int sign(Index j) const override { return penalty_[penalty_.group_of(j)].sign(); }

  const Groups& penalty_;
};

inline std::unique_ptr<Bound> BlockProblem::bound(std::function<bool()> hurry) const {
  return std::make_unique<FeasibleBlocks>(*this, std::move(hurry));
}

} // namespace southwell
