// Conjugate gradients on (H + diag(ridge)) d = right over the support of a working set, where H is known by
// its products alone. Preconditioned by a factor that covers the support (of an earlier H, it may be) for the
// slots in it, by the diagonal for others.
#pragma once
#include "core/newton/updated_factor.hpp"

namespace southwell {

// In the place of `right`, until the squared residual is a part of the first. False if that takes more than
// `most` steps. `multiply(v, image)` writes H v and returns the entries touched; `spend(entries)` counts
// them; if it returns true, the solution is abandoned. `coordinates` hold the diagonal of H.
template <class Coordinates, class Multiply, class Spend>
bool conjugate_gradients(const UpdatedFactor& factor, const Coordinates& coordinates,
                         UpdatedFactor::Slots support, CVec ridge, Vec right, const Policy& policy, int most,
                         Multiply&& multiply, Spend&& spend) {
  const std::size_t size = support.size();
  std::vector<Real> residual(right.begin(), right.end()), scaled(size), direction, image(size);
  std::fill(right.begin(), right.end(), 0.0);
  const bool known = factor.covers(support, Index(coordinates.size()), policy.factor_alike);
  std::vector<std::int32_t> place(coordinates.size(), -1);
  if (known) factor.write_places(place);
  std::vector<Real> within(std::size_t(factor.size()));
  const auto precondition = [&] { // returns <residual, scaled>
    std::fill(within.begin(), within.end(), 0.0);
    for (std::size_t t = 0; t < size; ++t)
      if (place[support[t]] >= 0) within[place[support[t]]] = residual[t];
    if (known) factor.solve_ordered(within.data());
    Real total = 0;
    for (std::size_t t = 0; t < size; ++t) {
      const Index k = support[t];
      const Real diagonal = coordinates[k].curvature + ridge[t];
      scaled[t] = place[k] >= 0 ? within[place[k]] : diagonal > 0 ? residual[t] / diagonal : 0;
      total += scaled[t] * residual[t];
    }
    return total;
  };
  Real rho = precondition();
  direction = scaled;
  const Real goal = policy.gradient_part * rho;
  for (int step = 0; step < most && rho > goal; ++step) {
    if (spend(multiply(direction, image) +
              Index(Real(within.size() * within.size()) / policy.solved_at_once)))
      return false;
    Real bend = 0;
    for (std::size_t t = 0; t < size; ++t) {
      image[t] += ridge[t] * direction[t];
      bend += direction[t] * image[t];
    }
    if (!(bend > 0)) break;
    for (std::size_t t = 0; t < size; ++t) {
      right[t] += rho / bend * direction[t];
      residual[t] -= rho / bend * image[t];
    }
    const Real next = precondition();
    for (std::size_t t = 0; t < size; ++t) direction[t] = scaled[t] + next / rho * direction[t];
    rho = next;
  }
  return rho <= goal;
}

} // namespace southwell
