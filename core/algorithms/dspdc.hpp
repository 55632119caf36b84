// The doubly stochastic primal-dual coordinate method (Yu, Lin, Yang 2015, algorithms 1 and 2): m of the n
// dual and q of the d primal coordinates move at a time.
//
//     y_i = argmax_y  y <a_i, xe> - phi_i*(y) - (n/(2 sigma))(y - y_i)^2        i in I, |I| = m
//     x_j = argmin_x  x <A^j, s o ye> + g_j(x) + (x - x_j)^2 / (2 tau)         j in J, |J| = q
//     ye = y_old + (n/m)(y - y_old),    xe = x + theta (x - x_old)
//
// With m = 1 rows may be drawn with probabilities p_i instead (algorithm 2 of Zhang and Xiao 2015): then n/m
// is 1/p_i, and the proximal term has the factor n p_i.
//
// y_i and x_j are numbers or blocks of them (section 5.1, equations 28 and 29): `Moves` solves the problem of
// one of them. An iteration costs what `Bilinear` keeps: O(k (m + q)) for A = U V of inner size k.
#pragma once
#include "core/coupling/bilinear.hpp"
#include "core/drive.hpp"
#include "core/perturbation.hpp"
#include "core/support/alias_table.hpp"
#include "core/support/subset.hpp"
#include <numeric>
#include <optional>
#include <utility>

namespace southwell {

struct DspdcSpec {
  Real tau = 0, sigma = 0, theta = 0;
  Index rows = 1, columns = 1;          // m and q
  std::vector<Real> probabilities = {}; // of the rows, if m = 1; none: uniform
  Real dx = 0, dy = 0;                  // see Perturbation
  Index recentre_every = 0;
};

// The updates for numbers.
class ScalarMoves {
public:
  ScalarMoves(const Problem& problem, const DspdcSpec& spec)
      : problem_(problem), perturbation_(problem, spec.dx, spec.dy, spec.recentre_every),
        names_(std::size_t(problem.design.cols())) {
    std::iota(names_.begin(), names_.end(), Index(0));
  }
  static constexpr Index width() { return 1; }
  Index samples() const { return problem_.design.rows(); }
  Index blocks() const { return problem_.design.cols(); }
  std::span<const Index> features(Index j) const { return {&names_[j], 1}; }
  CVec weights() const { return problem_.loss.weights(); }
  std::vector<Real> start_x(CVec x) const { return within_bounds(problem_, x); }
  std::vector<Real> start_y(CVec y) const { return within_domain(problem_, y); }
  Perturbation& perturbation() { return perturbation_; }

  void maximise(Index i, const Real* m, const Real* y, Real firm, Real* out) const {
    *out = perturbation_.maximise(i, *m, *y, firm);
  }
  void minimise(Index j, CVec slope, CVec x, Real tau, Vec out) const {
    out[0] = perturbation_.minimise(j, slope[0], x[0], tau);
  }
  void locate(Point& point) const { complete(problem_, point); }
  Point own(const Point& point, const std::vector<Real>& x) const { // with the intercept of x
    Point own = point;
    own.x = x;
    if (problem_.has_intercept()) own.margins = margins_with(point, x.back());
    return own;
  }

private:
  const Problem& problem_;
  Perturbation perturbation_;
  std::vector<Index> names_;
};

template <class Moves> class Dspdc final : public Algorithm {
public:
  Dspdc(Moves moves, std::unique_ptr<Bilinear> bilinear, const DspdcSpec& spec, CVec x, CVec y,
        std::uint64_t seed)
      : moves_(std::move(moves)), bilinear_(std::move(bilinear)), spec_(spec), random_(seed),
        rows_(moves_.samples(), spec.rows), columns_(moves_.blocks(), spec.columns), x_(moves_.start_x(x)),
        y_(moves_.start_y(y)), y_change_(spec.rows * moves_.width()) {
    if (!spec.probabilities.empty()) alias_.emplace().assign(spec.probabilities);
    moves_.perturbation().begin(x_, y_);
  }

  void epoch(Pulse& pulse) override { // enough iterations for every coordinate to move once
    const Index a = (moves_.samples() + spec_.rows - 1) / spec_.rows,
                b = (moves_.blocks() + spec_.columns - 1) / spec_.columns;
    for (Index left = std::max(a, b); left > 0; --left)
      if (pulse.beat(iterate())) return;
    if (moves_.perturbation().due()) moves_.perturbation().recentre(x_, y_);
  }
  void locate(Point& point) override {
    point.x = x_;
    point.y = y_;
    moves_.locate(point);
  }
  void resync(const Point& point) override { bilinear_->reset(moves_.own(point, x_)); }

  std::vector<Index> draw(Index count) override { // m rows, then q columns, for each
    std::vector<Index> drawn;
    for (; count > 0; --count) {
      const auto rows = draw_rows(), columns = columns_.draw(random_);
      drawn.insert(drawn.end(), rows.begin(), rows.end());
      drawn.insert(drawn.end(), columns.begin(), columns.end());
    }
    return drawn;
  }
  std::vector<Index> lead(Index moves) override {
    std::vector<Index> led;
    for (; moves > 0; --moves) {
      iterate();
      const auto rows = alias_ ? std::span<const Index>(&row_, 1) : rows_.current(),
                 columns = columns_.current();
      led.insert(led.end(), rows.begin(), rows.end());
      led.insert(led.end(), columns.begin(), columns.end());
    }
    return led;
  }

private:
  std::span<const Index> draw_rows() {
    if (!alias_) return rows_.draw(random_);
    row_ = alias_->draw(random_);
    return {&row_, 1};
  }
  Index iterate() {
    const auto rows = draw_rows();
    const Index k = moves_.width();
    Real firm = Real(moves_.samples()) / spec_.sigma;
    if (alias_) {
      firm *= Real(moves_.samples()) * spec_.probabilities[row_];
      bilinear_->stretch(1 / spec_.probabilities[row_]);
    }
    Index cost = 0;
    read_.resize(std::size_t(k));
    next_.resize(std::size_t(k));
    for (std::size_t t = 0; t < rows.size(); ++t) {
      const Index i = rows[t];
      bilinear_->margin(i, read_.data());
      cost += bilinear_->read_cost(true, i);
      moves_.maximise(i, read_.data(), y_.data() + i * k, firm, next_.data());
      for (Index c = 0; c < k; ++c)
        y_change_[Index(t) * k + c] =
            moves_.weights()[i] * (next_[c] - std::exchange(y_[i * k + c], next_[c]));
    }
    cost += bilinear_->moved_y(rows, y_change_);
    const auto columns = columns_.draw(random_);
    features_.clear();
    x_change_.clear();
    for (const Index block : columns) {
      const auto features = moves_.features(block);
      const auto size = features.size() * std::size_t(k);
      read_.resize(size);
      next_.resize(size);
      own_.clear();
      for (std::size_t t = 0; t < features.size(); ++t) {
        bilinear_->slope(features[t], read_.data() + Index(t) * k);
        cost += bilinear_->read_cost(false, features[t]);
        own_.insert(own_.end(), x_.begin() + features[t] * k, x_.begin() + (features[t] + 1) * k);
      }
      moves_.minimise(block, read_, own_, spec_.tau, next_);
      for (std::size_t t = 0; t < features.size(); ++t) {
        features_.push_back(features[t]);
        for (Index c = 0; c < k; ++c) {
          const Real to = next_[Index(t) * k + c];
          x_change_.push_back(to - std::exchange(x_[features[t] * k + c], to));
        }
      }
    }
    return cost + bilinear_->moved_x(features_, x_change_);
  }

  Moves moves_;
  std::unique_ptr<Bilinear> bilinear_;
  DspdcSpec spec_;
  Random random_;
  Subset rows_, columns_;
  std::optional<AliasTable> alias_; // of the rows, if they are not drawn uniformly;
  Index row_ = 0;                   // the last one drawn
  std::vector<Real> x_, y_, y_change_, x_change_, read_, next_, own_;
  std::vector<Index> features_;
};

} // namespace southwell
