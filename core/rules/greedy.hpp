// Selects the coordinate with the largest score, the first of equals: Gauss-Southwell (Southwell 1940; Nutini
// et al. 2015).
#pragma once
#include "core/rules/rule.hpp"
#include "core/support/tree.hpp"
#include <algorithm>

namespace southwell {

class Greedy final : public Rule {
public:
  Greedy(Index n, Score score) : n_(n), score_(score), scores_(n) {}
  Score score() const override { return score_; }
  bool keeps_scores() const override { return true; }
  Index refresh_every() const override { return 0; }
  Index lookahead() const override { return 1; }

  void refresh(CVec scores) override {
    for (Index k = 0; k < n_; ++k) scores_.set(k, scores[k]);
    scores_.settle();
  }
  void update(std::span<const Index> changed, CVec scores) override {
    for (const Index k : changed) scores_.set(k, scores[k]);
    scores_.settle();
  }
  // Its score is a rounding error: it counts as 0 until its reading changes.
  void stuck(Index k) override {
    scores_.set(k, 0);
    scores_.settle();
  }
  void next(std::span<Index> out) override { std::fill(out.begin(), out.end(), scores_.argmax()); }

private:
  Index n_;
  Score score_;
  Tree<Largest> scores_;
};

// The same with scores that are recomputed every `every` moves: selects the largest, the second largest, and
// so on.
class GreedyInTurn final : public Rule {
public:
  GreedyInTurn(Index n, Score score, Index every) : score_(score), every_(every), waiting_(n) { reset({}); }
  Score score() const override { return score_; }
  bool keeps_scores() const override { return true; }
  Index refresh_every() const override { return every_; }

  void refresh(CVec scores) override { reset(scores); }
  void next(std::span<Index> out) override {
    for (Index& k : out) {
      if (left_ == 0) left_ = Index(waiting_.size()); // all were selected: again in the same order
      std::pop_heap(waiting_.begin(), waiting_.begin() + left_--, behind);
      k = waiting_[left_].k;
      if (left_ == 0) std::make_heap(waiting_.begin(), waiting_.end(), behind);
    }
  }

private:
  struct Waiting {
    Real score;
    Index k;
  };
  static bool behind(const Waiting& a, const Waiting& b) {
    return a.score < b.score || (a.score == b.score && a.k > b.k);
  }
  void reset(CVec scores) {
    left_ = Index(waiting_.size());
    for (Index k = 0; k < left_; ++k) waiting_[k] = {scores.empty() ? 0 : scores[k], k};
    std::make_heap(waiting_.begin(), waiting_.end(), behind);
  }

  Score score_;
  Index every_, left_ = 0;
  std::vector<Waiting> waiting_; // a heap of `left_` coordinates, then those already selected
};

} // namespace southwell
