// The doubly stochastic primal-dual coordinate method (Yu, Lin, Yang 2015, algorithms 1 and 2): m of the n
// dual and q of the d primal coordinates move at a time.
//
//     y_i = argmax_y  y <a_i, xe> - phi_i*(y) - (n/(2 sigma))(y - y_i)^2        i in I, |I| = m
//     x_j = argmin_x  x <A^j, s o ye> + g_j(x) + (x - x_j)^2 / (2 tau)         j in J, |J| = q
//     ye = y_old + (n/m)(y - y_old),    xe = x + theta (x - x_old)
//
// An iteration costs what `Bilinear` keeps: O(k (m + q)) for A = U V of inner size k.
#pragma once
#include "core/coupling/bilinear.hpp"
#include "core/drive.hpp"
#include "core/perturbation.hpp"
#include "core/support/subset.hpp"
#include <utility>

namespace southwell {

struct DspdcSpec {
  Real tau, sigma, theta;
  Index rows, columns; // m and q
  Real dx = 0, dy = 0; // see Perturbation
  Index recentre_every = 0;
};

class Dspdc final : public Algorithm {
public:
  Dspdc(const Problem& problem, std::unique_ptr<Bilinear> bilinear, const DspdcSpec& spec, CVec x, CVec y,
        std::uint64_t seed)
      : problem_(problem), bilinear_(std::move(bilinear)), spec_(spec),
        perturbation_(problem, spec.dx, spec.dy, spec.recentre_every), random_(seed),
        rows_(problem.design.rows(), spec.rows), columns_(problem.design.cols(), spec.columns),
        x_(within_bounds(problem, x)), y_(within_domain(problem, y)), y_change_(spec.rows),
        x_change_(spec.columns) {
    perturbation_.begin(x_, y_);
  }

  void epoch(Pulse& pulse) override {
    for (Index left = problem_.rounds(spec_.rows, spec_.columns); left > 0; --left)
      if (pulse.beat(iterate())) return;
    if (perturbation_.due()) perturbation_.recentre(x_, y_);
  }
  void locate(Point& point) override {
    point.x = x_;
    point.y = y_;
    complete(problem_, point);
  }
  void resync(const Point& point) override {
    if (!problem_.has_intercept()) return bilinear_->reset(point);
    Point own = point; // the point has its best intercept
    own.x = x_;
    own.margins = margins_with(point, x_.back());
    bilinear_->reset(own);
  }

  std::vector<Index> draw(Index count) override { // m rows, then q columns, for each
    std::vector<Index> drawn;
    for (; count > 0; --count) {
      const auto rows = rows_.draw(random_), columns = columns_.draw(random_);
      drawn.insert(drawn.end(), rows.begin(), rows.end());
      drawn.insert(drawn.end(), columns.begin(), columns.end());
    }
    return drawn;
  }
  std::vector<Index> lead(Index moves) override {
    std::vector<Index> led;
    for (; moves > 0; --moves) {
      iterate();
      const auto rows = rows_.current(), columns = columns_.current();
      led.insert(led.end(), rows.begin(), rows.end());
      led.insert(led.end(), columns.begin(), columns.end());
    }
    return led;
  }

private:
  Index iterate() {
    const auto rows = rows_.draw(random_);
    const CVec s = problem_.loss.weights();
    const Real firm = Real(y_.size()) / spec_.sigma;
    Index cost = 0;
    for (std::size_t t = 0; t < rows.size(); ++t) {
      const Index i = rows[t];
      const Real next = perturbation_.maximise(i, bilinear_->margin(i), y_[i], firm);
      cost += bilinear_->read_cost(true, i);
      y_change_[t] = s[i] * (next - std::exchange(y_[i], next));
    }
    cost += bilinear_->moved_y(rows, y_change_);
    const auto columns = columns_.draw(random_);
    for (std::size_t t = 0; t < columns.size(); ++t) {
      const Index j = columns[t];
      const Real next = perturbation_.minimise(j, bilinear_->slope(j), x_[j], spec_.tau);
      cost += bilinear_->read_cost(false, j);
      x_change_[t] = next - std::exchange(x_[j], next);
    }
    return cost + bilinear_->moved_x(columns, x_change_);
  }

  const Problem& problem_;
  std::unique_ptr<Bilinear> bilinear_;
  DspdcSpec spec_;
  Perturbation perturbation_;
  Random random_;
  Subset rows_, columns_;
  std::vector<Real> x_, y_, y_change_, x_change_;
};

} // namespace southwell
