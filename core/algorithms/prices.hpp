// What the movers of the default method are expected to cost.
#pragma once
#include "core/policy.hpp"
#include "core/problem.hpp"
#include <type_traits>

namespace southwell {

// Passes over the data that Newton's method takes for a solution without zeros, estimated. They are few if
// the Hessian is cheap to form, by features (all pairs that meet in a row) or by samples, and fewer if formed
// once. Conjugate gradients take some hundreds, and more on losses made of pieces. Losses with kinks take
// several times as many, because the kinks are softened step by step.
template <class P> Real newton_passes(const P& problem, const Policy& policy) {
  const Design& design = problem.design;
  const Real n = Real(design.rows()), d = Real(problem.penalty.penalised()), stored = Real(design.stored());
  const bool once = problem.loss.quadratic();
  Real passes = problem.loss.piecewise() ? policy.newton_pieces : policy.newton_smooth;
  if (problem.width() == 1 && problem.penalty.ridge() > 0 && n * n <= policy.outer_rows * stored) {
    passes = once ? policy.outer_quadratic : policy.outer_curved;
  } else if (problem.width() == 1 && d <= policy.formed_columns && d * d <= stored) {
    const bool sparse = stored < n * d;
    const Real forming = stored / n / (sparse ? policy.pairs_sparse : policy.pairs_dense);
    passes =
        once ? policy.formed_quadratic + forming : policy.formed_curved + policy.forming_curved * forming;
  }
  return passes * std::min(Real(problem.width()), policy.wide_product) *
         (problem.loss.smooth() ? 1 : policy.newton_kinks);
}

// Of dual coordinate descent: the price of an entry, in entries of a column, and the passes for each unit of
// mean ||a_i||^2. A row reads and writes x in many places, which is slow unless x fits into the cache of a
// core. Each row also takes a step in one variable, with logarithms unless the loss is made of pieces. The
// number of epochs grows with kappa = mean ||a_i||^2 / (l2 gamma n).
struct DualPrice {
  Real entry, by_square;
};
template <class P> DualPrice dual_price(const P& problem, const Policy& policy) {
  const Design& design = problem.design;
  const Real touch = Real(design.cols() * problem.width()) <= policy.cache ? policy.entry_in_cache
                                                                           : policy.entry_beyond,
             row = problem.loss.piecewise() ? policy.row_pieces : policy.row_curved,
             blocks = std::is_same_v<P, Problem> ? 1 : policy.entry_of_blocks,
             entry = blocks * (touch + row * Real(design.rows()) / Real(std::max<Index>(design.stored(), 1)));
  const Real l2 = problem.penalty.ridge(), steepest = problem.loss.smoothness(),
             smoothness = std::isfinite(steepest) ? steepest : 1;
  const Real passes = problem.loss.smooth() ? policy.sdca_by_condition : policy.sdca_by_condition_kinks;
  return {entry, l2 > 0 ? passes * smoothness / (l2 * Real(design.rows())) * entry : infinity};
}

// The part of the time of dual coordinate descent that two threads divide: they share sweeps on smooth losses
// alone (DualStep::shares), and if there is no l1.
template <class P> Real dual_divided(const P& problem, const Policy& policy) {
  const bool shared =
      std::is_same_v<P, Problem> && std::isfinite(problem.loss.smoothness()) && problem.penalty.kink() == 0;
  return shared ? policy.divided_sweeps : 0;
}

} // namespace southwell
