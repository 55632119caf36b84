// Doubly greedy primal-dual coordinate descent with active sets (Lei, Yen, Wu, Dhillon, Ravikumar 2017,
// algorithm 2). x and y are zero outside the active columns and rows. An epoch is
//
//   search columns   z = A'(s o y) from the active rows; those with the largest |xbar_j| enter           (10)
//   search rows      m = A x from the active columns; those with the longest steps enter                 (12)
//   passes           over the compact matrix: x = xbar, and y by proximal steps                    (11), (13)
//   zeros leave
//
// Searches add to z and m what has changed since the last one, and touch the scores of what they reach: after
// the first they cost the active rows and columns, not n + d.
//
// Two kinds of passes. `together` is the paper's: all x, then all y with one weight q, safe where it is
// sum_i s_i ||a_i||^2 / l2 over the active rows, and then adapted: eased while the gap of the restricted
// problem falls, firmed when it rises. In turn, each row moves with the largest step that is safe for it
// alone, q_i = s_i sum_j a_ij^2 / l2_j over the active columns, and x = xbar is kept true after each move.
#pragma once
#include "core/coupling/active_matrix.hpp"
#include "core/drive.hpp"
#include "core/perturbation.hpp"
#include "core/support/random.hpp"
#include "core/support/tree.hpp"
#include <memory>
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

struct ActiveSpec {
  Index enter = 64; // columns, and rows, that may enter a small set; a larger one may double
  Index passes = 5;
  bool together = false;
  Real ease = 1;       // of the weight of steps taken together
  Real dx = 0, dy = 0; // see Perturbation
  Index recentre_every = 0;
};

class ActiveSets final : public Algorithm {
public:
  ActiveSets(const Problem& problem, std::unique_ptr<AnyFibers> rows, std::unique_ptr<AnyFibers> columns,
             const ActiveSpec& spec, CVec x, CVec y, std::uint64_t seed)
      : problem_(problem), rows_(std::move(rows)), columns_(std::move(columns)), spec_(spec),
        perturbation_(problem, spec.dx, spec.dy, spec.recentre_every), matrix_(*rows_, *columns_),
        random_(seed), m_(rows_->count()), z_(columns_->count()), row_scores_(rows_->count()),
        column_scores_(columns_->count()), place_(rows_->count()), ease_(spec.ease),
        plain_(!problem.penalty.weighted() && !problem.penalty.bounded() && !problem.has_intercept()) {
    std::iota(place_.begin(), place_.end(), Index{0}); // rows that score alike enter in random order
    for (Index k = Index(place_.size()) - 1; k > 0; --k) std::swap(place_[k], place_[random_.below(k + 1)]);
    row_at_.resize(place_.size());
    for (std::size_t i = 0; i < place_.size(); ++i) row_at_[place_[i]] = Index(i);
    for (Index i = 0; i < rows_->count(); ++i)
      if (const Real at = clip(y[i], problem.loss.domain(i)); at != 0) enter_row(i, at);
    for (Index j = 0; j < columns_->count(); ++j)
      if (x[j] != 0) enter_column(j, clip(x[j], problem.penalty[j].lo, problem.penalty[j].hi));
  }

  void epoch(Pulse& pulse) override {
    if (pulse.spend(search())) return;
    last_gap_ = infinity;
    refresh_x();
    for (Index pass = 0; pass < spec_.passes; ++pass)
      if (spec_.together ? pass_together(pulse) : pass_in_turn(pulse)) break;
    pulse.spend(release());
    if (perturbation_.due()) {
      perturbation_.begin_recentring();
      for (std::size_t c = 0; c < x_.size(); ++c) {
        perturbation_.recentre_x(active_columns_[c].j, x_[c]);
        pull_[c] = -perturbation_.slope(active_columns_[c].j);
      }
      for (const Row& r : active_rows_) perturbation_.recentre_y(r.i, r.y);
    }
  }
  void locate(Point& point) override {
    std::fill(point.x.begin(), point.x.end(), 0.0);
    std::fill(point.y.begin(), point.y.end(), 0.0);
    for (std::size_t c = 0; c < active_columns_.size(); ++c) point.x[active_columns_[c].j] = x_[c];
    for (const Row& r : active_rows_) point.y[r.i] = r.y;
    complete(problem_, point);
  }
  void resync(const Point& point) override {
    m_.values = point.margins;
    if (problem_.has_intercept()) { // the point has its best intercept
      std::vector<Real> x(point.x);
      const Index last = columns_->count() - 1;
      x.back() = matrix_.columns().has(last) ? x_[matrix_.columns().slot[last]] : 0;
      problem_.design.apply(x, m_.values);
    }
    z_.values = point.slopes;
    for (std::size_t c = 0; c < active_columns_.size(); ++c) {
      active_columns_[c].synced = x_[c];
      slopes_[c] = z_.values[active_columns_[c].j];
    }
    for (Row& r : active_rows_) {
      r.synced = r.y;
      r.m = m_.values[r.i];
    }
    m_.settle();
    z_.settle();
    for (Index i = 0; i < rows_->count(); ++i) score_row(i);
    for (Index j = 0; j < columns_->count(); ++j) score_column(j);
    row_scores_.settle();
    column_scores_.settle();
  }

  std::vector<Index> draw(Index) override { return {}; }
  // For each epoch: the columns that are active after it, -1, the rows, -1.
  std::vector<Index> lead(Index epochs) override {
    std::vector<Index> led;
    Unwatched watch;
    const Clock clock;
    Pulse pulse(watch, clock);
    for (; epochs > 0; --epochs) {
      epoch(pulse);
      for (const Column& c : active_columns_) led.push_back(c.j);
      led.push_back(-1);
      for (const Row& r : active_rows_) led.push_back(r.i);
      led.push_back(-1);
    }
    return led;
  }

private:
  struct Unwatched final : Watch {
    bool interrupted() override { return false; }
    bool report(const Record&, const Certifier&, Real) override { return false; }
  };
  struct Row {
    Index i;
    Real y, synced, m, s, curvature; // curvature: sum_j a_ij^2 / l2_j over the active columns
  };
  struct Column {
    Index j;
    Real synced, inverse; // inverse: 1 / (l2_j + dx)
  };

  Index search() {
    Index cost = 0;
    for (Row& r : active_rows_)
      if (r.y != r.synced) {
        rows_->add(r.i, r.s * (r.y - std::exchange(r.synced, r.y)), z_);
        cost += rows_->size(r.i);
      }
    for (const std::uint32_t j : z_.changed) score_column(j);
    z_.settle();
    column_scores_.settle();
    for (Index room = std::max(spec_.enter, matrix_.columns().size()); room > 0 && column_scores_.top() > 0;
         --room) {
      const Index j = column_scores_.argmax();
      enter_column(j, 0);
      column_scores_.settle();
      cost += columns_->size(j);
    }
    for (std::size_t c = 0; c < active_columns_.size(); ++c)
      if (Column& column = active_columns_[c]; x_[c] != column.synced) {
        columns_->add(column.j, x_[c] - std::exchange(column.synced, x_[c]), m_);
        cost += columns_->size(column.j);
      }
    for (const std::uint32_t i : m_.changed) score_row(i);
    m_.settle();
    row_scores_.settle();
    for (Index room = std::max(spec_.enter, matrix_.rows().size()); room > 0 && row_scores_.top() > 0;
         --room) {
      const Index i = row_at_[row_scores_.argmax()];
      enter_row(i, 0);
      row_scores_.settle();
      cost += rows_->size(i);
    }
    return cost;
  }
  void score_column(Index j) {
    column_scores_.set(j, matrix_.columns().has(j) ? 0 : std::abs(perturbation_.best(j, z_.values[j])));
  }
  void score_row(Index i) {
    const Real s = problem_.loss.weights()[i];
    const bool open = s > 0 && !matrix_.rows().has(i);
    row_scores_.set(place_[i], open ? s * std::abs(perturbation_.maximise(i, m_.values[i], 0, 0)) : 0);
  }

  void enter_column(Index j, Real x) {
    const Real inverse = 1 / (problem_.penalty[j].l2 + spec_.dx);
    matrix_.enter_column(j).visit(
        [&](ActiveMatrix::Slot r, Real a) { active_rows_[r].curvature += a * a * inverse; });
    active_columns_.push_back({j, x, inverse});
    x_.push_back(x);
    slopes_.push_back(z_.values[j]);
    pull_.push_back(-perturbation_.slope(j));
    column_scores_.set(j, 0);
  }
  void enter_row(Index i, Real y) {
    Row row{i, y, y, m_.values[i], problem_.loss.weights()[i], 0};
    matrix_.enter_row(i).visit(
        [&](ActiveMatrix::Slot c, Real a) { row.curvature += a * a * active_columns_[c].inverse; });
    active_rows_.push_back(row);
    row_scores_.set(place_[i], 0);
  }
  // Zeros leave once they are a quarter of their set.
  Index release() {
    std::vector<char> rows(active_rows_.size()), columns(active_columns_.size());
    Index row_zeros = 0, column_zeros = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) row_zeros += !(rows[r] = active_rows_[r].y != 0);
    for (std::size_t c = 0; c < columns.size(); ++c) column_zeros += !(columns[c] = x_[c] != 0);
    if (4 * row_zeros < Index(rows.size()) && 4 * column_zeros < Index(columns.size())) return 0;
    // what they changed since the last search must not be forgotten
    Index cost = 0;
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (Row& row = active_rows_[r]; !rows[r]) {
        if (row.synced != 0) rows_->add(row.i, -row.s * row.synced, z_);
        cost += rows_->size(row.i);
        perturbation_.recentre_y(row.i, 0);
      }
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (Column& column = active_columns_[c]; !columns[c]) {
        if (column.synced != 0) columns_->add(column.j, -column.synced, m_);
        cost += columns_->size(column.j);
        perturbation_.recentre_x(column.j, 0);
      }
    std::vector<Index> left_rows, left_columns;
    std::size_t kept = 0;
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (rows[r])
        active_rows_[kept++] = active_rows_[r];
      else
        left_rows.push_back(active_rows_[r].i);
    active_rows_.resize(kept);
    kept = 0;
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (columns[c]) {
        x_[kept] = x_[c];
        slopes_[kept] = slopes_[c];
        pull_[kept] = pull_[c];
        active_columns_[kept++] = active_columns_[c];
      } else {
        left_columns.push_back(active_columns_[c].j);
      }
    active_columns_.resize(kept);
    x_.resize(kept);
    slopes_.resize(kept);
    pull_.resize(kept);
    matrix_.keep(rows, columns);
    for (Row& row : active_rows_) row.curvature = 0;
    for (std::size_t c = 0; c < active_columns_.size(); ++c)
      matrix_.columns().lines[c].visit([&](ActiveMatrix::Slot r, Real a) {
        active_rows_[r].curvature += a * a * active_columns_[c].inverse;
      });
    for (const Index i : left_rows) m_.mark(i); // scored at the next search
    for (const Index j : left_columns) z_.mark(j);
    return cost;
  }

  bool pass_in_turn(Pulse& pulse) {
    order_.resize(active_rows_.size());
    std::iota(order_.begin(), order_.end(), ActiveMatrix::Slot{0});
    for (Index k = Index(order_.size()) - 1; k > 0; --k) std::swap(order_[k], order_[random_.below(k + 1)]);
    for (const ActiveMatrix::Slot r : order_) {
      Row& row = active_rows_[r];
      const ActiveMatrix::Line& line = matrix_.rows().lines[r];
      const Real to = perturbation_.maximise(row.i, line.dot(x_), row.y, row.s * row.curvature);
      const Real by = row.s * (to - std::exchange(row.y, to));
      if (by != 0) follow(line, by);
      if (pulse.beat(line.size() * (by != 0 ? 2 : 1))) return true;
    }
    return false;
  }
  // y of this row has moved, s_i y_i by so much: z follows, and x = xbar.
  void follow(const ActiveMatrix::Line& line, Real by) {
    if (plain_) { // one formula for all, here where most of the time goes
      const Real l1 = problem_.penalty[0].l1,
                 inverse = active_columns_.empty() ? 0 : active_columns_[0].inverse;
      if (line.meets_all(x_.size()))
        return kernels::follow(slopes_.data(), x_.data(), line.values.data(), by, pull_.data(), l1, inverse,
                               line.size());
      return line.visit([&](ActiveMatrix::Slot c, Real a) {
        slopes_[c] += by * a;
        x_[c] = soft(pull_[c] - slopes_[c], l1) * inverse;
      });
    }
    line.visit([&](ActiveMatrix::Slot c, Real a) {
      slopes_[c] += by * a;
      x_[c] = perturbation_.best(active_columns_[c].j, slopes_[c]);
    });
  }
  bool pass_together(Pulse& pulse) {
    for (std::size_t c = 0; c < active_columns_.size(); ++c) {
      const Real to = perturbation_.best(active_columns_[c].j, slopes_[c]),
                 by = to - std::exchange(x_[c], to);
      const ActiveMatrix::Line& line = matrix_.columns().lines[c];
      if (by != 0) line.visit([&](ActiveMatrix::Slot r, Real a) { active_rows_[r].m += by * a; });
      if (pulse.beat(by != 0 ? line.size() : 0)) return true;
    }
    Real total = 0;
    for (const Row& row : active_rows_) total += row.s * row.curvature;
    for (std::size_t r = 0; r < active_rows_.size(); ++r) {
      Row& row = active_rows_[r];
      const Real to = perturbation_.maximise(row.i, row.m, row.y, ease_ * total);
      const Real by = row.s * (to - std::exchange(row.y, to));
      const ActiveMatrix::Line& line = matrix_.rows().lines[r];
      if (by != 0) line.visit([&](ActiveMatrix::Slot c, Real a) { slopes_[c] += by * a; });
      if (pulse.beat(by != 0 ? line.size() : 0)) return true;
    }
    Real gap = 0;
    for (std::size_t c = 0; c < active_columns_.size(); ++c)
      gap += perturbation_.excess(active_columns_[c].j, slopes_[c], x_[c]);
    for (const Row& row : active_rows_) gap += row.s * perturbation_.shortfall(row.i, row.m, row.y);
    const bool fell = gap < std::exchange(last_gap_, gap);
    ease_ = fell ? std::max(0.8 * ease_, 1e-9) : std::min(2 * ease_, 1.0);
    return false;
  }
  void refresh_x() { // x = xbar, where steps are taken in turn
    if (spec_.together) return;
    for (std::size_t c = 0; c < active_columns_.size(); ++c)
      x_[c] = perturbation_.best(active_columns_[c].j, slopes_[c]);
  }

  const Problem& problem_;
  std::unique_ptr<AnyFibers> rows_, columns_;
  ActiveSpec spec_;
  Perturbation perturbation_;
  ActiveMatrix matrix_;
  Random random_;
  Ripple m_, z_; // as of the last search
  Tree<Largest> row_scores_, column_scores_;
  std::vector<Index> place_, row_at_; // where a row is in its tree, and back
  std::vector<Row> active_rows_;
  std::vector<Column> active_columns_;
  std::vector<Real> x_, slopes_, pull_; // of the active columns: x, z, and dx times its centre
  std::vector<ActiveMatrix::Slot> order_;
  Real ease_, last_gap_ = infinity;
  bool plain_; // the same penalty on every coefficient, without bounds
};

} // namespace southwell
