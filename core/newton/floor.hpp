// Where the loss is flat, or nearly straight, a model without curvature leads too far: every sample is given
// a part of the most there can be, as long as steps have to be cut. On losses made of pieces that is whenever
// they are; else only where hardly anything is left of them.
#pragma once
#include "core/policy.hpp"

namespace southwell {

class Floor {
public:
  Floor(const Policy& policy, bool pieces) : policy_(policy), pieces_(pieces), part_(pieces ? 1 : 0) {}
  bool pieces() const { return pieces_; }
  Real part() const { return part_; }
  void gone(Real of_step) { // this part of a step was; 0: it gained nothing
    if (of_step < (pieces_ ? 1 : policy_.floor_cut))
      part_ = clip(policy_.floor_up * part_, policy_.floor_first, 1.0);
    else if (pieces_)
      part_ = std::max(policy_.floor_down * part_, policy_.floor_pieces);
    else
      part_ = part_ > policy_.floor_smooth ? policy_.floor_down * part_ : 0;
  }

private:
  const Policy& policy_;
  bool pieces_;
  Real part_;
};

} // namespace southwell
