// The updates of DSPDC for blocks: the dual block of one sample, the rows of X of one group, and the
// intercept, which is the last block. Perturbations as in perturbation.hpp.
#pragma once
#include "core/algorithms/dspdc.hpp"
#include "core/block_problem.hpp"

namespace southwell {

class BlockPerturbation {
public:
  BlockPerturbation(Real dx, Real dy, Index every) : dx(dx), dy(dy), every_(dx > 0 || dy > 0 ? every : 0) {}
  const Real dx, dy;
  void begin(CVec x, CVec y) {
    x_.assign(x.size(), 0.0);
    y_.assign(y.size(), 0.0);
    if (every_ > 0) recentre(x, y);
  }
  bool due() { return every_ > 0 && ++epochs_ >= every_; }
  void recentre(CVec x, CVec y) {
    epochs_ = 0;
    x_.assign(x.begin(), x.end());
    y_.assign(y.begin(), y.end());
  }
  CVec x() const { return x_; } // the centres
  CVec y() const { return y_; }

private:
  Index every_, epochs_ = 0;
  std::vector<Real> x_, y_;
};

class BlockMoves {
public:
  BlockMoves(const BlockProblem& problem, const DspdcSpec& spec)
      : problem_(&problem), perturbation_(spec.dx, spec.dy, spec.recentre_every),
        intercept_(problem.design.cols() - 1), centre_(std::size_t(problem.width())) {}

  Index width() const { return problem_->width(); }
  Index samples() const { return problem_->design.rows(); }
  Index blocks() const { return problem_->penalty.count() + problem_->has_intercept(); }
  std::span<const Index> features(Index g) const {
    return g < problem_->penalty.count() ? problem_->penalty.of(g) : std::span<const Index>(&intercept_, 1);
  }
  CVec weights() const { return problem_->loss.weights(); }
  std::vector<Real> start_x(CVec x) const { return {x.begin(), x.end()}; }
  std::vector<Real> start_y(CVec y) const {
    std::vector<Real> inside(y.begin(), y.end());
    problem_->loss.into_domain(inside);
    return inside;
  }
  BlockPerturbation& perturbation() { return perturbation_; }

  void maximise(Index i, const Real* m, const Real* y, Real firm, Real* out) {
    const Real dy = perturbation_.dy;
    if (dy == 0) return problem_->loss.maximise(i, m, y, firm, out);
    for (Index c = 0; c < width(); ++c)
      centre_[c] = (dy * perturbation_.y()[i * width() + c] + firm * y[c]) / (dy + firm);
    problem_->loss.maximise(i, m, centre_.data(), dy + firm, out);
  }
  void minimise(Index g, CVec slope, CVec x, Real tau, Vec out) const {
    const auto features = this->features(g);
    for (std::size_t e = 0; e < x.size(); ++e) {
      const auto k = std::size_t(width());
      const Real centre = perturbation_.x()[std::size_t(features[e / k]) * k + e % k];
      out[e] = x[e] - tau * (slope[e] - perturbation_.dx * centre);
    }
    const BlockPenalty own = g < problem_->penalty.count() ? problem_->penalty[g] : BlockPenalty();
    own.with_ridge(perturbation_.dx).prox(out, tau);
  }
  void locate(Point& point) const { problem_->complete(point); }
  Point own(const Point& point, const std::vector<Real>& x) const { // with the intercept of x
    Point own = point;
    own.x = x;
    if (!problem_->has_intercept()) return own;
    const auto k = std::size_t(width()), free = x.size() - k;
    std::vector<Real> change(k);
    for (std::size_t c = 0; c < k; ++c) change[c] = x[free + c] - point.x[free + c];
    add_to_rows(change, own.margins);
    return own;
  }

private:
  const BlockProblem* problem_;
  BlockPerturbation perturbation_;
  Index intercept_;
  std::vector<Real> centre_;
};

} // namespace southwell
