// Makes coordinate descent for each layout. The templates are instantiated in descent_*.cpp, one file for
// each kind of fiber and side, so that they compile in parallel.
#pragma once
#include "bindings/layout.hpp"
#include "core/algorithms/all.hpp"
#include "core/losses/for_steps.hpp"
#include "core/rules/rule.hpp"

namespace southwell {

struct DescentSpec {
  const Problem& problem;
  StepLoss loss;
  const RuleSpec& rule;
  std::uint64_t seed = 0;
  bool shrinking = false;
  CVec start = {};                           // x on the primal side, y on the dual
  CVec anchor = {};                          // first centre of the proximal terms, dual side
  Real firmness = 0, intercept_firmness = 0; // see ConjugateMap; dual side
  const Real* gram = nullptr;                // inner products of the coordinates' fibers, or null
  const AnyLayout* across = nullptr; // sparse data along the other axis, for rules that update all scores
  Index room = 0;                    // memory for columns of inner products, in numbers; see AllReadings
  bool accelerated = false, restarts = true;
  Real momentum = 0;                      // of the anchors (the centres of proximal terms)
  Index recentre_every = 1;               // epochs
  Real eta = 0;                           // see CoordinateDescent
  Real towards = 0;                       // see DualStep
  Rough rough = {};                       // likewise
  bool constant = false;                  // see Accelerated
  bool focused = false;                   // see CoordinateDescent::focus
  CVec row_norms = {};                    // squared, if they are known; dual side
  Curvature curvature = Curvature::local; // primal side
  Real theta = 0;                         // the first theta, and how candidates are compared; see Accelerated
  bool scaled = true;
};

template <class Stored>
std::unique_ptr<Algorithm> primal_descent(const Framed<Stored, Axis::columns>& design,
                                          const DescentSpec& spec);
template <class Stored>
std::unique_ptr<Algorithm> dual_descent(const Framed<Stored, Axis::rows>& design, const DescentSpec& spec);
std::unique_ptr<Algorithm> primal_gram_descent(const DescentSpec& spec);
std::unique_ptr<Algorithm> dual_gram_descent(const DescentSpec& spec);

template <class Pair, class Step>
std::unique_ptr<Algorithm> accelerated(Pair pair, Step step, std::unique_ptr<Rule> rule,
                                       const DescentSpec& spec) {
  return std::make_unique<Accelerated<Pair, Step>>(std::move(pair), std::move(step), std::move(rule),
                                                   spec.restarts, spec.constant, spec.theta, spec.scaled);
}

// Plain or accelerated, along fibers or through a Gram matrix.
template <class Step>
std::unique_ptr<Algorithm> with_rule(auto&& plain, auto&& pair, Step step,
                                     std::unique_ptr<AnyFibers> crossing, const DescentSpec& spec) {
  auto rule = make_rule(spec.rule, step.coordinates(), spec.seed);
  if (spec.accelerated) return accelerated(pair(), std::move(step), std::move(rule), spec);
  return std::make_unique<CoordinateDescent<decltype(plain()), Step>>(
      plain(), std::move(step), std::move(rule), spec.shrinking, spec.focused, std::move(crossing), spec.room,
      spec.recentre_every, spec.eta);
}

template <class Map, class Stored, Axis axis, class Step>
std::unique_ptr<Algorithm> along_fibers(const Framed<Stored, axis>& design, Map map, Step step,
                                        const DescentSpec& spec) {
  using D = Framed<Stored, axis>;
  constexpr Axis other = axis == Axis::rows ? Axis::columns : Axis::rows;
  std::unique_ptr<AnyFibers> crossing;
  if (spec.across)
    crossing = std::make_unique<FibersOf<Framed<Stored, other>>>(
        std::get<Framed<Stored, other>>(std::get<Stores<other>>(*spec.across)));
  // An accelerated step that reads all coordinates keeps their readings.
  if constexpr (Map::linear && Step::parabola)
    if (spec.accelerated && spec.room > 0) {
      auto rule = make_rule(spec.rule, step.coordinates(), spec.seed);
      return accelerated(ReadingsPair<D, Map>(design, map, std::move(crossing), spec.room), std::move(step),
                         std::move(rule), spec);
    }
  return with_rule([&] { return Mirror<D, Map>(design, map); },
                   [&] { return MirrorPair<D, Map>(design, map); }, std::move(step), std::move(crossing),
                   spec);
}

} // namespace southwell
