// What the driver passes to a model about the round: how far it must be solved.
#pragma once
#include "core/support/math.hpp"

namespace southwell {

struct Outlook {
  Real gap, goal, unit; // of the whole problem: the last certified gap, the tolerance, the zero model
  Real left, target;    // of the problem restricted to the working set: its gap, and one that will do
  Real value;           // P
  bool large;           // are steps still large?
};

} // namespace southwell
