// Coordinate descent as a factory for each layout. The definitions are instantiated in descent_*.cpp, a file
// a kind of fiber and side, so that the compiler can work on several at once.
#pragma once
#include "bindings/layout.hpp"
#include "core/algorithms/all.hpp"
#include "core/rules/all.hpp"

namespace southwell {

struct DescentSpec {
  const Problem& problem;
  const AnyLoss& loss;
  std::string rule;
  std::uint64_t seed;
  bool shrinking;
  CVec start;                                // x on the primal side, y on the dual
  CVec anchor;                               // where proximal terms begin, dual side
  Real firmness = 0, intercept_firmness = 0; // see ConjugateMap; dual side
  const Real* gram = nullptr;                // inner products of the coordinates, or none
};

template <class Stored>
std::unique_ptr<Algorithm> primal_descent(const Framed<Stored, Axis::columns>& design,
                                          const DescentSpec& spec);
template <class Stored>
std::unique_ptr<Algorithm> dual_descent(const Framed<Stored, Axis::rows>& design, const DescentSpec& spec);
std::unique_ptr<Algorithm> primal_gram_descent(const DescentSpec& spec);
std::unique_ptr<Algorithm> dual_gram_descent(const DescentSpec& spec);

template <class C, class Step>
std::unique_ptr<Algorithm> descend(C coupling, Step step, const DescentSpec& spec) {
  auto rule = make_rule(spec.rule, step.coordinates(), spec.seed);
  return std::make_unique<CoordinateDescent<C, Step>>(std::move(coupling), std::move(step), std::move(rule),
                                                      spec.shrinking);
}

} // namespace southwell
