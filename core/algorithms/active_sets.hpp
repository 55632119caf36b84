// Doubly greedy primal-dual coordinate descent with active sets (Lei, Yen, Wu, Dhillon, Ravikumar 2017,
// algorithm 2). x and y are zero outside the active columns and rows. An epoch is
//
//   search columns   z = A'(s o y) from the active rows; those with the largest |xbar_j| enter           (10)
//   search rows      m = A x from the active columns; those with the longest steps enter                 (12)
//   passes           over the compact matrix: x = xbar, and y by proximal steps                    (11), (13)
//   rows and columns at zero leave
//
// A search updates z, m and the scores only where they have changed since the last search, so that all but
// the first cost the entries of the active rows and columns, not n + d.
#pragma once
#include "core/algorithms/restricted.hpp"
#include "core/support/tree.hpp"
#include <memory>
#include <numeric>

namespace southwell {

struct ActiveSpec {
  Index enter = 64;     // at most so many columns, and rows, enter at once;
  bool doubling = true; // but a larger set may double
  Index passes = 5;
  bool together = false;
  Real weight = 0; // q of passes together, as set by the user; 0: the safe weight
  bool adapt = true;

  Real dx = 0, dy = 0; // see Perturbation
  Index recentre_every = 0;
};

class ActiveSets final : public Algorithm {
public:
  ActiveSets(const Problem& problem, std::unique_ptr<AnyFibers> rows, std::unique_ptr<AnyFibers> columns,
             const ActiveSpec& spec, CVec x, CVec y, std::uint64_t seed)
      : problem_(problem), rows_(std::move(rows)), columns_(std::move(columns)), spec_(spec),
        perturbation_(problem, spec.dx, spec.dy, spec.recentre_every),
        active_(problem, perturbation_, *rows_, *columns_), random_(seed), m_(rows_->count()),
        z_(columns_->count()), row_scores_(rows_->count()), column_scores_(columns_->count()),
        place_(rows_->count()), row_at_(rows_->count()) {
    std::iota(place_.begin(), place_.end(), Index{0}); // rows with equal scores enter in random order
    for (Index k = Index(place_.size()) - 1; k > 0; --k) std::swap(place_[k], place_[random_.below(k + 1)]);
    for (std::size_t i = 0; i < place_.size(); ++i) row_at_[place_[i]] = Index(i);
    const std::vector<Real> begin_x = within_bounds(problem, x), begin_y = within_domain(problem, y);
    perturbation_.begin(begin_x, begin_y);
    for (Index i = 0; i < rows_->count(); ++i)
      if (begin_y[i] != 0) active_.enter_row(i, begin_y[i], 0);
    for (Index j = 0; j < columns_->count(); ++j)
      if (begin_x[j] != 0) active_.enter_column(j, begin_x[j], 0);
  }
  ActiveSets(const ActiveSets&) = delete; // members hold references to other members

  void epoch(Pulse& pulse) override {
    if (pulse.spend(search())) return;
    spec_.together ? active_.together(spec_.passes, spec_.weight, spec_.adapt, pulse)
                   : active_.in_turn(spec_.passes, random_, pulse);
    pulse.spend(release());
    if (perturbation_.due()) active_.recentre();
  }
  void locate(Point& point) override {
    std::fill(point.x.begin(), point.x.end(), 0.0);
    std::fill(point.y.begin(), point.y.end(), 0.0);
    for (const Column& column : active_.columns()) point.x[column.j] = active_.x(column.j);
    for (const Row& row : active_.rows()) point.y[row.i] = row.y;
    complete(problem_, point);
  }
  void resync(const Point& point) override {
    m_.values = point.margins;
    if (problem_.has_intercept()) m_.values = margins_with(point, active_.x(columns_->count() - 1));
    z_.values = point.slopes;
    for (std::size_t c = 0; c < active_.columns().size(); ++c) {
      Column& column = active_.columns()[c];
      column.synced = active_.x()[c];
      active_.set_slope(c, z_.values[column.j]);
    }
    for (Row& row : active_.rows()) {
      row.synced = row.y;
      row.m = m_.values[row.i];
    }
    m_.settle();
    z_.settle();
    for (Index i = 0; i < rows_->count(); ++i) score_row(i);
    for (Index j = 0; j < columns_->count(); ++j) score_column(j);
    row_scores_.settle();
    column_scores_.settle();
  }

  // For each epoch: the columns that are active after it, -1, the rows, -1.
  std::vector<Index> lead(Index epochs) override {
    std::vector<Index> led;
    Unwatched watch;
    const Clock clock;
    Pulse pulse(watch, clock);
    for (; epochs > 0; --epochs) {
      epoch(pulse);
      for (const Column& column : active_.columns()) led.push_back(column.j);
      led.push_back(-1);
      for (const Row& row : active_.rows()) led.push_back(row.i);
      led.push_back(-1);
    }
    return led;
  }

private:
  using Row = Restricted::Row;
  using Column = Restricted::Column;
  struct Unwatched final : Watch {
    bool interrupted() override { return false; }
    bool report(const Record&, const Certifier&, Real) override { return false; }
  };

  Index search() {
    Index cost = 0;
    for (Row& row : active_.rows())
      if (row.y != row.synced) {
        rows_->add(row.i, row.s * (row.y - std::exchange(row.synced, row.y)), z_);
        cost += rows_->size(row.i);
      }
    for (const std::uint32_t j : z_.changed) score_column(j);
    z_.settle();
    column_scores_.settle();
    for (Index room = room_for(active_.columns().size()); room > 0 && column_scores_.top() > 0; --room) {
      const Index j = column_scores_.argmax();
      active_.enter_column(j, 0, z_.values[j]);
      column_scores_.set(j, 0);
      column_scores_.settle();
      cost += columns_->size(j);
    }
    for (std::size_t c = 0; c < active_.columns().size(); ++c) {
      Column& column = active_.columns()[c];
      const Real x = active_.x()[c], before = std::exchange(column.synced, x);
      if (x == before) continue;
      columns_->add(column.j, x - before, m_);
      cost += columns_->size(column.j);
    }
    for (const std::uint32_t i : m_.changed) score_row(i);
    m_.settle();
    row_scores_.settle();
    for (Index room = room_for(active_.rows().size()); room > 0 && row_scores_.top() > 0; --room) {
      const Index i = row_at_[row_scores_.argmax()];
      active_.enter_row(i, 0, m_.values[i]);
      row_scores_.set(place_[i], 0);
      row_scores_.settle();
      cost += rows_->size(i);
    }
    return cost;
  }
  Index room_for(std::size_t active) const {
    return spec_.doubling ? std::max(spec_.enter, Index(active)) : spec_.enter;
  }
  void score_column(Index j) {
    column_scores_.set(j, active_.has_column(j) ? 0 : std::abs(perturbation_.best(j, z_.values[j])));
  }
  void score_row(Index i) {
    const Real s = problem_.loss.weights()[i];
    const bool open = s > 0 && !active_.has_row(i);
    row_scores_.set(place_[i], open ? s * std::abs(perturbation_.maximise(i, m_.values[i], 0, 0)) : 0);
  }

  // Removes rows and columns at zero once they are a quarter of their set. z and m are updated for what has
  // changed since the last search; the scores follow in the next search.
  Index release() {
    std::vector<char> rows(active_.rows().size()), columns(active_.columns().size());
    Index row_zeros = 0, column_zeros = 0, cost = 0;
    for (std::size_t r = 0; r < rows.size(); ++r) row_zeros += !(rows[r] = active_.rows()[r].y != 0);
    for (std::size_t c = 0; c < columns.size(); ++c) column_zeros += !(columns[c] = active_.x()[c] != 0);
    if (4 * row_zeros < Index(rows.size()) && 4 * column_zeros < Index(columns.size())) return 0;
    for (std::size_t r = 0; r < rows.size(); ++r)
      if (const Row& row = active_.rows()[r]; !rows[r]) {
        if (row.synced != 0) rows_->add(row.i, -row.s * row.synced, z_);
        cost += rows_->size(row.i);
        perturbation_.recentre_y(row.i, 0);
        m_.mark(row.i);
      }
    for (std::size_t c = 0; c < columns.size(); ++c)
      if (const Column& column = active_.columns()[c]; !columns[c]) {
        if (column.synced != 0) columns_->add(column.j, -column.synced, m_);
        cost += columns_->size(column.j);
        perturbation_.recentre_x(column.j, 0);
        z_.mark(column.j);
      }
    active_.keep(rows, columns);
    return cost;
  }

  const Problem& problem_;
  std::unique_ptr<AnyFibers> rows_, columns_;
  ActiveSpec spec_;
  Perturbation perturbation_;
  Restricted active_;
  Random random_;
  Ripple m_, z_; // as of the last search
  Tree<Largest> row_scores_, column_scores_;
  std::vector<Index> place_, row_at_; // the place of each row in the tree of scores, and its inverse
};

} // namespace southwell
