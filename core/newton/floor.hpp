// Where the loss is flat, or nearly straight, a model without curvature leads too far: every sample is given
// a part of the most there can be, as long as steps have to be cut. On losses made of pieces that is whenever
// they are; else only where hardly anything is left of them.
#pragma once
#include "core/support/math.hpp"

namespace southwell {

class Floor {
public:
  explicit Floor(bool pieces) : pieces_(pieces), part_(pieces ? 1 : 0) {}
  bool pieces() const { return pieces_; }
  Real part() const { return part_; }
  void gone(Real of_step) { // this part of a step was; 0: it gained nothing
    if (of_step < (pieces_ ? 1 : 0.1))
      part_ = clip(10 * part_, 1e-3, 1.0);
    else if (pieces_)
      part_ = std::max(0.1 * part_, 1e-8);
    else
      part_ = part_ > 1e-5 ? 0.1 * part_ : 0;
  }

private:
  bool pieces_;
  Real part_;
};

} // namespace southwell
