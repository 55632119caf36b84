// The saddle problem restricted to active rows and columns; all other x and y are zero. The passes of DGPD
// solve it.
//
// There are two kinds of passes. `together` is the paper's: all x move, then all y with one weight q. The
// value sum_i s_i ||a_i||^2 / l2 over the active rows is safe; q is lowered while the gap of this problem
// falls and raised when it rises. `in_turn` moves one row at a time with the largest step that is safe for it
// alone, q_i = s_i sum_j a_ij^2 / l2_j over the active columns, and updates x = xbar after each move.
#pragma once
#include "core/coupling/active_matrix.hpp"
#include "core/drive.hpp"
#include "core/perturbation.hpp"
#include "core/support/random.hpp"
#include <numeric>

namespace southwell {

namespace kernels {

// z += by a, x = soft(pull - z, l1) inverse
SOUTHWELL_CLONES inline void follow(Real* z, Real* x, const Real* a, Real by, const Real* pull, Real l1,
                                    Real inverse, Index n) {
#pragma omp simd
  for (Index c = 0; c < n; ++c) {
    z[c] += by * a[c];
    x[c] = soft(pull[c] - z[c], l1) * inverse;
  }
}

} // namespace kernels

class Restricted {
public:
  using Slot = ActiveMatrix::Slot;
  using Line = ActiveMatrix::Line;
  struct Row {
    Index i;
    Real y = 0, synced = 0, m = 0, s = 0;
    Real curvature = 0; // sum_j a_ij^2 / l2_j over the active columns
  };
  struct Column {
    Index j;
    Real synced, inverse; // inverse: 1 / (l2_j + dx)
  };

  Restricted(const Problem& problem, Perturbation& perturbation, const AnyFibers& rows,
             const AnyFibers& columns)
      : problem_(problem), perturbation_(perturbation), matrix_(rows, columns),
        best_(problem.penalty[0].with_ridge(perturbation.dx()).conjugate_shrinkage()),
        plain_(problem.penalty.plain() && !problem.has_intercept()) {}

  bool has_row(Index i) const { return matrix_.rows().has(i); }
  bool has_column(Index j) const { return matrix_.columns().has(j); }
  std::vector<Row>& rows() { return rows_; }
  std::vector<Column>& columns() { return columns_; }
  CVec x() const { return x_; } // by slot
  Real x(Index j) const { return has_column(j) ? x_[matrix_.columns().slot[j]] : 0; }
  void set_slope(std::size_t slot, Real z) { slopes_[slot] = z; }

  void enter_column(Index j, Real x, Real slope) {
    const Real inverse = 1 / (problem_.penalty[j].strong_convexity() + perturbation_.dx());
    matrix_.enter_column(j).visit([&](Slot r, Real a) { rows_[r].curvature += a * a * inverse; });
    columns_.push_back({j, x, inverse});
    x_.push_back(x);
    slopes_.push_back(slope);
    pull_.push_back(-perturbation_.slope(j));
  }
  void enter_row(Index i, Real y, Real margin) {
    Row row{.i = i, .y = y, .synced = y, .m = margin, .s = problem_.loss.weights()[i]};
    matrix_.enter_row(i).visit([&](Slot c, Real a) { row.curvature += a * a * columns_[c].inverse; });
    rows_.push_back(row);
  }
  // Removes the rows and columns whose mark is 0.
  void keep(const std::vector<char>& rows, const std::vector<char>& columns) {
    const auto close_ranks = [](auto& values, const std::vector<char>& kept) {
      std::size_t next = 0;
      for (std::size_t slot = 0; slot < kept.size(); ++slot)
        if (kept[slot]) values[next++] = values[slot];
      values.resize(next);
    };
    close_ranks(rows_, rows);
    close_ranks(columns_, columns);
    for (auto* values : {&x_, &slopes_, &pull_}) close_ranks(*values, columns);
    matrix_.keep(rows, columns);
    for (Row& row : rows_) row.curvature = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      matrix_.columns().lines[c].visit(
          [&](Slot r, Real a) { rows_[r].curvature += a * a * columns_[c].inverse; });
  }
  void recentre() {
    perturbation_.begin_recentring();
    for (std::size_t c = 0; c < x_.size(); ++c) {
      perturbation_.recentre_x(columns_[c].j, x_[c]);
      pull_[c] = -perturbation_.slope(columns_[c].j);
    }
    for (const Row& row : rows_) perturbation_.recentre_y(row.i, row.y);
  }

  // Performs `passes` passes; true: the epoch must end now.
  bool in_turn(Index passes, Random& random, Pulse& pulse) {
    for (std::size_t c = 0; c < columns_.size(); ++c) x_[c] = perturbation_.best(columns_[c].j, slopes_[c]);
    for (; passes > 0; --passes)
      if (pass_in_turn(random, pulse)) return true;
    return false;
  }
  // `weight`: q; 0: the safe one, lowered if `adapt`.
  bool together(Index passes, Real weight, bool adapt, Pulse& pulse) {
    last_gap_ = infinity;
    for (; passes > 0; --passes) {
      if (pass_together(weight > 0 ? weight : ease_ * safe_weight(), pulse)) return true;
      if (adapt && weight == 0) ease();
    }
    return false;
  }

private:
  bool pass_in_turn(Random& random, Pulse& pulse) {
    order_.resize(rows_.size());
    std::iota(order_.begin(), order_.end(), Slot{0});
    for (Index k = Index(order_.size()) - 1; k > 0; --k) std::swap(order_[k], order_[random.below(k + 1)]);
    for (const Slot r : order_) {
      Row& row = rows_[r];
      const Line& line = matrix_.rows().lines[r];
      const Real to = perturbation_.maximise(row.i, line.dot(x_), row.y, row.s * row.curvature);
      const Real by = row.s * (to - std::exchange(row.y, to));
      if (by != 0) follow(line, by);
      if (pulse.beat(line.size() * (by != 0 ? 2 : 1))) return true;
    }
    return false;
  }
  // Updates z and x = xbar after s_i y_i of this row has changed by `by`.
  void follow(const Line& line, Real by) {
    if (plain_) { // the same formula for all columns; most of the time is spent here
      if (line.meets_all(x_.size()))
        return kernels::follow(slopes_.data(), x_.data(), line.values.data(), by, pull_.data(),
                               best_.threshold, best_.factor, line.size());
      return line.visit([&](Slot c, Real a) {
        slopes_[c] += by * a;
        x_[c] = soft(pull_[c] - slopes_[c], best_.threshold) * best_.factor;
      });
    }
    line.visit([&](Slot c, Real a) {
      slopes_[c] += by * a;
      x_[c] = perturbation_.best(columns_[c].j, slopes_[c]);
    });
  }
  bool pass_together(Real q, Pulse& pulse) {
    for (std::size_t c = 0; c < columns_.size(); ++c) {
      const Real to = perturbation_.best(columns_[c].j, slopes_[c]), by = to - std::exchange(x_[c], to);
      const Line& line = matrix_.columns().lines[c];
      if (by != 0) line.visit([&](Slot r, Real a) { rows_[r].m += by * a; });
      if (pulse.beat(by != 0 ? line.size() : 0)) return true;
    }
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      Row& row = rows_[r];
      const Real to = perturbation_.maximise(row.i, row.m, row.y, q);
      const Real by = row.s * (to - std::exchange(row.y, to));
      const Line& line = matrix_.rows().lines[r];
      if (by != 0) line.visit([&](Slot c, Real a) { slopes_[c] += by * a; });
      if (pulse.beat(by != 0 ? line.size() : 0)) return true;
    }
    return false;
  }
  Real safe_weight() const {
    Real total = 0;
    for (const Row& row : rows_) total += row.s * row.curvature;
    return total;
  }
  void ease() { // from the gap of this problem, after a pass
    Real gap = 0;
    for (std::size_t c = 0; c < columns_.size(); ++c)
      gap += perturbation_.excess(columns_[c].j, slopes_[c], x_[c]);
    for (const Row& row : rows_) gap += row.s * perturbation_.shortfall(row.i, row.m, row.y);
    const Real before = std::exchange(last_gap_, gap); // infinite in the first pass: nothing to compare
    if (std::isfinite(before)) ease_ = gap < before ? std::max(0.8 * ease_, 1e-9) : std::min(2 * ease_, 1.0);
  }

  const Problem& problem_;
  Perturbation& perturbation_;
  ActiveMatrix matrix_;
  std::vector<Row> rows_;
  std::vector<Column> columns_;
  std::vector<Real> x_, slopes_, pull_; // of the columns: x, z, and dx times the centre
  std::vector<Slot> order_;
  Real ease_ = 1, last_gap_ = infinity; // q as a share of the safe weight
  Shrinkage best_;                      // x of pull - slope, if plain
  bool plain_;                          // the same penalty on every coefficient, without bounds
};

} // namespace southwell
