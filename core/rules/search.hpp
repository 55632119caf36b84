// Approximate greedy by maximum inner product search (Dhillon, Ravikumar, Tewari 2011): an index of
// the fibers, outside the core, returns those whose product with the image is large. With probability
// `explore` the candidates of a move are drawn uniformly instead, because an index alone can return the same
// coordinates, already at their optimum, again and again.
#pragma once
#include "core/rules/rule.hpp"
#include <functional>
#include <utility>

namespace southwell {

class Search final : public Rule {
public:
  using Find = std::function<void(CVec image, std::span<Index> found)>;

  Search(Index n, Random random, Score score, Index candidates, Real explore, Find find)
      : n_(n), random_(random), score_(score), candidates_(candidates), explore_(explore),
        find_(std::move(find)) {}
  Score score() const override { return score_; }
  Index candidates() const override { return candidates_; }
  Index lookahead() const override { return 1; }
  bool aims() const override { return true; }
  void aim(CVec image) override { image_ = image; }
  void next(std::span<Index> out) override {
    if (explore_ > 0 && random_.unit() < explore_)
      for (Index& k : out) k = random_.below(n_);
    else
      find_(image_, out);
  }

private:
  Index n_;
  Random random_;
  Score score_;
  Index candidates_;
  Real explore_;
  Find find_;
  CVec image_;
};

} // namespace southwell
