// The rows of A = U V, each formed when it is read: the sum of the rows of V that row i of U names, at a cost
// of O(k d). For methods that read rows and update all of x or z in any case.
//
// The last two rows are held, so that a row that is read and then moved is formed once, and a fiber stays
// valid until the second one after it. One algorithm on one thread owns this object.
#pragma once
#include "core/design/any_fibers.hpp"
#include "core/design/stored.hpp"
#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace southwell {

class FormedRows final : public MadeFibers {
public:
  FormedRows(std::unique_ptr<AnyFibers> rows_of_u, std::unique_ptr<AnyFibers> rows_of_v)
      : u_(std::move(rows_of_u)), v_(std::move(rows_of_v)) {
    for (Held& held : held_) held.values.resize(std::size_t(v_->length()));
  }

  const Real* operator()(Index i) const override {
    if (held_[last_].row == i) return held_[last_].values.data();
    last_ = 1 - last_;
    Held& held = held_[last_];
    if (held.row == i) return held.values.data();
    std::fill(held.values.begin(), held.values.end(), 0.0);
    u_->copy(i, inner_, factors_);
    for (std::size_t t = 0; t < inner_.size(); ++t)
      if (factors_[t] != 0) v_->add(inner_[t], factors_[t], Vec(held.values));
    held.row = i;
    return held.values.data();
  }

private:
  struct Held {
    Index row = -1;
    std::vector<Real> values;
  };
  std::unique_ptr<AnyFibers> u_, v_;
  mutable std::array<Held, 2> held_;
  mutable std::size_t last_ = 0;
  mutable std::vector<Index> inner_; // the entries of row i of U
  mutable std::vector<Real> factors_;
};

} // namespace southwell
