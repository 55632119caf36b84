// Newton's method on a working set of blocks, as the driver sees it: the coefficients, the quadratic model
// around them and its minimiser. Block coordinate sweeps find which blocks are zero, conjugate gradients
// where the penalty is smooth find the rest (manifold.hpp).
//
// Sample i bends the model by diag(h_i) or, where margins compete, by diag(h_i) - h_i h_i'/sum h_i
// (loss_sum.hpp). The squared loss is its own model: on few blocks all happens in their Gram matrix.
#pragma once
#include "core/newton/block_gram.hpp"
#include "core/newton/block_products.hpp"
#include "core/newton/block_residual.hpp"
#include "core/newton/ledger.hpp"
#include "core/newton/margin_curvature.hpp"
#include "core/newton/outlook.hpp"
#include "core/newton/samples_in_memory.hpp"
#include "core/newton/working_set.hpp"

namespace southwell {

class Blocks {
public:
  using Set = WorkingSet<BlockProblem>;
  using Products = BlockProducts;
  using Source = SamplesInMemory;

  Blocks(const BlockProblem& problem, const Policy& policy, const Set& set, const Products& products,
         const Samples& samples)
      : problem_(problem), policy_(policy), set_(set), products_(products), at_(*samples.local()),
        residual_(problem.loss, at_), kinked_(samples.kinked()), k_(problem.width()),
        strong_(problem.penalty.least_l2() > 0),
        gram_(set.columns(), policy, problem.loss.weights(), problem.has_intercept()) {}
  Blocks(const Blocks&) = delete; // its parts refer to each other

  Ledger& ledger() { return ledger_; }
  const Ledger& ledger() const { return ledger_; }

  // Coefficients of the set, and their penalties, which may have changed; units may have joined.
  void put(CVec x) {
    u_.assign(x.begin(), x.end());
    for (Index b = Index(blocks_.size()); b < set_.count(); ++b)
      blocks_.push_back({set_.first(b), set_.size(b), set_.penalty(b)});
  }
  void penalise() {
    for (std::size_t b = 0; b < blocks_.size(); ++b) blocks_[b].g = set_.penalty(Index(b));
  }
  const std::vector<Real>& x() const { return u_; }
  Real penalty(CVec x) const {
    Real total = 0;
    for (const BlockAt& block : blocks_) total += block.g.value(block.of(x));
    return total;
  }

  void begin_round() { left_ = 0; }
  // Around the present x. `certified`: slopes of all features there, if a certificate has brought them.
  void begin(bool, CVec certified) {
    residual_.begin(at_.r);
    z_.resize(u_.size());
    if (!certified.empty() && set_.whole()) return void(z_.assign(certified.begin(), certified.end()));
    products_.backward(at_.r, {}, z_);
    ledger_(price_of_product() + Index(at_.r.size()));
  }
  // About the gap of the problem restricted to the set, and what a better intercept is worth.
  Real restricted_gap(Real value) {
    std::vector<Real> bend(static_cast<std::size_t>(k_));
    if (problem_.has_intercept()) add_rows(at_.h, bend);
    const bool free =
        std::any_of(blocks_.begin(), blocks_.end(), [](const BlockAt& b) { return b.g.free(); });
    diagonal_.resize(u_.size());
    if (free) products_.diagonal(at_.h, diagonal_);
    Real total = southwell::restricted_gap(blocks_, u_, z_, diagonal_, value);
    for (std::size_t c = 0; c < bend.size(); ++c)
      if (bend[c] > 0) {
        const Real slope = z_[z_.size() - bend.size() + c];
        total += slope * slope / bend[c];
      }
    return total;
  }
  // To the minimiser of the model, about.
  void solve(const Outlook& outlook) {
    const std::vector<Real> start = u_;
    diagonal_.resize(u_.size());
    // As the gap should fall; with l2 it falls with the square of what is left.
    const Real part = outlook.target / outlook.left, before = std::exchange(left_, outlook.left);
    // Where no zeros are to be found, a model that changes from step to step deserves no more than what the
    // last one was worth (choice 2 of Eisenstat and Walker 1996).
    const Real worth = problem_.loss.quadratic() || !set_.whole() ? 0
                       : before > 0                               ? outlook.left / before
                                                                  : 1;
    precision_ = kinked_ ? policy_.block_precision
                         : clip(std::max(policy_.block_part * (strong_ ? std::sqrt(part) : part), worth),
                                policy_.block_precise, policy_.block_rough);
    Slots hot; // blocks that may move
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      const BlockAt& block = blocks_[b];
      if (!is_zero(block.of(CVec(u_))) || !block.g.kinked() ||
          block.g.distance(block.of(CVec(z_)), -1 / policy_.near_its_kink) > 0)
        hot.push_back(std::int32_t(b));
    }
    if (set_.whole())
      newton();
    else if (problem_.loss.quadratic() && gram_pays(hot))
      solve_by_gram(hot, outlook.target, outlook.value);
    else
      solve_by_residual(hot);
    if (problem_.loss.quadratic() && problem_.has_intercept()) follow(start);
  }
  void stepped(Real part) {
    careful_ = careful_ || part < policy_.block_cut;
  } // this part of the step was taken

private:
  using Slots = std::vector<std::int32_t>;

  bool spend(Index entries) { return ledger_(entries); }
  Index price_of_product() const {
    return Index(Real(products_.entries()) * std::min(Real(k_), policy_.wide_product));
  }

  // The squared loss: the best intercept takes back what other moves have added to the mean margins.
  void follow(CVec start) {
    const auto k = std::size_t(k_), intercept = u_.size() - k;
    products_.means(means_);
    for (std::size_t c = 0; c < k; ++c) u_[intercept + c] = start[intercept + c];
    for (std::size_t j = 0; j < intercept / k; ++j)
      for (std::size_t c = 0; c < k; ++c) u_[intercept + c] -= means_[j] * (u_[j * k + c] - start[j * k + c]);
  }

  // In the space of the hot blocks alone.
  bool gram_pays(const Slots& hot) const {
    Index features = 0, entries = 0;
    for (const Index b : hot) {
      const BlockAt& block = blocks_[b];
      for (Index s = block.first / k_; s < (block.first + block.size) / k_; ++s) {
        ++features;
        entries += set_.columns().size(s);
      }
    }
    return Real(features) <= policy_.largest_gram &&
           Real(features * features) <= policy_.gram_entries * Real(entries);
  }
  void solve_by_gram(const Slots& hot, Real target, Real value) {
    Slots slots;
    std::vector<BlockAt> blocks;
    for (const Index b : hot) {
      const BlockAt& block = blocks_[b];
      blocks.push_back({Index(slots.size()) * k_, block.size, block.g});
      for (Index s = 0; s < block.size / k_; ++s) slots.push_back(std::int32_t(block.first / k_ + s));
    }
    if (gram_.form(slots, [&](Index entries) { return spend(entries); })) return;
    std::vector<Real> u(slots.size() * std::size_t(k_)), z(u.size());
    for (std::size_t s = 0; s < slots.size(); ++s) {
      std::copy_n(u_.begin() + slots[s] * k_, k_, u.begin() + Index(s) * k_);
      std::copy_n(z_.begin() + slots[s] * k_, k_, z.begin() + Index(s) * k_);
    }
    gram_.solve(blocks, k_, target, value, u, z, [&](Index entries) { return spend(entries); });
    for (std::size_t s = 0; s < slots.size(); ++s)
      std::copy_n(u.begin() + Index(s) * k_, k_, u_.begin() + slots[s] * k_);
  }

  // Sweeps that keep the residual, then a Newton step.
  void solve_by_residual(const Slots& hot) {
    if (products_.slots() == 0) return newton(); // there is only an intercept
    steepen(hot);
    residual_.begin_sweeps(set_.columns().framed());
    std::vector<Real> buffer, slope;
    Real first = 0;
    const WorkingColumns& columns = set_.columns();
    columns.visit([&](const auto& store) {
      for (int sweep = 0; sweep < int(policy_.block_sweeps) && !ledger_.stopped(); ++sweep) {
        Real moved = 0;
        for (const Index b : hot) {
          const BlockAt& block = blocks_[b];
          slope.assign(std::size_t(block.size), 0.0);
          for (Index s = 0; s < block.size / k_; ++s)
            residual_.slope(store[block.first / k_ + s], columns.gamma(block.first / k_ + s),
                            slope.data() + s * k_);
          Index cost = columns.size(block.first / k_) * block.size / k_;
          if (const Real worth = propose(block, k_, u_, slope, steep_[b], block.of(CVec(diagonal_)), buffer);
              worth > 0) {
            moved += worth;
            for (Index s = 0; s < block.size / k_; ++s)
              residual_.move(store[block.first / k_ + s], columns.gamma(block.first / k_ + s),
                             buffer.data() + s * k_);
            cost *= 2;
          }
          // Where margins compete, the same number added to all k of a feature changes no slope, and only
          // steps as short as the penalty is weak would find the best one.
          if (problem_.loss.coupled() && block.size <= problem_.design.rows())
            block.g.balance(block.of(Vec(u_)), k_, buffer);
          if (spend(cost)) return;
        }
        if (sweep == 0) first = moved;
        if (moved <= policy_.block_sweep_part * first) break;
      }
    });
    if (!ledger_.stopped()) newton();
  }
  // A bound on the curvature of each block: of one feature, the largest of sum_i h_ic a_i^2; of several, that
  // of each added up, times how much of their trace is in the largest eigenvalue.
  void steepen(const Slots& hot) {
    products_.squares(at_.h, diagonal_);
    spend(products_.entries());
    steep_.resize(blocks_.size());
    shares_.resize(steep_.size(), 0.0);
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
  // By powers of A_g' diag(s) A_g; with something to spare, as h is not s. It reads the entries of the
  // columns alone: their frame enters through their means, because weights sum to 1.
  Real share_of_trace(const BlockAt& block) {
    const Index first = block.first / k_, count = block.size / k_;
    if (count == 1) return 1;
    const CVec s = problem_.loss.weights();
    const WorkingColumns& columns = set_.columns();
    std::vector<Real> means(static_cast<std::size_t>(count));
    along_.resize(at_.h.size());
    const Vec along = Vec(along_).first(s.size());
    std::fill(along.begin(), along.end(), 0.0);
    Real value = 0, trace = 0;
    columns.visit([&](const auto& store) {
      for (Index t = 0; t < count; ++t) {
        const Real gamma = columns.gamma(first + t); // sum_i s_i (a_i + gamma)^2
        means[t] = gamma == 0 ? 0 : store[first + t].dot(s);
        trace += store[first + t].sum([&](Index i, Real a) { return s[i] * a * a; }) +
                 gamma * (2 * means[t] + gamma);
      }
      value = largest_eigenvalue(
          count, int(policy_.block_powers), policy_.block_powers_part, [&](std::vector<Real>& v) {
            Real alike = 0, mean = 0; // what the frame adds to every margin; the mean of the stored parts
            for (Index t = 0; t < count; ++t) {
              alike += v[t] * columns.gamma(first + t);
              mean += v[t] * means[t];
              store[first + t].add_to(along, v[t]);
            }
            for (Index t = 0; t < count; ++t)
              v[t] = store[first + t].sum([&](Index i, Real a) { return s[i] * a * along[i]; }) +
                     means[t] * alike + columns.gamma(first + t) * (mean + alike);
            for (Index t = 0; t < count; ++t) store[first + t].visit([&](Index i, Real) { along[i] = 0; });
          });
    });
    spend(Index(2 * policy_.block_powers) * columns.size(first) * count);
    return trace > 0 && value > 0 ? std::min(policy_.block_share * value / trace, 1.0) : 1;
  }

  // Conjugate gradients where the penalty is smooth, from u_.
  void newton() {
    const Ledger::NewtonStep booked(ledger_);
    products_.diagonal(at_.h, diagonal_);
    const Manifold manifold(blocks_, u_, diagonal_, problem_.has_intercept() ? k_ : 0,
                            problem_.loss.quadratic(), policy_);
    std::vector<char> marks(std::size_t(products_.slots()), char(set_.whole()));
    if (!set_.whole())
      for (std::size_t b = 0; b < blocks_.size(); ++b)
        if (manifold.active(b))
          std::fill_n(marks.begin() + blocks_[b].first / k_, blocks_[b].size / k_, char(1));
    // Columns are read four at a time where all are: marks pay only where they spare more than that.
    if (Real(std::count(marks.begin(), marks.end(), char(1))) > policy_.block_marks * Real(marks.size()))
      marks.clear();
    if (!set_.whole()) products_.backward(residual_.whole(), marks, z_); // sweeps have moved it
    along_.resize(at_.h.size());
    d_.resize(u_.size());
    image_.resize(u_.size());
    const auto product = [&](CVec v, Vec out) {
      products_.forward(v, along_);
      problem_.loss.bend(at_.h, along_, along_);
      products_.backward(along_, marks, out);
    };
    curvature_.begin(problem_.design, problem_.loss, members(), products_.entries(), policy_);
    if (curvature_.form(at_.h, [&](Index entries) { return spend(entries); })) return;
    const Index price = 2 * price_of_product(),
                most = curvature_.trial(Index(policy_.block_signs), Index(policy_.block_steps));
    Index steps = 0;
    const auto step = [&] {
      ++steps;
      return spend(price);
    };
    manifold.solve(z_, diagonal_, product, curvature_, step, precision_, most, buffers_, d_, image_);
    curvature_.stepped(steps);
    if (!shorten(manifold, z_, product, d_, image_)) return;
    for (std::size_t e = 0; e < u_.size(); ++e) u_[e] += d_[e];
  }

  // Features whose penalty has no kinks and the intercept, unless it is alone.
  MarginCurvature::Members members() const {
    MarginCurvature::Members members;
    members.intercept = problem_.has_intercept();
    for (Index b = 0; b < Index(blocks_.size()); ++b) {
      const BlockPenalty& g = blocks_[b].g;
      if (g.kinked()) continue;
      members.loose = members.loose || g.free();
      Index place = blocks_[b].first;
      problem_.penalty.each_feature(set_.name(b), [&](Index j) {
        members.all.push_back({j, set_.whole() ? j * k_ : place});
        place += k_;
      });
    }
    if (members.all.empty()) return {};
    if (members.intercept) members.all.push_back({problem_.features(), Index(u_.size()) - k_});
    return members;
  }

  const BlockProblem& problem_;
  const Policy& policy_;
  const Set& set_;
  const Products& products_;
  const Expansion& at_;
  BlockResidual residual_;
  bool kinked_; // has the loss kinks, which are softened?
  Index k_;
  bool strong_; // has every block an l2?
  Ledger ledger_;
  BlockGram gram_;
  MarginCurvature curvature_;
  std::vector<BlockAt> blocks_;
  std::vector<Real> u_;                                                 // the coefficients of the set
  std::vector<Real> along_;                                             // over the samples
  std::vector<Real> z_, d_, image_, diagonal_, steep_, shares_, means_; // over the set
  Manifold::Buffers buffers_;
  Real precision_ = 0;   // of conjugate gradients
  Real left_ = 0;        // of the gap, at the last step of the round; 0: there was none
  bool careful_ = false; // has a step failed, so that curvatures are bounded safely?
};

} // namespace southwell
