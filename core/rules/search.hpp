// Greedy by maximum inner product search (Dhillon, Ravikumar, Tewari 2011; Karimireddy, Koloskova, Stich,
// Jaggi 2019): an index of the fibers, outside the core, returns coordinates whose score is large.
//
// The index knows the score of a coordinate that stands at zero: the score grows with one or two products of
// the image with vectors that never change (src/southwell/_search.py). A coordinate elsewhere has a
// score that depends on where it stands. Such coordinates are kept `apart`: all of them are candidates, and
// the index is asked for the best of the others. So the best candidate is the greedy choice, as far as
// the index is exact. A move costs a search, and a read of every fiber apart; once half of the coordinates
// are apart, a read of all.
//
// With probability `explore` the candidates are drawn uniformly instead, because an index is approximate and
// may never return some coordinate.
#pragma once
#include "core/rules/rule.hpp"
#include <numeric>

namespace southwell {

class Search final : public Rule {
public:
  static constexpr std::string_view name = "search";

  Search(const RuleSpec& spec, Index n, Random random)
      : n_(n), random_(random), score_(spec.score), candidates_(spec.candidates), explore_(spec.explore),
        find_(spec.find), always_apart_(spec.always_apart), by_reading_(spec.by_reading), place_(n, -1) {
    always_apart_.resize(n);
    for (Index k = 0; k < n; ++k) placed(k, 0);
  }
  Score score() const override { return score_; }
  Index candidates() const override { return candidates_; }
  Index lookahead() const override { return 1; }
  bool aims() const override { return true; }
  void aim(CVec image) override { image_ = image; }
  void placed(Index k, Real at) override {
    const bool apart = always_apart_[k] || (at != 0 && !by_reading_);
    if (apart == (place_[k] >= 0)) return;
    if (apart) {
      place_[k] = Index(apart_.size());
      apart_.push_back(k);
    } else { // the last takes its place
      apart_[place_[k]] = apart_.back();
      place_[apart_.back()] = place_[k];
      place_[k] = -1;
      apart_.pop_back();
    }
  }
  void gather(std::vector<Index>& group) override {
    group.clear();
    if (explore_ > 0 && random_.unit() < explore_) {
      group.resize(candidates_);
      return next(group);
    }
    const Index others = n_ - Index(apart_.size());
    if (others <= Index(apart_.size())) { // reading them too costs less than twice as much, and no search
      group.resize(n_);
      return std::iota(group.begin(), group.end(), Index(0));
    }
    group = find_(image_, std::min(candidates_, others), apart_);
    group.insert(group.end(), apart_.begin(), apart_.end());
    if (group.empty()) { // nothing was found
      group.resize(candidates_);
      next(group);
    }
  }
  void next(std::span<Index> out) override {
    for (Index& k : out) k = random_.below(n_);
  }

private:
  Index n_;
  Random random_;
  Score score_;
  Index candidates_;
  Real explore_;
  decltype(RuleSpec::find) find_;
  std::vector<char> always_apart_;
  bool by_reading_;
  std::vector<Index> apart_, place_; // the coordinates apart, and the place of each there, or -1
  CVec image_;
};

} // namespace southwell
