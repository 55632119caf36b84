// Draws in proportion to a score, uniformly among coordinates whose score is not zero, or a mixture of the
// two (Perekrestenko, Cevher, Jaggi 2017, eq. 16-18 and theorem 3.7):
//
//     p_k = mix / |{l : c_l > 0}| + (1 - mix) c_k / sum_l c_l       where c_k > 0, else 0
//
//     rule              score     mix   refreshed
//     importance        reach     0     never
//     support set       residual  1     at every move
//     adaptive          residual  0     at every move
//     ada-uniform       residual  1/2   at every move
//     ada-gap           bracket   0     at every move
//     gap-per-epoch     bracket   0     once an epoch
//
// The best mix minimises the bound (19) of the paper. With m coordinates that can move, a gap G at the start
// and |kappa_k| <= 2 L_k it is  sqrt(m G) / (sqrt(m G) + 2 sum_k L_k ||a_k|| / sqrt(beta)).
//
// If all scores are zero, draws are uniform. A distribution that is replaced as a whole is an alias table;
// one in which single entries change is a tree.
#pragma once
#include "core/rules/rule.hpp"
#include "core/support/alias_table.hpp"
#include "core/support/tree.hpp"

namespace southwell {

inline Real summable(Real score) { return std::min(score, 1e290); }
inline Real best_mix(Index movable, Real error, Real farthest) {
  const Real root = std::sqrt(Real(movable) * summable(error)), spread = 2 * summable(farthest);
  return root + spread > 0 ? root / (root + spread) : 1;
}

// A distribution that is fixed until all scores are recomputed.
class SampledForAWhile final : public Rule {
public:
  static constexpr std::string_view name = "sampled";
  static bool fits(const RuleSpec& spec) { return spec.refresh_every > 0; }

  SampledForAWhile(const RuleSpec& spec, Index n, Random random)
      : random_(random), score_(spec.score), mix_(spec.mix), every_(spec.refresh_every), weights_(n, 1.0) {
    table_.assign(weights_);
  }
  Score score() const override { return score_; }
  bool keeps_scores() const override { return true; }
  bool balances() const override { return mix_ == automatic_mix; }
  void balance(Index movable, Real error, Real farthest) override {
    mix_ = best_mix(movable, error, farthest);
  }
  Index refresh_every() const override { return every_; }

  void refresh(CVec scores) override {
    Real total = 0, positive = 0;
    for (const Real c : scores) {
      total += summable(c);
      positive += c > 0;
    }
    for (std::size_t k = 0; k < scores.size(); ++k) {
      const Real c = summable(scores[k]);
      weights_[k] = total == 0 ? 1 : c > 0 ? mix_ / positive + (1 - mix_) * (c / total) : 0;
    }
    table_.assign(weights_);
  }
  void next(std::span<Index> out) override {
    for (Index& k : out) k = table_.draw(random_);
  }

private:
  Random random_;
  Score score_;
  Real mix_;
  Index every_;
  std::vector<Real> weights_;
  AliasTable table_;
};

// A distribution that is updated at every move.
class Sampled final : public Rule {
public:
  static constexpr std::string_view name = "sampled";
  static bool fits(const RuleSpec& spec) { return spec.refresh_every == 0; }

  Sampled(const RuleSpec& spec, Index n, Random random)
      : n_(n), random_(random), score_(spec.score), mix_(spec.mix), scores_(mix_ < 1 ? n : 1),
        support_(mix_ != 0 ? n : 1) {}
  Score score() const override { return score_; }
  bool keeps_scores() const override { return true; }
  bool balances() const override { return mix_ == automatic_mix; }
  void balance(Index movable, Real error, Real farthest) override {
    mix_ = best_mix(movable, error, farthest);
  }
  Index refresh_every() const override { return 0; }
  Index lookahead() const override { return 1; }

  void refresh(CVec scores) override {
    for (Index k = 0; k < n_; ++k) set(k, scores[k]);
    settle();
  }
  void update(std::span<const Index> changed, CVec scores) override {
    for (const Index k : changed) set(k, scores[k]);
    settle();
  }
  void next(std::span<Index> out) override {
    for (Index& k : out) k = draw();
  }

private:
  void set(Index k, Real score) {
    if (mix_ < 1) scores_.set(k, summable(score));
    if (mix_ > 0) support_.set(k, score > 0);
  }
  void settle() {
    scores_.settle();
    support_.settle();
  }
  Index draw() {
    const bool by_support = mix_ == 1 || (mix_ > 0 && random_.unit() < mix_);
    const Tree<Sum>& tree = by_support ? support_ : scores_;
    return tree.top() > 0 ? tree.find(random_.unit() * tree.top()) : random_.below(n_);
  }

  Index n_;
  Random random_;
  Score score_;
  Real mix_;
  Tree<Sum> scores_, support_;
};

} // namespace southwell
