// Along a path of strengths: where the next solution is expected, on the line through the last two. Solutions
// are piecewise linear in the strength of an L1 norm, and nearly so in that of others.
#pragma once
#include "core/concepts.hpp"
#include <cmath>
#include <vector>

namespace southwell {

class Secant {
public:
  // x is the solution at strength `from`; that at `to` is the next. `most`: of the last step, at most, is a
  // step ahead.
  void pass(CVec x, Real from, Real to, Real most) {
    const Real run = before_ - from;
    part_ = last_.size() == x.size() ? (from - to) / run : 0;
    if (!(part_ > 0 && part_ <= most)) part_ = 0; // also if it is no number
    step_.resize(x.size());
    if (part_ > 0)
      for (std::size_t e = 0; e < x.size(); ++e) step_[e] = x[e] - last_[e];
    last_.assign(x.begin(), x.end());
    before_ = from;
  }
  bool due() const { return part_ > 0; }
  // What is expected instead of x. Once.
  std::vector<Real> ahead(CVec x) {
    std::vector<Real> there(x.begin(), x.end());
    for (std::size_t e = 0; e < there.size(); ++e) there[e] += part_ * step_[e];
    part_ = 0;
    return there;
  }

private:
  std::vector<Real> last_, step_;
  Real before_ = 0, part_ = 0;
};

} // namespace southwell
