// A loss of one's own: known by its values and derivatives alone, in batches of samples.
//
// Its conjugate needs no formula. At y = phi'(m), Fenchel's equality gives phi*(y) = y m - phi(m). For any
// other y take margins l <= r with phi'(l) <= y <= phi'(r): phi* is convex and its slope at y is in [l, r],
// so
//
//     phi*(y) <= phi*(phi'(l)) + (y - phi'(l)) r,     phi*(y) <= phi*(phi'(r)) - (phi'(r) - y) l
//
// from above, as a lower bound D(y) needs it, with y as it is. The excess is at most (phi'(r) - phi'(l)) (r -
// l).
#pragma once
#include "core/support/math.hpp"
#include <algorithm>
#include <cmath>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace southwell {

class OwnLoss {
public:
  enum class Asked { value, derivative, curvature };
  using Samples = std::vector<Index>; // their numbers; empty: all, in order

  OwnLoss(std::string name, bool curved, Real smoothness)
      : name_(std::move(name)), curved_(curved), smoothness_(smoothness) {}
  OwnLoss(const OwnLoss&) = delete;
  virtual ~OwnLoss() = default;

  const std::string& name() const { return name_; }
  bool curved() const { return curved_; } // does it know its second derivative?
  Real smoothness() const { return smoothness_; }

  // phi, phi' or phi'' of these margins and targets. NaN is refused; infinity is not, since values may
  // overflow.
  void operator()(Asked asked, CVec m, CVec b, Vec out, const Samples& samples = {}) const {
    if (m.empty()) return;
    answer(asked, m, b, out);
    for (std::size_t k = 0; k < out.size(); ++k)
      if (std::isnan(out[k]))
        refuse(samples.empty() ? Index(k) : samples[k], b[k], std::string(word(asked)) + " is NaN", m[k],
               "Write it so that it is a number for every margin, for example with scipy.special.expit and "
               "numpy.logaddexp.");
  }

  [[noreturn]] void refuse(Index sample, Real b, const std::string& what, Real m,
                           const std::string& advice) const {
    std::ostringstream told;
    told.precision(6);
    told << "The loss " << name_ << " cannot be used: " << what << " for sample " << sample << ", at margin "
         << m << " and target " << b << ". " << advice;
    throw std::invalid_argument(told.str());
  }
  [[noreturn]] void refuse_steps() const {
    throw std::invalid_argument(
        "The loss " + name_ +
        " has batch functions only: methods that step along single samples cannot use it.");
  }

protected:
  virtual void answer(Asked asked, CVec m, CVec b, Vec out) const = 0;

private:
  static std::string_view word(Asked asked) {
    return asked == Asked::value        ? "its value"
           : asked == Asked::derivative ? "its derivative"
                                        : "its second derivative";
  }

  std::string name_;
  bool curved_;
  Real smoothness_;
};

// Margins with l <= r and phi'(l) <= y <= phi'(r), for one sample.
struct Bracketed {
  Index sample;
  Real y, b;
  Real m, d;                                // where phi' was last computed
  Real lo = -infinity, hi = infinity;       // l and r
  Real at_lo = -infinity, at_hi = infinity; // phi' there
  Real before = 0, at_before = 0, next = 0; // the margin before that one; the margin to be asked for
  Real first = 0;                           // phi' where the search began
  int turns = 0;

  bool found() const { return lo > -infinity && hi < infinity; }
  Real excess() const { return found() ? std::min(y - at_lo, at_hi - y) * (hi - lo) : infinity; }
  bool low_end() const { return y - at_lo <= at_hi - y; } // the end whose derivative is nearer to y
  Real end() const { return low_end() ? lo : hi; }
  Real at_end() const { return low_end() ? at_lo : at_hi; }
  // phi*(y) from above, from phi at that end; rounding errors of a derivative count over the whole margin.
  Real conjugate(Real value) const {
    const Real m = end(), slope = at_end();
    const Real rounding = 0x1p-53 * std::abs(m) * std::max({std::abs(y), std::abs(slope), std::abs(first)});
    return slope * m - value + (y - slope) * (low_end() ? hi : lo) + rounding;
  }

  void told(Real at) {
    before = m;
    at_before = d;
    m = next;
    d = at;
    if (d <= y && m >= lo) lo = m, at_lo = d;
    if (d >= y && m <= hi) hi = m, at_hi = d;
    ++turns;
  }
  // The secant through the last two points; unless it leaves the bracket, or too often: then halves.
  void choose() {
    const Real run = m - before, rise = d - at_before, slope = turns > 0 && run != 0 ? rise / run : 0;
    const Real newton = slope > 0 ? (y - d) / slope : 0;
    const Real unit = std::abs(m) + std::abs(b) > 0 ? std::abs(m) + std::abs(b) : 1;
    if (!found()) { // a step that is tiny at first, since y may differ from d by rounding; it also tells the
                    // slope
      const Real sign = y > d ? 1 : -1;
      Real step = turns == 0 ? 1e-7 * unit : std::max(2 * std::abs(newton), 10 * std::abs(run));
      if (newton != 0 && turns == 1) step = std::clamp(2 * std::abs(newton), 1e-7 * unit, 1e3 * unit);
      if (turns > 4) step = std::max({step, unit, std::pow(std::abs(run), 1.5)});
      next = m + sign * std::min(step, 1e300);
      return;
    }
    next = m + newton;
    if (newton != 0 && next > lo && next < hi && turns % 4 != 3) return;
    const bool apart = lo > 0 ? hi > 1e3 * lo : hi < 0 && lo < 1e3 * hi; // by orders of magnitude
    next = apart ? std::copysign(std::sqrt(std::abs(lo)) * std::sqrt(std::abs(hi)), lo) : lo / 2 + hi / 2;
  }
};

// Brackets all until what they leave open is `allowed`, or nothing can be gained; the rest is not found.
inline void bracket(const OwnLoss& loss, std::vector<Bracketed>& all, Real allowed) {
  std::vector<Bracketed*> open;
  std::vector<Real> m, b, d;
  OwnLoss::Samples names;
  for (Bracketed& one : all) {
    one.first = one.d;
    if (one.d <= one.y) one.lo = one.m, one.at_lo = one.d;
    if (one.d >= one.y) one.hi = one.m, one.at_hi = one.d;
    open.push_back(&one);
  }
  for (int round = 0; round < 120; ++round) {
    std::erase_if(open, [&](Bracketed* one) {
      const Real own = 0x1p-53 * std::abs(one->y) * (std::abs(one->m) + std::abs(one->b));
      if (one->excess() <= std::max(own, allowed)) return true;
      one->choose();
      const bool stuck = one->found() ? !(one->next > one->lo && one->next < one->hi) : one->next == one->m;
      return stuck;
    });
    if (open.empty()) return;
    m.clear(), b.clear(), names.clear();
    for (const Bracketed* one : open) {
      m.push_back(one->next);
      b.push_back(one->b);
      names.push_back(one->sample);
    }
    d.resize(m.size());
    loss(OwnLoss::Asked::derivative, m, b, d, names);
    for (std::size_t k = 0; k < open.size(); ++k) open[k]->told(d[k]);
  }
}

} // namespace southwell
