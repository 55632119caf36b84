// Accelerated coordinate descent: random, greedy and hybrid (Fang, Fang, Yu, Li 2021, algorithm 3), on either
// side.
//
//   v = (1 - theta) x + theta z                                      where gradients are evaluated
//   several candidates (f + h smooth):  x = v - (grad_j1 / C_j1) e_j1,       j1 the largest grad^2/C
//                                       z = z - (grad_j2 / (d theta C_j2)) e_j2,  j2 a uniform coordinate
//   one candidate j (any h_j):          z_j = argmin_u  r_j u + (d theta L_j/2)(u - z_j)^2 + h_j(u)
//                                       x   = v + d theta (z_new - z_old)
//   (1 - theta_new) / theta_new^2 = 1 / theta^2
//
// The second form is APPROX (Fercoq and Richtarik 2015); where h_j is zero both are the same. For several
// candidates and an h that is not smooth no theory holds, so that is refused. theta begins at 1/d by default,
// as APPROX must for x to stay in the domain of h; with the paper's theta_0 = 1 the first d steps on z would
// be d times too short. The paper's own form has theta_0 = 1, the largest C for every C_k
// (Curvature::largest), and j1 the largest |grad|, which is then the same.
//
// A step does no work of order d or n. With x = theta_{t-1}^2 u + z, and hence v = theta_t^2 u + z,
// a step on x by dx and on z by dz is  z += dz,  u += (dx - dz) / theta_t^2,  one coordinate each (Lee and
// Sidford 2013). theta is about 2/t, so theta^2 is far from underflow in any run that ends.
//
// Restarts, considered after each epoch:
//   at x  when the objective rose; and, where h is mu-strongly convex in the norm of the L_j, when the bound
//         F(x_t) - F* <= theta_{t-1}^2 (1/theta_0^2 + d^2/mu) (F(x_0) - F*), which holds for one candidate,
//         has fallen below 1/e^2: the linear rate of a method that knows mu (Fercoq and Qu 2018,
//         arXiv:1803.05771);
//   at z  when the objective is lower at z than at x. x is an average of all past z, so where z_j reached its
//         bound long ago, x_j approaches the bound only like 1/t^2 and the objective never rises. The first
//         such restart comes after at least 2 epochs, the next ones after 4, 8, ..., so that momentum can
//         build up.
#pragma once
#include "core/coupling/pair.hpp"
#include "core/coupling/readings_pair.hpp"
#include "core/drive.hpp"
#include "core/rules/rule.hpp"
#include <memory>

namespace southwell {

template <class Pair, class Step> class Accelerated final : public Algorithm {
public:
  // `first` is theta_0, or 0 for 1/d. With `scaled`, candidates are compared by |grad|/sqrt(C), else by
  // |grad|.
  Accelerated(Pair pair, Step step, std::unique_ptr<Rule> rule, bool restarts, Real first, bool scaled)
      : pair_(std::move(pair)), step_(std::move(step)), rule_(std::move(rule)), restarts_(restarts),
        scaled_(scaled), d_(Real(step_.coordinates())), first_(first > 0 ? first : 1 / d_), theta_(first_),
        u_(step_.coordinates()), z_(u_.size()), group_(rule_->candidates()) {
    for (Index k = 0; k < step_.coordinates(); ++k) {
      mu_ = std::min(mu_, step_.convexity(k));
      z_[k] = step_.at(k);
    }
  }

  void epoch(Pulse& pulse) override {
    for (Index left = step_.coordinates(); left > 0; --left)
      if (pulse.beat(advance())) return;
  }

  void locate(Point& point) override {
    const CVec x = here();
    for (Index k = 0; k < step_.coordinates(); ++k) step_.place(k, x[k]);
    step_.locate(point, pair_);
  }
  // The first call takes everything from the point. Later calls correct the product of u so that x has the
  // freshly computed product; with an intercept they do nothing, because the point has another intercept than
  // x.
  void resync(const Point& point) override {
    if (!begun_) {
      step_.resync(point, pair_);
      for (Index k = 0; k < step_.coordinates(); ++k) z_[k] = step_.at(k);
      if constexpr (!Pair::keeps_potential) pair_.set_origin(step_);
      begun_ = true;
    } else if (!step_.has_intercept()) {
      pair_.correct(Pair::keeps_potential ? Step::product(point) : Step::readings(point), weight_);
    }
  }

  std::vector<Index> draw(Index count) override { // the steepest of the candidates
    std::vector<Index> drawn(count);
    for (Index& k : drawn) {
      rule_->next(group_);
      k = group_.size() == 1 ? group_[0] : group_[best().first];
    }
    return drawn;
  }
  std::vector<Index> lead(Index moves) override { // j1 and j2 of each move
    std::vector<Index> led;
    for (; moves > 0; --moves) {
      advance();
      led.insert(led.end(), {steepest_, uniform_});
    }
    return led;
  }

private:
  // Costs O(n + d). It is called after as many moves as there are coordinates, and after at least as much
  // work as it costs.
  SOUTHWELL_NOINLINE Index consider_restart() {
    steps_ = work_ = 0;
    const CVec x = here();
    const Real at_x = pair_.value(step_, x, weight_) + step_.own_value(x);
    const Real at_z = pair_.value(step_, z_, 0) + step_.own_value(z_);
    const bool rose = at_x > std::exchange(last_, at_x);
    if (++epochs_ >= patience_ && at_z < at_x) {
      patience_ *= 2;
      last_ = at_z;
      restart(0);
    } else if (rose || weight_ * (1 / (first_ * first_) + d_ * d_ / mu_) < 0.135) {
      restart(weight_);
    }
    return 2 * (pair_.positions() + step_.coordinates());
  }
  void restart(Real weight) { // at weight u + z
    pair_.fold(weight);
    for (std::size_t k = 0; k < z_.size(); ++k) z_[k] += weight * std::exchange(u_[k], 0.0);
    theta_ = first_;
    weight_ = 0;
    epochs_ = 0;
  }

  Index advance() {
    rule_->next(group_);
    const Real square = theta_ * theta_;
    Index cost = 0;
    if (group_.size() == 1) {
      const Index k = steepest_ = uniform_ = group_[0];
      const Real dz = step_.prox(k, pair_.read(k, square), z_[k], d_ * theta_) - z_[k];
      cost = pair_.cost(k);
      if (dz != 0) cost += shift(k, d_ * theta_ * dz, dz, square);
    } else {
      const auto [winner, read] = best();
      const Index other = rule_->uniform_candidate();
      steepest_ = group_[winner];
      uniform_ = group_[other];
      cost = read;
      const auto [g1, c1] = gradients_[winner];
      const auto [g2, c2] = gradients_[other];
      cost += shift(steepest_, c1 > 0 ? -g1 / c1 : 0, 0, square);
      cost += shift(uniform_, 0, c2 > 0 ? -g2 / (d_ * theta_ * c2) : 0, square);
    }
    weight_ = square;
    theta_ *= (std::sqrt(square + 4) - theta_) / 2;
    work_ += cost;
    const bool epoch_over =
        ++steps_ >= step_.coordinates() && work_ >= pair_.positions() + step_.coordinates();
    return restarts_ && epoch_over ? cost + consider_restart() : cost;
  }
  // Evaluates the gradients of all candidates at v. Returns the place of the steepest, and the entries read.
  SOUTHWELL_NOINLINE std::pair<Index, Index> best() {
    const Real square = theta_ * theta_;
    const Index size = Index(group_.size());
    gradients_.resize(size);
    Index winner = 0, cost = 0;
    Real most = -1;
    for (Index t = 0; t < size; ++t) {
      if (t + 8 < size) pair_.prefetch_start(group_[t + 8]);
      if (t + 3 < size) pair_.prefetch(group_[t + 3]);
      const Index k = group_[t];
      gradients_[t] = step_.smooth(k, pair_.read(k, square), square * u_[k] + z_[k]);
      cost += Pair::keeps_potential ? pair_.cost(k) : 1;
      const auto [g, c] = gradients_[t];
      const Real by = scaled_ ? std::sqrt(step_.share(k) / c) : step_.share(k);
      if (const Real steepness = c > 0 ? std::abs(g) * by : 0; steepness > most) {
        most = steepness;
        winner = t;
      }
    }
    return {winner, cost};
  }
  Index shift(Index k, Real dx, Real dz, Real square) {
    const Real du = (dx - dz) / square;
    u_[k] += du;
    z_[k] += dz;
    pair_.move(k, step_.share(k) * du, step_.share(k) * dz);
    return pair_.cost(k);
  }

  CVec here() { // x = weight u + z
    x_ = z_;
    for (std::size_t k = 0; k < x_.size(); ++k) x_[k] += weight_ * u_[k];
    return x_;
  }

  Pair pair_;
  Step step_;
  std::unique_ptr<Rule> rule_;
  bool restarts_, scaled_, begun_ = false;
  Real d_, first_, theta_, weight_ = 0; // weight = theta_{t-1}^2; at first u = 0
  Real mu_ = infinity, last_ = infinity;
  Index steps_ = 0, work_ = 0;      // since restarts were last considered
  Index epochs_ = 0, patience_ = 2; // epochs since the last restart, and before one at z is allowed
  std::vector<Real> u_, z_, x_;     // x as of the last call of `here`
  std::vector<Index> group_;
  std::vector<std::pair<Real, Real>> gradients_;
  Index steepest_ = 0, uniform_ = 0; // j1 and j2
};

} // namespace southwell
