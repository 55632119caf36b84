// What the gap proves about single coordinates (gap-safe rules for features: Ndiaye, Fercoq, Gramfort and
// Salmon 2017; for samples: Shibagaki, Karasuyama, Hatano and Takeuchi 2016). What is proved holds for the
// rest of the solve.
//
// D is gamma-strongly concave in the s-weighted norm, so an optimal y is within sqrt(2 (P - D(y)) / gamma) of
// any y, and the slopes of unit u (a feature, or a group) are within that times sqrt(sum_i s_i ||a_iu||^2) of
// the optimal ones. Where no such slopes leave the subdifferential of g_u at 0, x_u = 0 in every solution.
// P is l2-strongly convex, so the optimal x is within sqrt(2 (P(x) - D) / l2) of any x. Where phi_i' is the
// same at both ends of what the margin can then be, it is the dual value of sample i. An unpenalised
// intercept has no such bound.
#pragma once
#include "core/certificate.hpp"
#include "core/problem.hpp"
#include <numeric>
#include <type_traits>

namespace southwell {

template <class P> using PenaltyOf = std::remove_cvref_t<decltype(P::penalty)>;

// P: a problem over numbers or over blocks.
template <class P>
  requires UnitPenalty<PenaltyOf<P>>
class Screening {
public:
  explicit Screening(const P& problem) { repenalise(problem); }

  // For another penalty on the same data nothing is proved yet.
  void repenalise(const P& problem) {
    problem_ = &problem;
    const Index units = problem.penalty.units(problem.design.cols());
    zero_.assign(std::size_t(units), 0);
    samples_.assign(std::size_t(problem.design.rows()), 0);
    kinks_ = false; // without any, no unit is zero for sure
    for (Index u = 0; u < units && !kinks_; ++u) kinks_ = problem.penalty.holds_zero(u);
    l2_ = problem.has_intercept() ? 0 : problem.penalty.least_l2();
  }

  bool zero(Index u) const { return zero_[u]; }
  std::vector<char> features() const { // which are zero
    std::vector<char> all(std::size_t(problem_->design.cols()), 0);
    for (std::size_t u = 0; u < zero_.size(); ++u)
      if (zero_[u]) problem_->penalty.each_feature(Index(u), [&](Index j) { all[j] = 1; });
    return all;
  }
  const std::vector<char>& samples() const { return samples_; } // whose y is known
  CVec unit_norms() {                                           // squared, s-weighted
    if (norms_.empty()) {
      std::vector<Real> columns(std::size_t(problem_->design.cols()));
      problem_->design.column_squared_norms(problem_->loss.weights(), columns);
      norms_.resize(zero_.size());
      for (std::size_t u = 0; u < norms_.size(); ++u)
        problem_->penalty.each_feature(Index(u), [&](Index j) { norms_[u] += columns[j]; });
      total_norm_ = std::reduce(norms_.begin(), norms_.end());
    }
    return norms_;
  }
  CVec row_norms() { // squared
    if (row_norms_.empty()) {
      row_norms_.resize(samples_.size());
      problem_->design.row_squared_norms(row_norms_);
    }
    return row_norms_;
  }
  Real total_norm() const { return total_norm_; } // their sum

  // Called with the last point and its certificate.
  void update(const Point& point, const Certifier& certifier, const Unit& unit) {
    const Certificate& best = certifier.best();
    const Real slack = unit.rounding + 1e-12 * best.terms; // gaps are known up to rounding
    screen_units(certifier.slopes(), certifier.scale(), best.primal - certifier.latest_dual() + slack);
    if constexpr (std::is_same_v<P, Problem>) screen_samples(point, certifier.latest() - best.dual + slack);
  }

private:
  void screen_units(CVec slopes, Real scale, Real gap) {
    const Real smoothness = problem_->loss.smoothness();
    if (!kinks_ || !std::isfinite(smoothness) || !std::isfinite(gap)) return;
    const Real reach = 1.000001 * std::sqrt(2 * std::max(gap, 0.0) * smoothness);
    if (lengths_.empty())
      for (const Real square : unit_norms()) lengths_.push_back(std::sqrt(square));
    problem_->penalty.mark_zeros(slopes, scale, lengths_, reach, zero_);
  }
  void screen_samples(const Point& point, Real gap) {
    if (!(l2_ > 0) || !std::isfinite(gap) || !problem_->loss.piecewise() || problem_->loss.quadratic())
      return;
    const CVec norms = row_norms();
    const Real reach = std::sqrt(2 * std::max(gap, 0.0) / l2_);
    for (Index i = 0; i < Index(samples_.size()); ++i) {
      if (samples_[i]) continue;
      const Real m = point.margins[i],
                 room = 1.000001 * reach * std::sqrt(norms[i]) + 1e-10 * (1 + std::abs(m));
      samples_[i] = problem_->loss.derivative(i, m - room) == problem_->loss.derivative(i, m + room);
    }
  }

  const P* problem_;
  std::vector<char> zero_, samples_;
  std::vector<Real> norms_, lengths_, row_norms_;
  Real total_norm_ = 0;
  bool kinks_; // the penalty has a kink at zero
  Real l2_;    // the smallest of all features; 0 if there is an intercept
};

} // namespace southwell
