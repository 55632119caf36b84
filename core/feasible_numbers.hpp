// Dual points of problems over numbers, made feasible (see feasible.hpp): scales and conjugates of an elastic
// net.
#pragma once
#include "core/feasible.hpp"
#include "core/problem.hpp"

namespace southwell {

namespace kernels {

SOUTHWELL_CLONES inline Real largest(const Real* z, Index n) { // max |z_j|; NaN if one is not finite
  Real most = 0, nothing = 0;
#pragma omp simd reduction(max : most) reduction(+ : nothing)
  for (Index j = 0; j < n; ++j) {
    most = std::abs(z[j]) > most ? std::abs(z[j]) : most;
    nothing += 0 * z[j];
  }
  return most + nothing;
}
// sum_j (unit max(|scale z_j| - l1, 0))^2
SOUTHWELL_CLONES inline Real excess(const Real* z, Real scale, Real l1, Real unit, Index n) {
  Real total = 0;
#pragma omp simd reduction(+ : total)
  for (Index j = 0; j < n; ++j) {
    const Real over = unit * std::max(std::abs(scale * z[j]) - l1, 0.0);
    total += over * over;
  }
  return total;
}

} // namespace kernels

class FeasibleNumbers final : public Feasible {
public:
  FeasibleNumbers(const Problem& problem, std::function<bool()> hurry)
      : Feasible(problem, std::move(hurry)), problem_(problem) {}

private:
  Real least_scale(bool with_l2) const override {
    Real scale = 1;
    Index j = 0;
    if (problem_.penalty.plain()) { // the same penalty for all: the largest slope decides
      j = problem_.penalty.penalised();
      ScalarElasticNet g = problem_.penalty[0];
      g.l2 *= with_l2;
      if (j > 0) scale = g.feasible_scale(kernels::largest(z_.data(), j));
    }
    for (; j < Index(z_.size()); ++j) {
      ScalarElasticNet g = problem_.penalty[j];
      g.l2 *= with_l2;
      scale = std::min(scale, g.feasible_scale(-z_[j]));
    }
    return scale;
  }
  Real penalty_conjugate(Real scale) const override {
    Real total = 0;
    Index j = 0;
    if (problem_.penalty.plain() && problem_.penalty.penalised() > 0) {
      j = problem_.penalty.penalised();
      const ScalarElasticNet g = problem_.penalty[0];
      total += g.l2 > 0 ? kernels::excess(z_.data(), scale, g.l1, 1 / std::sqrt(2 * g.l2), j)
                        : g.conjugate(scale * kernels::largest(z_.data(), j)); // 0, or infinity
    }
    for (; j < Index(z_.size()); ++j) total += problem_.penalty[j].conjugate(-scale * z_[j]);
    return total;
  }

  const Problem& problem_;
};

} // namespace southwell
