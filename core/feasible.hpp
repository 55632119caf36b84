// Any dual point can be made feasible; its value then bounds the optimum from below.
//
//  1. Unpenalised coordinates need z_j = 0. For the intercept alone, balance y. For others, project y on
//     { A_U'(s o y) = 0 } within dom phi*: y(v) = clip(y - A_U v), v by Newton with conjugate gradients
//     inside.
//  2. Where l2 = 0 the slopes need |z_j| <= l1: scale y towards 0, which is in every dom phi*.
#pragma once
#include "core/problem.hpp"
#include <algorithm>

namespace southwell {

class Feasible {
public:
  explicit Feasible(const Problem& problem) : problem_(problem) {}

  // D at the feasible point nearest to the point's y. `y()` and `scale()` then describe it.
  Real dual_value(const Point& point) {
    y_ = point.y;
    z_.assign(point.slopes.begin(), point.slopes.end());
    free_rounding_ = 0;
    if (problem_.has_intercept() && std::abs(z_.back()) > 1e-15 * mean_size()) {
      balance(problem_.loss.weights(), own_y());
      problem_.slopes(y_, z_);
    }
    if (unpenalised_violation(point.x)) {
      project();
      free_rounding_ = 0;
      unpenalised_violation(point.x); // what is left counts against the bound
    }
    scale_ = 1;
    for (Index j = 0; j < Index(z_.size()); ++j)
      scale_ = std::min(scale_, problem_.penalty[j].feasible_scale(-z_[j]));
    Real conjugates = problem_.loss.conjugate(y_, scale_) + free_rounding_;
    for (Index j = 0; j < Index(z_.size()); ++j) conjugates += problem_.penalty[j].conjugate(-scale_ * z_[j]);
    return -conjugates;
  }
  CVec y() const { return y_; }
  Real scale() const { return scale_; }

private:
  bool unpenalised(Index j) const { // scaling cannot help here: l1 = l2 = 0 and an unbounded side
    return problem_.penalty[j].feasible_scale(-z_[j]) == 0;
  }
  Vec own_y() { // a copy of the point's y, made when it must change
    if (y_.data() != changed_y_.data()) changed_y_.assign(y_.begin(), y_.end());
    y_ = changed_y_;
    return changed_y_;
  }
  Real mean_size() const {
    const CVec s = problem_.loss.weights();
    Real total = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) total += s[i] * std::abs(y_[i]);
    return total;
  }

  // Is some unpenalised slope away from 0 by more than rounding? Those within rounding are set to 0, and what
  // that could be worth, |z_j x_j|, is kept as a debt against the bound.
  bool unpenalised_violation(CVec x) {
    bool violated = false;
    Real size = -1;
    for (Index j = 0; j < Index(z_.size()); ++j) {
      if (!unpenalised(j)) continue;
      if (size < 0) size = weighted_norm();
      if (std::abs(z_[j]) > 1e-13 * std::sqrt(squared_norm(j)) * size) {
        violated = true;
      } else {
        free_rounding_ += std::abs(z_[j] * x[j]);
        z_[j] = 0;
      }
    }
    return violated;
  }
  Real squared_norm(Index j) { // of column j; the intercept's is known without a pass over the data
    if (j >= problem_.penalty.penalised()) return 1;
    if (norms_.empty()) {
      norms_.resize(z_.size());
      problem_.design.column_squared_norms(problem_.loss.weights(), norms_);
    }
    return norms_[j];
  }
  Real weighted_norm() const {
    const CVec s = problem_.loss.weights();
    Real total = 0;
    for (std::size_t i = 0; i < y_.size(); ++i) total += s[i] * y_[i] * y_[i];
    return std::sqrt(total);
  }

  void project() {
    const Index d = Index(z_.size()), n = Index(y_.size());
    const CVec s = problem_.loss.weights();
    const Vec y = own_y();
    std::vector<Real> start(y.begin(), y.end()), v(d), step(d), residual(d), direction(d), image(d), along(n);
    std::vector<char> inside(n), member(d);
    const auto shifted = [&](CVec at) { // y_ = clip(start - A v), and where it is strictly inside
      problem_.design.apply(at, along);
      for (Index i = 0; i < n; ++i) {
        const Interval dom = problem_.loss.domain(i);
        const Real value = start[i] - along[i];
        inside[i] = value > dom.lo && value < dom.hi;
        y[i] = clip(value, dom);
      }
      problem_.slopes(y_, z_);
    };
    for (int newton = 0; newton < 30; ++newton) {
      bool any = false;
      const Real size = weighted_norm();
      for (Index j = 0; j < d;
           ++j) { // the set only grows: a bound that was crossed once may be crossed again
        member[j] = member[j] || unpenalised(j);
        residual[j] = member[j] ? z_[j] : 0;
        any = any || (member[j] && std::abs(z_[j]) > 3e-14 * std::sqrt(squared_norm(j)) * size);
      }
      if (!any) return;
      if (newton == 0) shifted(v);
      // Conjugate gradients, scaled by the columns' norms, for (A_U' diag(s inside) A_U) step = z_U.
      std::fill(step.begin(), step.end(), 0.0);
      const auto scaled = [&](Index j) { return residual[j] / std::max(squared_norm(j), 1e-300); };
      Real rho = 0;
      for (Index j = 0; j < d; ++j) rho += residual[j] * (direction[j] = scaled(j));
      const Real goal = rho * 1e-28;
      for (int k = 0; k < 200 && rho > goal && rho > 0; ++k) {
        problem_.design.apply(direction, along);
        for (Index i = 0; i < n; ++i) along[i] *= inside[i] ? s[i] : 0;
        problem_.design.adjoint(along, image);
        Real bend = 0;
        for (Index j = 0; j < d; ++j) bend += direction[j] * image[j];
        if (!(bend > 0)) break;
        const Real a = rho / bend;
        Real next = 0;
        for (Index j = 0; j < d; ++j) {
          if (!member[j]) continue;
          step[j] += a * direction[j];
          residual[j] -= a * image[j];
          next += residual[j] * scaled(j);
        }
        for (Index j = 0; j < d; ++j) direction[j] = member[j] ? scaled(j) + next / rho * direction[j] : 0;
        rho = next;
      }
      for (Index j = 0; j < d; ++j) v[j] += step[j];
      shifted(v);
    }
  }

  const Problem& problem_;
  CVec y_; // the point's own, or `changed_y_`
  std::vector<Real> changed_y_, z_, norms_;
  Real scale_ = 1, free_rounding_ = 0;
};

} // namespace southwell
