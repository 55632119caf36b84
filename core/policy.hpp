// The numbers that the default method decides by, which policy.def lists. Algorithms take a Policy; bindings
// and Python pass facts about a problem and none of these.
#pragma once
#include "core/support/math.hpp"

namespace southwell {

struct Policy {
#define POLICY(name, value, reason) Real name = value;
#include "core/policy.def"
#undef POLICY

  // `f(name, number, reason)` of each.
  template <class F> void visit(F&& f) {
#define POLICY(name, value, reason) f(#name, name, reason);
#include "core/policy.def"
#undef POLICY
  }
};

} // namespace southwell
