// Newton's method on a working set of numbers, as the driver sees it: the coefficients, the quadratic model
// around them and its minimiser. Coordinate sweeps find the support; Newton steps on it solve the rest; where
// the Hessian is cheap to form, both happen there.
#pragma once
#include "core/newton/model.hpp"
#include "core/newton/numbers_in_memory.hpp"
#include "core/newton/outlook.hpp"
#include "core/newton/working_set.hpp"

namespace southwell {

// Where the samples are decides on the model: with them it may keep a residual over them, without them it
// asks questions (numbers_in_parts.hpp).
struct InMemory {
  using Set = WorkingSet<Problem>;
  using Products = NumberProducts;
  using Source = NumbersInMemory;
  using Quadratic = Model;
};

template <class Place> class NumbersOn {
public:
  using Set = typename Place::Set;
  using Products = typename Place::Products;
  using Source = typename Place::Source;
  using Quadratic = typename Place::Quadratic;

  template <class P>
  NumbersOn(const P& problem, const Policy& policy, const Set& set, const Products&, Samples& samples)
      : quadratic_(problem.loss.quadratic()), piecewise_(problem.loss.piecewise()), policy_(policy),
        set_(set), model_(set.columns(), policy, samples),
        intercept_(problem.has_intercept() ? set.slot(problem.design.cols() - 1) : -1),
        pace_(policy.slowest_pace) {}

  Ledger& ledger() { return model_.ledger(); }
  const Ledger& ledger() const { return model_.ledger(); }

  // Coefficients of the set, and their penalties, which may have changed; units may have joined.
  void put(CVec x) {
    for (std::size_t k = 0; k < x.size(); ++k)
      if (k < coordinates().size())
        coordinates()[k].x = x[k];
      else
        coordinates().push_back({x[k], set_.penalty(Index(k))});
  }
  void penalise() {
    for (std::size_t k = 0; k < coordinates().size(); ++k) coordinates()[k].g = set_.penalty(Index(k));
  }
  std::vector<Real> x() const {
    std::vector<Real> x;
    for (const Coordinate& c : model_.coordinates()) x.push_back(c.x);
    return x;
  }
  Real penalty(CVec x) const {
    Real total = 0;
    for (std::size_t k = 0; k < x.size(); ++k) total += model_.coordinates()[k].g.value(x[k]);
    return total;
  }

  void begin_round() { first_change_ = infinity; }
  // Around the present x. `changed`: has the curvature of the loss?
  void begin(bool changed, CVec) { model_.begin(changed, intercept_); }
  // About the gap of the problem restricted to the set, with y scaled to be feasible there; its second-order
  // part is rough.
  Real restricted_gap(Real value) const {
    const auto free = [](const Coordinate& c) { return c.g.feasible_scale(-c.slope) == 0; };
    Real scale = 1, total = 0;
    for (const Coordinate& c : model_.coordinates())
      scale = free(c) ? scale : std::min(scale, c.g.feasible_scale(-c.slope));
    for (const Coordinate& c : model_.coordinates()) {
      const Real z = scale * c.slope;
      if (free(c))
        total += c.curvature > 0 ? z * z / c.curvature : 0;
      else
        total += std::max(c.g.value(c.x) + c.g.conjugate(-z) + z * c.x, 0.0);
    }
    return total + (1 - scale) * (1 - scale) * std::abs(value);
  }
  // To the minimiser of the model, about.
  void solve(const Outlook& outlook) {
    const std::vector<Real> start = x();
    minimise(outlook);
    model_.place_intercept(start);
  }
  void stepped(Real) {} // this part of the step was taken

private:
  using Slots = typename Quadratic::Slots;

  std::vector<Coordinate>& coordinates() { return model_.coordinates(); }

  // On the features that may move, until the model is solved well enough to be worth a new one.
  void minimise(const Outlook& outlook) {
    Slots hot;
    for (std::size_t k = 0; k < coordinates().size(); ++k) {
      const Coordinate& c = coordinates()[k];
      if (Index(k) == intercept_) continue;
      if (c.x != 0 || c.g.kink() == 0 || std::abs(c.slope) > policy_.near_its_kink * c.g.kink())
        hot.push_back(std::int32_t(k));
    }
    const Real part = quadratic_ ? policy_.exact_part : policy_.model_part;
    if (model_.through_hessian().pays(hot))
      first_change_ = model_.through_hessian().solve(hot, part, thinning(hot, outlook));
    else if constexpr (requires { model_.by_products(hot, part); })
      first_change_ = model_.by_products(hot, part);
    else
      by_sweeps(hot, outlook);
  }
  // A Newton step on the support comes once as much has been spent on sweeps as it costs, if they promise to
  // cost as much again: whichever is better, no more than twice its price is paid.
  void by_sweeps(const Slots& hot, const Outlook& outlook) {
    Slots support = support_of();
    const bool smooth = support == hot && std::all_of(hot.begin(), hot.end(), [&](Index k) {
                          return coordinates()[k].g.kink() == 0;
                        });
    if (smooth && model_.newton_cost(hot) <= policy_.newton_at_once * Real(set_.columns().entries())) {
      sure_ = model_.newton(support); // there are no signs to find first
      if (sure_ || ledger().stopped()) return;
    }
    Real first = 0, now = infinity, goal = 0;
    model_.begin_sweeps(hot);
    for (int k = 0; k < int(policy_.sweeps) && now > goal; ++k) {
      const Index work = ledger().work();
      const Real last = std::exchange(now, model_.sweep(hot)), price = Real(ledger().work() - work);
      spent_ += price;
      if (ledger().stopped()) return;
      if (k == 0) {
        first = now;
        goal = policy_.sweep_part * std::min(first, first_change_);
      }
      if (last < infinity) pace_ = clip(now / last, policy_.fastest_pace, policy_.slowest_pace);
      model_.extrapolate(hot);
      Slots next = support_of();
      const bool settled = Real(difference(support, next)) <=
                           policy_.support_settled * (Real(next.size()) + policy_.settled_beside);
      support = std::move(next);
      if (!(now > goal) || !settled) continue;
      // The gap falls with the square of the changes.
      const Real cost = model_.newton_cost(support),
                 to_come =
                     price * std::log(std::max(outlook.gap / outlook.goal, 2.0)) / (-2 * std::log(pace_));
      if (spent_ >= (sure_ ? policy_.sure_discount : 1) * cost && to_come >= cost) {
        sure_ = model_.newton(support);
        spent_ = 0;
        if (ledger().stopped()) return;
        if (sure_) k = std::max(k, int(policy_.sweeps) - int(policy_.sweeps_after));
        support = support_of();
        model_.begin_sweeps(hot);
        now = infinity; // the next change is the first after that step
      }
    }
    first_change_ = first;
  }
  // While steps are large, H need not be precise: of every so many rows one will do, if they are many.
  Index thinning(const Slots& hot, const Outlook& outlook) const {
    if (!outlook.large || outlook.gap < policy_.precise_from * outlook.unit) return 1;
    if (piecewise_) return 1; // samples near a change of piece do not represent the others
    const Real every =
        model_.samples() / std::max(policy_.rows_a_feature * Real(hot.size()), policy_.least_rows);
    return every >= policy_.least_thinning ? Index(every) : 1;
  }
  static Index difference(const Slots& a, const Slots& b) { // how many are in one alone
    Index common = 0;
    for (std::size_t s = 0, t = 0; s < a.size() && t < b.size();)
      if (a[s] == b[t]) {
        ++common, ++s, ++t;
      } else {
        a[s] < b[t] ? ++s : ++t;
      }
    return Index(a.size() + b.size()) - 2 * common;
  }
  Slots support_of() const {
    Slots support;
    for (std::size_t k = 0; k < model_.coordinates().size(); ++k)
      if (model_.coordinates()[k].supports() && Index(k) != intercept_) support.push_back(std::int32_t(k));
    return support;
  }

  bool quadratic_, piecewise_; // the loss
  const Policy& policy_;
  const Set& set_;
  Quadratic model_;
  Index intercept_;              // its slot, or -1
  Real first_change_ = infinity; // of a slope, that the last model of the round asked for
  Real spent_ = 0;               // entries touched by sweeps since the last Newton step
  Real pace_;                    // part of the changes that a sweep leaves, when last measured
  bool sure_ = false;            // was the last Newton step taken in full?
};

using Numbers = NumbersOn<InMemory>;

} // namespace southwell
