// The working set of groups of blocks: which are in it, under which penalty, and which join.
#pragma once
#include "core/newton/block_steps.hpp"
#include "core/newton/joining.hpp"
#include "core/newton/working_columns.hpp"
#include "core/wide_problem.hpp"

namespace southwell {

class BlockSet {
public:
  BlockSet(const WideProblem& problem, CVec x)
      : problem_(problem), k_(problem.width()), whole_(problem.penalty.smooth()), columns_(problem.design),
        slot_(std::size_t(problem.penalty.count()), -1) {
    std::vector<Index> names;
    for (Index g = 0; g < problem.penalty.count(); ++g) {
      const BlockPenalty& penalty = problem.penalty[g];
      if (whole_ || nonzero(g, x) || (penalty.strength == 0 && penalty.l1 == 0)) names.push_back(g);
    }
    enter(names);
    std::vector<Real> norms(std::size_t(problem.design.cols()));
    problem.design.column_squared_norms(problem.loss.weights(), norms);
    for (Index g = 0; g < problem.penalty.count(); ++g) {
      Real total = 0;
      for (const Index j : problem.penalty.of(g)) total += norms[j];
      norms_.push_back(total);
      total_norm_ += total;
    }
  }
  BlockSet(const BlockSet&) = delete; // others look at it

  bool whole() const { return whole_; } // where the penalty is smooth it is everything
  bool eased() const { return ease_ != 1; }
  const WorkingColumns& columns() const { return columns_; }
  const std::vector<BlockAt>& blocks() const { return blocks_; }
  Index slots() const { return whole_ ? problem_.penalty.penalised() : Index(features_.size()); }
  // Numbers in its blocks and, last, in the intercept.
  Index size() const { return (slots() + problem_.has_intercept()) * k_; }

  // Its rows of X and back. With everything in it they are all of X, as it lies.
  std::vector<Real> taken(CVec all) const {
    std::vector<Real> x(std::size_t(size()), 0.0);
    if (whole_) {
      x.assign(all.begin(), all.end());
    } else {
      for (std::size_t s = 0; s < features_.size(); ++s)
        std::copy_n(all.begin() + features_[s] * k_, k_, x.begin() + Index(s) * k_);
      if (problem_.has_intercept()) std::copy(all.end() - k_, all.end(), x.end() - k_);
    }
    return x;
  }
  void put_back(CVec x, Vec all) const {
    if (whole_) return void(std::copy(x.begin(), x.end(), all.begin()));
    for (std::size_t s = 0; s < features_.size(); ++s)
      std::copy_n(x.begin() + Index(s) * k_, k_, all.begin() + features_[s] * k_);
    if (problem_.has_intercept()) std::copy(x.end() - k_, x.end(), all.end() - k_);
  }
  Real penalty(CVec x) const {
    Real total = 0;
    for (const BlockAt& block : blocks_) total += block.g.value(block.of(x));
    return total;
  }

  // From zero a small penalty is reached by way of larger ones, a quarter of the last each round: with all
  // slopes far above it too many blocks would join, and the wrong ones.
  void ease(const Point& here) {
    const Real before = ease_;
    ease_ = std::max(first_ ? largest_violation(here) / 4 : ease_ / 4, 1.0);
    first_ = false;
    if (ease_ != before)
      for (std::size_t b = 0; b < blocks_.size(); ++b) blocks_[b].g = eased(names_[b]);
  }
  // Those whose slopes break their optimality condition join, the worst first. True: all that do are in it.
  bool choose(const Point& here) {
    std::vector<Real> present(slot_.size()), buffer;
    for (Index g = 0; g < Index(present.size()); ++g)
      if (slot_[g] >= 0) present[g] = nonzero(g, here.x);
    const auto off = [&](Index g) {
      const BlockPenalty penalty = eased(g);
      const Real pull = penalty.pull(problem_.penalty.block(here.slopes, g, buffer)),
                 over = pull - penalty.strength;
      return over > 1e-13 * (penalty.strength + penalty.l1) ? over : 0;
    };
    const Joining joining = choose_joining(slot_, present, norms_, total_norm_, off);
    if (!joining.names.empty()) enter(joining.names);
    return joining.complete && !eased();
  }

private:
  bool nonzero(Index g, CVec x) const {
    for (const Index j : problem_.penalty.of(g))
      for (Index c = 0; c < k_; ++c)
        if (x[j * k_ + c] != 0) return true;
    return false;
  }
  void enter(std::span<const Index> groups) {
    std::vector<Index> features;
    Index slot = Index(features_.size());
    for (const Index g : groups) {
      slot_[g] = std::int32_t(blocks_.size());
      names_.push_back(g);
      blocks_.push_back({slot * k_, problem_.penalty.size(g), eased(g)});
      for (const Index j : problem_.penalty.of(g)) features.push_back(j);
      slot = Index(features_.size() + features.size());
    }
    features_.insert(features_.end(), features.begin(), features.end());
    if (!whole_ && !features.empty()) columns_.join(features);
  }
  BlockPenalty eased(Index g) const {
    BlockPenalty penalty = problem_.penalty[g];
    penalty.strength *= ease_;
    penalty.l1 *= ease_;
    return penalty;
  }
  // By which the penalty would have to be larger for nothing to join; where all is zero, else none.
  Real largest_violation(const Point& here) const {
    std::vector<Real> buffer;
    Real least = 1;
    for (Index g = 0; g < problem_.penalty.count(); ++g) {
      if (nonzero(g, here.x)) return 1;
      least =
          std::min(least, problem_.penalty[g].feasible_scale(problem_.penalty.block(here.slopes, g, buffer)));
    }
    return least > 0 ? 1 / least : 1;
  }

  const WideProblem& problem_;
  Index k_;
  bool whole_;
  WorkingColumns columns_;
  std::vector<std::int32_t> slot_; // where in `blocks_` a group is, or -1
  std::vector<Index> features_;    // of the slots
  std::vector<Index> names_;       // groups in `blocks_`
  std::vector<BlockAt> blocks_;
  std::vector<Real> norms_; // of all groups
  Real total_norm_ = 0;
  Real ease_ = 1; // times the penalty, for now
  bool first_ = true;
};

} // namespace southwell
