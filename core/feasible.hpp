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
    y_.assign(point.y.begin(), point.y.end());
    z_.assign(point.slopes.begin(), point.slopes.end());
    free_rounding_ = 0;
    if (problem_.has_intercept() && std::abs(z_.back()) > 1e-15 * mean_size(y_)) {
      balance(problem_.loss.weights(), y_);
      refresh();
    }
    if (unpenalised_violation(point.x)) project();
    unpenalised_violation(point.x); // what is left counts against the bound
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
  Real mean_size(CVec y) const {
    const CVec s = problem_.loss.weights();
    Real total = 0;
    for (std::size_t i = 0; i < y.size(); ++i) total += s[i] * std::abs(y[i]);
    return total;
  }
  void refresh() {
    scratch_.resize(y_.size());
    problem_.slopes(y_, scratch_, z_);
  }

  // Is some unpenalised slope away from 0 by more than rounding? Those within rounding are set to 0, and what
  // that could be worth, |z_j x_j|, is kept as a debt against the bound.
  bool unpenalised_violation(CVec x) {
    bool violated = false;
    Real size = -1;
    for (Index j = 0; j < Index(z_.size()); ++j) {
      if (!unpenalised(j)) continue;
      if (size < 0) size = weighted_norm(y_);
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
  Real weighted_norm(CVec y) const {
    const CVec s = problem_.loss.weights();
    Real total = 0;
    for (std::size_t i = 0; i < y.size(); ++i) total += s[i] * y[i] * y[i];
    return std::sqrt(total);
  }

  void project() {
    const Index d = Index(z_.size()), n = Index(y_.size());
    const CVec s = problem_.loss.weights();
    std::vector<Real> start = y_, v(d), step(d), residual(d), direction(d), image(d), along(n);
    std::vector<char> inside(n), member(d);
    const auto shifted = [&](CVec at) { // y_ = clip(start - A v), and where it is strictly inside
      problem_.design.apply(at, along);
      for (Index i = 0; i < n; ++i) {
        const Interval dom = problem_.loss.domain(i);
        const Real value = start[i] - along[i];
        inside[i] = value > dom.lo && value < dom.hi;
        y_[i] = clip(value, dom);
      }
      refresh();
    };
    for (int newton = 0; newton < 30; ++newton) {
      bool any = false;
      const Real size = weighted_norm(y_);
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
  std::vector<Real> y_, z_, norms_, scratch_;
  Real scale_ = 1, free_rounding_ = 0;
};

} // namespace southwell
