// Draws one uniform candidate from each block of a partition; the one with the best score moves (Fang, Fang,
// Yu, Li 2021, algorithm 2). One block is uniform sampling, as many blocks as coordinates is greedy.
#pragma once
#include "core/rules/rule.hpp"
#include <vector>

namespace southwell {

class Hybrid final : public Rule {
public:
  // `block_of[k]` is the block of coordinate k; blocks are 0, ..., and none is empty.
  Hybrid(std::vector<Index> block_of, Random random, Score score)
      : block_of_(std::move(block_of)), random_(random), score_(score) {
    Index blocks = 0;
    for (const Index b : block_of_) blocks = std::max(blocks, b + 1);
    starts_.assign(blocks + 1, 0);
    for (const Index b : block_of_) ++starts_[b + 1];
    for (Index b = 0; b < blocks; ++b) starts_[b + 1] += starts_[b];
    members_.resize(block_of_.size());
    std::vector<Index> at(starts_.begin(), starts_.end() - 1);
    for (Index k = 0; k < Index(block_of_.size()); ++k) members_[at[block_of_[k]]++] = k;
  }
  Score score() const override { return score_; }
  Index candidates() const override { return Index(starts_.size()) - 1; }
  void next(std::span<Index> out) override {
    Index block = 0;
    for (Index& k : out) {
      const Index start = starts_[block], size = starts_[block + 1] - start;
      k = members_[start + (size == 1 ? 0 : random_.below(size))];
      block = block + 1 == candidates() ? 0 : block + 1;
    }
  }
  // The block of a uniform random coordinate; the candidate of that block is then uniform over all
  // coordinates.
  Index uniform_candidate() override { return block_of_[random_.below(Index(block_of_.size()))]; }

private:
  std::vector<Index> block_of_, starts_, members_;
  Random random_;
  Score score_;
};

} // namespace southwell
