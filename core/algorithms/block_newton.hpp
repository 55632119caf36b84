// Proximal Newton on working sets of blocks: group lasso, rows of many tasks, classes that compete.
//
// An epoch is a round:
//
//   choose   groups whose slopes break their optimality condition join the working set W, the worst first
//   repeat   quadratic model of the loss around X on W; block coordinate sweeps find which blocks are zero,
//            conjugate gradients where the penalty is smooth find the rest (manifold.hpp); a line search on P
//   until    the gap of the problem restricted to W is a fraction of the last full gap
//
// The squared loss is its own model: on few blocks all of it happens in their Gram matrix. Where the penalty
// is smooth, as for ridge, W is everything and nothing is gathered. Sample i bends the model by diag(h_i) or,
// where margins compete, by diag(h_i) - h_i h_i'/sum h_i (wide_loss.hpp).
#pragma once
#include "core/drive.hpp"
#include "core/newton/block_gram.hpp"
#include "core/newton/block_products.hpp"
#include "core/newton/joining.hpp"

namespace southwell {

class BlockNewton final : public Algorithm {
public:
  BlockNewton(const WideProblem& problem, CVec x)
      : problem_(problem), k_(problem.width()), whole_(problem.penalty.smooth()),
        strong_(problem.penalty.strong()), flats_(problem.loss.piecewise() && !problem.loss.quadratic()),
        floor_(flats_ ? 1 : 0), columns_(problem.design), products_(problem, columns_, whole_),
        gram_(columns_, problem.loss.weights(), problem.has_intercept()), here_(problem),
        group_slot_(std::size_t(problem.penalty.count()), -1), h_(here_.y.size()), r_(h_.size()),
        step_(h_.size()), trial_(h_.size()) {
    here_.x.assign(x.begin(), x.end());
    std::vector<Index> names;
    for (Index g = 0; g < problem.penalty.count(); ++g) {
      const BlockPenalty& penalty = problem.penalty[g];
      if (whole_ || nonzero(g) || (penalty.strength == 0 && penalty.l1 == 0)) names.push_back(g);
    }
    enter(names);
    std::vector<Real> norms(std::size_t(problem.design.cols()));
    problem.design.column_squared_norms(problem.loss.weights(), norms);
    for (Index g = 0; g < problem.penalty.count(); ++g) {
      Real total = 0;
      for (const Index j : problem.penalty.of(g)) total += norms[j];
      group_norms_.push_back(total);
      total_norm_ += total;
    }
  }
  BlockNewton(const BlockNewton&) = delete; // its parts look at each other

  bool eager() const override { return true; }
  bool begun() const override { return ease_ == 1; }
  void epoch(Pulse& pulse) override {
    moved_ = true;
    pulse_ = &pulse;
    left_ = false;
    Real target = std::max((complete_ ? 0.1 : 0.3) * gap_, 0.2 * goal_);
    if (complete_ && gap_ <= 1000 * goal_) target = 0.2 * goal_;
    if (!begun()) target = infinity; // it is that of another problem
    const Index pass = problem_.design.stored() + Index(h_.size() + here_.x.size());
    const Index enough = pulse.entries() + (complete_ ? 100 : 10) * pass;
    for (int step = 0; step < 50 && pulse.entries() < enough; ++step) {
      linearise();
      if (left_) return;
      const Real left = restricted_gap(blocks_, x_, z_, value_);
      if (step == 0) target = std::min(target, 0.1 * left); // a round without a step would end nowhere
      if (left <= target) return;
      start_ = x_;
      // As the gap should fall; with l2 it falls with the square of what is left.
      precision_ = clip(0.5 * (strong_ ? std::sqrt(target / left) : target / left), 1e-3, 0.1);
      solve_model(target);
      if (left_ && !problem_.loss.quadratic()) x_ = start_; // half solved it may lead nowhere
      if (!search_line() || left_) return;
    }
  }
  void locate(Point& point) override {
    if (moved_) {
      put_back();
      std::vector<Real> bare = x_;
      if (problem_.has_intercept()) std::fill(bare.end() - k_, bare.end(), 0.0);
      products_.forward(bare, here_.margins);
      problem_.finish(here_);
      moved_ = false;
    }
    point = here_;
  }
  void judge(const Certifier& certifier, const Unit& unit) override {
    gap_ = certifier.best().gap();
    goal_ = std::max(unit.goal, std::numeric_limits<Real>::min());
    unit_ = unit.scale;
  }
  void resync(const Point&) override { // it is `here_`
    if (problem_.has_intercept()) std::copy(here_.x.end() - k_, here_.x.end(), x_.end() - k_);
    certain_ = true;
    if (!whole_) ease();
    value_ = problem_.loss.value(here_.margins) + penalty_value(x_);
    if (!whole_) choose();
  }

private:
  using Slots = std::vector<std::int32_t>;
  static constexpr int most_sweeps = 10;

  bool spend(Index entries) { return left_ = pulse_->spend(entries) || left_; }
  bool nonzero(Index g) const {
    for (const Index j : problem_.penalty.of(g))
      for (Index c = 0; c < k_; ++c)
        if (here_.x[j * k_ + c] != 0) return true;
    return false;
  }

  // The working set.

  void enter(std::span<const Index> groups) {
    std::vector<Index> features;
    Index slot = Index(features_.size());
    for (const Index g : groups) {
      group_slot_[g] = std::int32_t(blocks_.size());
      names_.push_back(g);
      blocks_.push_back({slot * k_, problem_.penalty.size(g), eased(g)});
      for (const Index j : problem_.penalty.of(g)) features.push_back(j);
      slot = Index(features_.size() + features.size());
    }
    features_.insert(features_.end(), features.begin(), features.end());
    if (!whole_ && !features.empty()) columns_.join(features);
    take();
  }
  // x_ holds the rows of W, and the intercept last. With everything in W they are all of X, as it lies.
  void take() {
    x_.assign(std::size_t(products_.size()), 0.0);
    if (whole_) {
      x_ = here_.x;
    } else {
      for (std::size_t s = 0; s < features_.size(); ++s)
        std::copy_n(here_.x.begin() + features_[s] * k_, k_, x_.begin() + Index(s) * k_);
      if (problem_.has_intercept()) std::copy(here_.x.end() - k_, here_.x.end(), x_.end() - k_);
    }
    z_.resize(x_.size());
    u_.resize(x_.size());
    diagonal_.resize(x_.size());
  }
  void put_back() {
    if (whole_) return void(here_.x = x_);
    for (std::size_t s = 0; s < features_.size(); ++s)
      std::copy_n(x_.begin() + Index(s) * k_, k_, here_.x.begin() + features_[s] * k_);
    if (problem_.has_intercept()) std::copy(x_.end() - k_, x_.end(), here_.x.end() - k_);
  }
  BlockPenalty eased(Index g) const {
    BlockPenalty penalty = problem_.penalty[g];
    penalty.strength *= ease_;
    penalty.l1 *= ease_;
    return penalty;
  }
  // From zero a small penalty is reached by way of larger ones, a quarter of the last each round: with all
  // slopes far above it too many blocks would join W, and the wrong ones.
  void ease() {
    const Real before = ease_;
    ease_ = std::max(first_ ? largest_violation() / 4 : ease_ / 4, 1.0);
    first_ = false;
    if (ease_ != before)
      for (std::size_t b = 0; b < blocks_.size(); ++b) blocks_[b].g = eased(names_[b]);
  }
  Real largest_violation() const { // by which the penalty would have to be larger; at zero, else none
    std::vector<Real> buffer;
    Real least = 1;
    for (Index g = 0; g < problem_.penalty.count(); ++g) {
      if (nonzero(g)) return 1;
      least = std::min(least,
                       problem_.penalty[g].feasible_scale(problem_.penalty.block(here_.slopes, g, buffer)));
    }
    return least > 0 ? 1 / least : 1;
  }
  void choose() {
    std::vector<Real> present(group_slot_.size()), buffer;
    for (Index g = 0; g < Index(present.size()); ++g)
      if (group_slot_[g] >= 0) present[g] = nonzero(g);
    const auto off = [&](Index g) {
      const BlockPenalty penalty = eased(g);
      const Real pull = penalty.pull(problem_.penalty.block(here_.slopes, g, buffer)),
                 over = pull - penalty.strength;
      return over > 1e-13 * (penalty.strength + penalty.l1) ? over : 0;
    };
    const Joining joining = choose_joining(group_slot_, present, group_norms_, total_norm_, off);
    complete_ = begun() && joining.complete;
    if (!joining.names.empty()) enter(joining.names);
  }

  // First and second derivatives at the present margins.
  void linearise() {
    problem_.loss.derivative(here_.margins, here_.y);
    problem_.loss.curvature(here_.y, h_);
    r_.assign(here_.y.begin(), here_.y.end());
    problem_.weigh(r_);
    if (!problem_.loss.quadratic()) bend_more();
    if (std::exchange(certain_, false) && whole_) { // the certificate has just told
      z_ = here_.slopes;
    } else {
      products_.backward(r_, {}, z_);
      spend(products_.entries() * std::min<Index>(k_, 4) + Index(h_.size()));
    }
  }
  // A model that is steep and straight has no minimum: where the loss is flat, or nearly straight, it is
  // given some curvature, as long as steps have to be cut.
  void bend_more() {
    const CVec s = problem_.loss.weights();
    const auto k = std::size_t(k_);
    Real most = problem_.loss.smoothness();
    if (!std::isfinite(most)) {
      most = 0;
      for (std::size_t i = 0; i < h_.size(); ++i)
        most = s[i / k] > 0 ? std::max(most, h_[i] / s[i / k]) : most;
    }
    for (std::size_t i = 0; i < h_.size(); ++i) {
      h_[i] = (1 - floor_) * h_[i] + floor_ * most * s[i / k];
      if (!flats_) h_[i] = std::max(h_[i], 1e-4 * std::abs(r_[i]));
    }
  }
  void trust(Real part) { // of a step that was gone
    if (part < (flats_ ? 1 : 0.1))
      floor_ = clip(10 * floor_, 1e-3, 1.0);
    else if (flats_)
      floor_ = std::max(0.1 * floor_, 1e-8);
    else
      floor_ = floor_ > 1e-5 ? 0.1 * floor_ : 0;
  }
  // The minimiser of the model, about, in the place of x_.
  void solve_model(Real target) {
    u_ = x_;
    Slots hot; // blocks that may move
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const BlockAt& block = blocks_[b];
      const CVec own = block.of(CVec(u_));
      const bool zero = std::all_of(own.begin(), own.end(), [](Real v) { return v == 0; });
      if (!zero || block.g.pull(block.of(CVec(z_)), 1 / 0.9) > block.g.strength)
        hot.push_back(std::int32_t(b));
    }
    if (whole_)
      newton();
    else if (problem_.loss.quadratic() && gram_pays(hot))
      solve_by_gram(hot, target);
    else
      solve_by_residual(hot);
    x_ = u_;
  }
  bool gram_pays(const Slots& hot) const {
    Index features = 0, entries = 0;
    for (const Index b : hot)
      for (Index s = blocks_[b].first / k_; s < (blocks_[b].first + blocks_[b].size) / k_; ++s) {
        ++features;
        entries += columns_.size(s);
      }
    return features <= 4000 && features * features <= 4 * entries;
  }

  // In the space of the hot blocks alone.
  void solve_by_gram(const Slots& hot, Real target) {
    Slots slots;
    std::vector<BlockAt> blocks;
    for (const Index b : hot) {
      blocks.push_back({Index(slots.size()) * k_, blocks_[b].size, blocks_[b].g});
      for (Index s = 0; s < blocks_[b].size / k_; ++s)
        slots.push_back(std::int32_t(blocks_[b].first / k_ + s));
    }
    if (gram_.form(slots, [&](Index entries) { return spend(entries); })) return;
    std::vector<Real> u(slots.size() * std::size_t(k_)), z(u.size());
    for (std::size_t s = 0; s < slots.size(); ++s)
      for (Index c = 0; c < k_; ++c) {
        u[s * std::size_t(k_) + std::size_t(c)] = u_[slots[s] * k_ + c];
        z[s * std::size_t(k_) + std::size_t(c)] = z_[slots[s] * k_ + c];
      }
    gram_.solve(blocks, k_, target, value_, u, z, [&](Index entries) { return spend(entries); });
    for (std::size_t s = 0; s < slots.size(); ++s)
      std::copy_n(u.begin() + Index(s) * k_, k_, u_.begin() + slots[s] * k_);
  }
  // Sweeps that keep the residual r = s o (y + H A d), then a Newton step.
  void solve_by_residual(const Slots& hot) {
    if (products_.slots() == 0) return newton(); // there is only an intercept
    steepen(hot);
    std::vector<Real> buffer, slope;
    Real first = 0;
    columns_.visit([&](const auto& store) {
      for (int sweep = 0; sweep < most_sweeps && !left_; ++sweep) {
        Real moved = 0;
        for (const Index b : hot) {
          const BlockAt& block = blocks_[b];
          slope.assign(std::size_t(block.size), 0.0);
          for (Index s = 0; s < block.size / k_; ++s)
            dot_wide(store[block.first / k_ + s], r_.data(), k_, slope.data() + s * k_);
          Index cost = columns_.size(block.first / k_) * block.size / k_;
          if (const Real worth = propose(block, k_, u_, slope, steep_[b], block.of(CVec(diagonal_)), buffer);
              worth > 0) {
            moved += worth;
            for (Index s = 0; s < block.size / k_; ++s)
              follow(store[block.first / k_ + s], buffer.data() + s * k_);
            cost *= 2;
          }
          if (spend(cost)) return;
        }
        if (sweep == 0) first = moved;
        if (moved <= 0.01 * first) break;
      }
    });
    if (left_) return;
    newton();
  }
  // A column moves by k numbers: r_i += s_i H_i (a_i by).
  template <class F> void follow(const F& column, const Real* by) {
    if (k_ == 1) return column.visit([&](Index i, Real a) { r_[i] += h_[i] * a * *by; });
    const bool coupled = problem_.loss.coupled();
    column.visit([&](Index i, Real a) {
      const Real* h = h_.data() + i * k_;
      Real* r = r_.data() + i * k_;
      const Real mean = coupled ? problem_.loss.centre(h, by) : 0;
      for (Index c = 0; c < k_; ++c) r[c] += a * h[c] * (by[c] - mean);
    });
  }
  // A bound on the curvature of each block: of one feature, the largest of sum_i h_ic a_i^2; of several, that
  // of each added up, times how much of their trace is in the largest eigenvalue.
  void steepen(const Slots& hot) {
    products_.squares(h_, diagonal_);
    spend(products_.entries());
    steep_.resize(blocks_.size());
    shares_.resize(blocks_.size(), 0.0);
    for (const Index b : hot) {
      const BlockAt& block = blocks_[b];
      Real total = 0;
      for (Index s = 0; s < block.size / k_; ++s) {
        const auto own = diagonal_.begin() + block.first + s * k_;
        total += *std::max_element(own, own + k_);
      }
      if (shares_[b] == 0) shares_[b] = share_of_trace(block);
      steep_[b] = total * (careful_ ? 1 : shares_[b]);
    }
  }
  // By powers of A_g' diag(s) A_g; with something to spare, as h is not s.
  Real share_of_trace(const BlockAt& block) {
    const Index first = block.first / k_, count = block.size / k_;
    if (count == 1) return 1;
    const CVec s = problem_.loss.weights();
    std::vector<Real> along(s.size());
    Real value = 0, trace = 0;
    columns_.visit([&](const auto& store) {
      for (Index t = 0; t < count; ++t)
        trace += store[first + t].sum([&](Index i, Real a) { return s[i] * a * a; });
      value = largest_eigenvalue(count, 15, 1e-2, [&](std::vector<Real>& v) {
        std::fill(along.begin(), along.end(), 0.0);
        for (Index t = 0; t < count; ++t) store[first + t].add_to(along, v[t]);
        for (std::size_t i = 0; i < along.size(); ++i) along[i] *= s[i];
        for (Index t = 0; t < count; ++t) v[t] = store[first + t].dot(along);
      });
    });
    spend(30 * columns_.size(first) * count);
    return trace > 0 && value > 0 ? std::min(1.5 * value / trace, 1.0) : 1;
  }

  // Conjugate gradients where the penalty is smooth, from u_.
  void newton() {
    const Manifold manifold(blocks_, u_, problem_.has_intercept() ? k_ : 0);
    std::vector<char> marks(std::size_t(products_.slots()), char(whole_));
    if (!whole_)
      for (std::size_t b = 0; b < blocks_.size(); ++b)
        if (manifold.active(b))
          std::fill_n(marks.begin() + blocks_[b].first / k_, blocks_[b].size / k_, char(1));
    // Columns are read four at a time where all are: marks pay only where they spare more than that.
    if (2 * std::count(marks.begin(), marks.end(), char(1)) > Index(marks.size())) marks.clear();
    std::vector<Real> along(h_.size()), z = z_, d(u_.size()), image(u_.size());
    if (!whole_) products_.backward(r_, marks, z); // sweeps have moved it
    products_.diagonal(h_, diagonal_);
    const auto product = [&](CVec v, Vec out) {
      products_.forward(v, along);
      problem_.loss.bend(h_, along, along);
      products_.backward(along, marks, out);
    };
    const Index price = products_.entries() * 2 * std::min<Index>(k_, 4);
    manifold.solve(z, diagonal_, product, [&] { return spend(price); }, precision_, 200, d, image);
    if (!shorten(manifold, z, product, d, image)) return;
    for (std::size_t e = 0; e < u_.size(); ++e) u_[e] += d[e];
  }

  Real penalty_value(CVec x) const {
    Real total = 0;
    for (const BlockAt& block : blocks_) total += block.g.value(block.of(x));
    return total;
  }
  // Along the model's step, until P falls as it should. False: it is at rest.
  bool search_line() {
    std::vector<Real> change(x_.size());
    bool moved = false;
    Real promised = penalty_value(x_) - penalty_value(start_);
    for (std::size_t e = 0; e < x_.size(); ++e) {
      change[e] = x_[e] - start_[e];
      moved = moved || change[e] != 0;
    }
    if (!moved) return false;
    products_.forward(change, step_);
    if (problem_.loss.quadratic() && problem_.has_intercept()) follow_intercept(change);
    const CVec s = problem_.loss.weights();
    for (std::size_t i = 0; i < step_.size(); ++i) promised += s[i / std::size_t(k_)] * here_.y[i] * step_[i];
    const std::vector<Real> end = x_;
    const Real rounding = 1e-13 * std::abs(value_); // near the optimum P cannot tell steps apart
    for (Real part = 1; part > 1e-10; part /= 2) {
      for (std::size_t i = 0; i < trial_.size(); ++i) trial_[i] = here_.margins[i] + part * step_[i];
      if (part < 1)
        for (std::size_t e = 0; e < x_.size(); ++e) x_[e] = start_[e] + part * change[e];
      const Real value = problem_.loss.value(trial_) + penalty_value(x_);
      if (value <= value_ + 0.01 * part * std::min(promised, 0.0) + rounding) {
        const bool fell = value < value_ || promised < 0;
        value_ = value;
        here_.margins.swap(trial_);
        careful_ = careful_ || part < 0.1;
        trust(part);
        return fell;
      }
    }
    x_ = start_;
    const bool again = !careful_ || (floor_ < 1 && !problem_.loss.quadratic());
    careful_ = true;
    trust(0);
    return again;
  }
  // The Gram matrix was that of centred columns: the intercept takes back what their means have added.
  void follow_intercept(Vec change) {
    const auto k = std::size_t(k_);
    std::vector<Real> means = problem_.column_sums(step_, true);
    for (std::size_t i = 0; i < step_.size(); ++i) step_[i] -= means[i % k];
    for (std::size_t c = 0; c < k; ++c) {
      change[change.size() - k + c] -= means[c];
      x_[x_.size() - k + c] -= means[c];
    }
  }

  const WideProblem& problem_;
  Index k_;
  bool whole_, strong_; // is W everything; has every block an l2
  bool flats_;          // has the loss pieces without curvature?
  Real floor_;          // the part of the most there can be that every sample is given
  WorkingColumns columns_;
  BlockProducts products_;
  BlockGram gram_;
  Point here_;
  std::vector<std::int32_t> group_slot_; // where in `blocks_` a group is, or -1
  std::vector<Index> features_;          // of the slots
  std::vector<Index> names_;             // groups in `blocks_`
  std::vector<BlockAt> blocks_;
  std::vector<Real> group_norms_;
  Real total_norm_ = 0;
  std::vector<Real> x_, u_, z_, start_, diagonal_, steep_, shares_; // over W
  std::vector<Real> h_, r_, step_, trial_;                          // over the samples
  Pulse* pulse_ = nullptr;
  Real gap_ = infinity, goal_ = 0, unit_ = 1, value_ = infinity;
  Real precision_ = 0.1; // of Newton steps
  Real ease_ = 1;        // times the penalty, for now
  bool first_ = true;
  bool moved_ = true, complete_ = false, left_ = false, careful_ = false,
       certain_ = false; // are y and its slopes those of the last certificate?
};

} // namespace southwell
