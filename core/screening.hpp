// What the gap proves about single coordinates (gap-safe rules for features: Ndiaye, Fercoq, Gramfort and
// Salmon 2017; for samples: Shibagaki, Karasuyama, Hatano and Takeuchi 2016). What is proved holds for the
// rest of the solve.
//
// D is gamma-strongly concave in the s-weighted norm, so an optimal y is within sqrt(2 (P - D(y)) / gamma) of
// any y. If z_j of all these y are inside the subdifferential of g_j at 0, then x_j = 0 in every solution.
// P is l2-strongly convex, so the optimal x is within sqrt(2 (P(x) - D) / l2) of any x. If phi_i' is the
// same at both ends of the interval of possible margins, it is the optimal y_i. An unpenalised
// intercept has no such bound.
#pragma once
#include "core/certificate.hpp"
#include "core/problem.hpp"
#include <numeric>

namespace southwell {

class Screening {
public:
  explicit Screening(const Problem& problem) { repenalise(problem); }

  // Starts again with another penalty on the same data.
  void repenalise(const Problem& problem) {
    problem_ = &problem;
    features_.assign(problem.design.cols(), 0);
    samples_.assign(problem.design.rows(), 0);
    l2_ = problem.has_intercept() ? 0 : infinity;
    kinks_ = false; // without any, no feature can be proved to be zero
    for (Index j = 0; j < problem.penalty.penalised() && !kinks_; ++j) {
      const Interval quiet = problem.penalty[j].subdifferential(0);
      kinks_ = quiet.lo < quiet.hi;
    }
    for (Index j = 0; j < problem.penalty.penalised() && l2_ > 0; ++j)
      l2_ = std::min(l2_, problem.penalty[j].l2);
  }

  bool feature(Index j) const { return features_[j]; }
  const std::vector<char>& features() const { return features_; } // 1: proved to be zero
  const std::vector<char>& samples() const { return samples_; }   // 1: optimal y_i proved
  CVec column_norms() {
    if (norms_.empty()) {
      norms_.resize(features_.size());
      problem_->design.column_squared_norms(problem_->loss.weights(), norms_);
      total_norm_ = std::reduce(norms_.begin(), norms_.end());
    }
    return norms_;
  }
  Real total_norm() const { return total_norm_; } // their sum

  // Called with the last point and its certificate.
  void update(const Point& point, const Certifier& certifier, const Unit& unit) {
    const Certificate& best = certifier.best();
    const Real slack = unit.rounding + 1e-12 * best.terms; // gaps are known up to rounding
    screen_features(certifier.slopes(), certifier.scale(), best.primal - certifier.latest_dual() + slack);
    screen_samples(point, certifier.latest() - best.dual + slack);
  }

private:
  void screen_features(CVec slopes, Real scale, Real gap) {
    const Real smoothness = problem_->loss.smoothness();
    if (!kinks_ || !std::isfinite(smoothness) || !std::isfinite(gap)) return;
    const Real reach = std::sqrt(2 * std::max(gap, 0.0) * smoothness);
    if (lengths_.empty())
      for (const Real square : column_norms()) lengths_.push_back(std::sqrt(square));
    const auto room = [&](Index j, Real z, Real l1) {
      return 1.000001 * reach * lengths_[j] + 1e-10 * (std::abs(z) + l1);
    };
    if (problem_->penalty.plain()) { // the same condition for all: the loop vectorises
      const Real l1 = problem_->penalty[0].l1;
      for (Index j = 0; j < problem_->penalty.penalised(); ++j) {
        const Real z = scale * slopes[j];
        features_[j] |= char(std::abs(z) + room(j, z, l1) < l1);
      }
      return;
    }
    for (Index j = 0; j < problem_->penalty.penalised(); ++j) {
      if (features_[j]) continue;
      const ScalarElasticNet g = problem_->penalty[j];
      if (g.lo > 0 || g.hi < 0) continue;
      const Interval quiet = g.subdifferential(0);
      const Real z = scale * slopes[j], far = room(j, z, g.l1);
      features_[j] = -z - far > quiet.lo && -z + far < quiet.hi;
    }
  }
  void screen_samples(const Point& point, Real gap) {
    if (!(l2_ > 0) || !std::isfinite(gap) || !problem_->loss.piecewise() || problem_->loss.quadratic())
      return;
    if (row_norms_.empty()) {
      row_norms_.resize(samples_.size());
      problem_->design.row_squared_norms(row_norms_);
    }
    const Real reach = std::sqrt(2 * std::max(gap, 0.0) / l2_);
    for (Index i = 0; i < Index(samples_.size()); ++i) {
      if (samples_[i]) continue;
      const Real m = point.margins[i],
                 room = 1.000001 * reach * std::sqrt(row_norms_[i]) + 1e-10 * (1 + std::abs(m));
      samples_[i] = problem_->loss.derivative(i, m - room) == problem_->loss.derivative(i, m + room);
    }
  }

  const Problem* problem_;
  std::vector<char> features_, samples_;
  std::vector<Real> norms_, lengths_, row_norms_;
  Real total_norm_ = 0;
  bool kinks_; // the penalty has a kink at zero
  Real l2_;    // the smallest of all features; 0 if there is an intercept
};

} // namespace southwell
