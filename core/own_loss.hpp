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
#include <array>
#include <cmath>
#include <memory>
#include <numeric>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace southwell {

// Keeps blocks of memory for the next vector of the same size: asking the system for them anew, for every
// batch of many samples, would take longer than the loss.
template <class Value> struct Kept {
  using value_type = Value;
  Kept() = default;
  template <class Other> Kept(const Kept<Other>&) {}

  Value* allocate(std::size_t n) {
    Blocks& kept = blocks();
    for (std::size_t k = kept.all.size(); k-- > 0;)
      if (kept.all[k].first == n) {
        Value* const found = kept.all[k].second;
        kept.all.erase(kept.all.begin() + std::ptrdiff_t(k));
        kept.size -= n;
        return found;
      }
    return std::allocator<Value>().allocate(n);
  }
  void deallocate(Value* block, std::size_t n) {
    Blocks& kept = blocks();
    const bool room = kept.size + n <= most && kept.all.size() < kept.all.capacity();
    if (n < 4096 || !room) return std::allocator<Value>().deallocate(block, n);
    kept.all.emplace_back(n, block);
    kept.size += n;
  }
  template <class Other> bool operator==(const Kept<Other>&) const { return true; }

private:
  static constexpr std::size_t most = (std::size_t(64) << 20) / sizeof(Value);
  struct Blocks { // of a thread
    std::vector<std::pair<std::size_t, Value*>> all;
    std::size_t size = 0;
    Blocks() { all.reserve(32); }
    ~Blocks() {
      for (const auto& [n, block] : all) std::allocator<Value>().deallocate(block, n);
    }
  };
  static Blocks& blocks() {
    thread_local Blocks own;
    return own;
  }
};
using Numbers = std::vector<Real, Kept<Real>>;

class OwnLoss {
public:
  enum class Asked { value, derivative, curvature };
  using Samples = std::vector<Index, Kept<Index>>; // their numbers; empty: all, in order

  OwnLoss(std::string name, bool curved, Real smoothness)
      : name_(std::move(name)), curved_(curved), smoothness_(smoothness) {}
  OwnLoss(const OwnLoss&) = delete;
  virtual ~OwnLoss() = default;

  const std::string& name() const { return name_; }
  bool curved() const { return curved_; } // does it know its second derivative?
  Real smoothness() const { return smoothness_; }

  // phi, phi' or phi'' of these margins and targets. NaN is refused, unless it was given; infinity is not,
  // since values may overflow.
  void operator()(Asked asked, CVec m, CVec b, Vec out, const Samples& samples = {}) const {
    if (m.empty()) return;
    answer(asked, m, b, out);
    for (std::size_t k = 0; k < out.size(); ++k)
      if (std::isnan(out[k]) && !std::isnan(m[k]) && !std::isnan(b[k]))
        refuse(samples.empty() ? Index(k) : samples[k], b[k], std::string(word(asked)) + " is NaN", m[k],
               "Write it so that it is a number for every margin, for example with scipy.special.expit and "
               "numpy.logaddexp.");
  }

  [[noreturn]] void refuse(Index sample, Real b, const std::string& what, Real m,
                           const std::string& advice) const {
    std::ostringstream told;
    told.precision(6);
    told << "The loss " << name_ << " cannot be used: " << what;
    if (sample >= 0) told << " for sample " << sample << ",";
    told << " at margin " << m << " and target " << b << ". " << advice;
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
  std::size_t sample; // its place among those that are searched for
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
  Real other() const { return low_end() ? hi : lo; }
  // Where phi' is flat an end may attain y needlessly far out, and rounding errors grow with its margin.
  bool far() const { return found() && std::abs(end()) > 4 * (1 + std::abs(other()) + std::abs(b)); }

  void begin() {
    first = d;
    if (d <= y) lo = m, at_lo = d;
    if (d >= y) hi = m, at_hi = d;
  }
  void told(Real margin, Real at) {
    if (margin == m) return;
    before = m;
    at_before = d;
    m = margin;
    d = at;
    // Where a larger derivative is known, a margin that attains y is l, else r.
    const bool above = hi < infinity && at_hi > y;
    if ((d < y || (d == y && above)) && m >= lo) lo = m, at_lo = d;
    if ((d > y || (d == y && !above)) && m <= hi) hi = m, at_hi = d;
    ++turns;
  }
  // The secant through the last two points; unless it leaves the bracket, or too often: then halves.
  void choose() {
    const Real run = m - before, rise = d - at_before, slope = turns > 0 && run != 0 ? rise / run : 0;
    const Real newton = slope > 0 ? (y - d) / slope : 0;
    const Real unit = std::abs(m) + std::abs(b) > 0 ? std::abs(m) + std::abs(b) : 1;
    if (!found()) {
      Real step = std::max(2 * std::abs(newton), 10 * std::abs(run));
      if (turns > 4) step = std::max({step, unit, std::pow(std::abs(run), 1.5)});
      next = m + (y > d ? 1 : -1) * std::min(step, 1e300);
      return;
    }
    next = m + newton;
    if (newton != 0 && next > lo && next < hi && turns % 4 != 3) return;
    const bool apart = lo > 0 ? hi > 1e3 * lo : hi < 0 && lo < 1e3 * hi; // by orders of magnitude
    next = apart ? std::copysign(std::sqrt(std::abs(lo)) * std::sqrt(std::abs(hi)), lo) : lo / 2 + hi / 2;
  }
};

// Where phi* of one sample is bounded: phi' is `slope`, nearest to y, at the margin `end`, and the slope of
// phi* at y is between `end` and `other`. NaN: outside the domain, as far as the loss shows.
struct Ends {
  Numbers end, slope, other;
};

class Brackets {
public:
  // `share`: of the bracket phi(m) + phi*(y) - y m that the excess may be, where the margins m are known to
  // have the derivatives d. The gap contains that bracket; so it is larger by that share at most.
  Brackets(const OwnLoss& loss, CVec y, CVec b, CVec s, CVec m, CVec d, Real share, bool named = true)
      : loss_(loss), share_(share), ends_{copy(m), copy(d), copy(m)} {
    Real size = 0;
    at_.reserve(y.size()), names_.reserve(y.size());
    for (Numbers* each : {&y_, &b_, &m_, &d_}) each->reserve(y.size());
    for (std::size_t i = 0; i < y.size(); ++i) {
      size += s[i] * std::abs(y[i]) * (std::abs(m[i]) + std::abs(b[i]));
      if (!(s[i] > 0) || y[i] == d[i]) continue;
      at_.push_back(i);
      names_.push_back(named ? Index(i) : -1);
      y_.push_back(y[i]);
      b_.push_back(b[i]);
      m_.push_back(m[i]);
      d_.push_back(d[i]);
    }
    allowed_ = 1e-17 * size;
    few_steps();
    many_steps();
  }
  const Ends& ends() const { return ends_; }

private:
  static Numbers copy(CVec v) { return {v.begin(), v.end()}; }

  Numbers ask(const Numbers& m) const {
    Numbers d(m.size());
    loss_(OwnLoss::Asked::derivative, m, b_, d, names_);
    return d;
  }
  bool settled(const Bracketed& one, Real from) const {
    const Real own = 0x1p-53 * std::abs(one.y) * (std::abs(one.m) + std::abs(one.b));
    const Real part = share_ / 2 * std::abs(one.y - one.first) * std::abs(one.end() - from);
    return one.excess() <= std::max({own, allowed_, one.found() ? part : 0}) && !one.far();
  }
  void store(const Bracketed& one) {
    const std::size_t i = at_[one.sample];
    ends_.end[i] = one.found() ? one.end() : std::numeric_limits<Real>::quiet_NaN();
    ends_.slope[i] = one.at_end();
    ends_.other[i] = one.other();
  }
  // Three steps at once for all samples, which is enough for most: one that tells the slope, one a little
  // beyond where that leads, and the secant or, if y is not yet reached, a longer one.
  void few_steps() {
    const std::size_t n = y_.size();
    if (n == 0) return;
    Numbers first(n), beyond(n), last(n);
    for (std::size_t k = 0; k < n; ++k) {
      const Real size = std::abs(m_[k]) + std::abs(b_[k]), unit = size > 0 ? size : 1;
      first[k] = m_[k] + (y_[k] > d_[k] ? 1e-7 : -1e-7) * unit;
    }
    const Numbers at_first = ask(first);
    bool enough = true; // as where y differs from d by rounding
    for (std::size_t k = 0; k < n && enough; ++k) {
      const Real left = std::abs(y_[k] - d_[k]) * std::abs(first[k] - m_[k]);
      enough = (y_[k] - d_[k]) * (at_first[k] - y_[k]) >= 0 && left <= allowed_;
    }
    Numbers at_beyond = at_first, at_last = at_first;
    beyond = last = first;
    if (!enough) {
      for (std::size_t k = 0; k < n; ++k) {
        const Real slope = (at_first[k] - d_[k]) / (first[k] - m_[k]), step = 1.1 * (y_[k] - d_[k]) / slope;
        const Real most = 1e3 * (1 + std::abs(m_[k]) + std::abs(b_[k]));
        beyond[k] = slope > 0 && std::abs(step) < most ? m_[k] + step : first[k];
      }
      at_beyond = ask(beyond);
      for (std::size_t k = 0; k < n; ++k) {
        const Real run = beyond[k] - m_[k], slope = (at_first[k] - d_[k]) / (first[k] - m_[k]);
        const Real mean = (at_beyond[k] - d_[k]) / run, left = y_[k] - at_beyond[k];
        // Beyond y the secant; before it a little more than a step with the slope that is expected there.
        const Real end = std::max(2 * mean - slope, mean / 4);
        const Real step = left * (y_[k] - d_[k]) > 0 ? run + 1.1 * left / end : (y_[k] - d_[k]) / mean;
        last[k] = std::isfinite(step) && std::abs(step) < 8 * std::abs(run) ? m_[k] + step : beyond[k];
      }
      at_last = ask(last);
    }
    for (std::size_t k = 0; k < n; ++k) {
      if (settled(k, {m_[k], first[k], beyond[k], last[k]}, {d_[k], at_first[k], at_beyond[k], at_last[k]}))
        continue;
      Bracketed one{.sample = k, .y = y_[k], .b = b_[k], .m = m_[k], .d = d_[k]};
      one.begin();
      one.told(first[k], at_first[k]);
      one.told(beyond[k], at_beyond[k]);
      one.told(last[k], at_last[k]);
      if (settled(one, m_[k]))
        store(one);
      else
        hard_.push_back(one);
    }
  }
  // The same without branches, for four points of sample k. Ends are stored, for what they are worth.
  bool settled(std::size_t k, const std::array<Real, 4>& m, const std::array<Real, 4>& d) {
    const Real y = y_[k];
    Real lo = -infinity, hi = infinity, at_lo = -infinity, at_hi = infinity;
    for (std::size_t p = 0; p < 4; ++p) {
      const int low = int(d[p] <= y) & int(m[p] >= lo), high = int(d[p] >= y) & int(m[p] <= hi);
      lo = low ? m[p] : lo, at_lo = low ? d[p] : at_lo;
      hi = high ? m[p] : hi, at_hi = high ? d[p] : at_hi;
    }
    const bool low = y - at_lo <= at_hi - y;
    const Real end = low ? lo : hi, slope = low ? at_lo : at_hi, other = low ? hi : lo;
    const std::size_t i = at_[k];
    ends_.end[i] = end, ends_.slope[i] = slope, ends_.other[i] = other;
    const Real own = 0x1p-53 * std::abs(y) * (std::abs(m[3]) + std::abs(b_[k]));
    const Real part = share_ / 2 * std::abs(y - d[0]) * std::abs(end - m[0]);
    return std::abs(y - slope) * (hi - lo) <= std::max({own, allowed_, part}); // NaN: there is no bracket
  }
  // Those that it is not enough for, until nothing can be gained.
  void many_steps() {
    std::vector<std::size_t> open(hard_.size());
    std::iota(open.begin(), open.end(), 0);
    Numbers m, b, d;
    OwnLoss::Samples names;
    for (int round = 0; round < 120; ++round) {
      std::erase_if(open, [&](std::size_t k) {
        Bracketed& one = hard_[k];
        if (settled(one, m_[one.sample])) return true;
        one.choose();
        return one.found() ? !(one.next > one.lo && one.next < one.hi) : one.next == one.m;
      });
      if (open.empty()) break;
      m.clear(), b.clear(), names.clear();
      for (const std::size_t k : open) {
        m.push_back(hard_[k].next);
        b.push_back(hard_[k].b);
        names.push_back(names_[hard_[k].sample]);
      }
      d.resize(m.size());
      loss_(OwnLoss::Asked::derivative, m, b, d, names);
      for (std::size_t k = 0; k < open.size(); ++k) hard_[open[k]].told(m[k], d[k]);
    }
    for (const Bracketed& one : hard_) store(one);
  }

  const OwnLoss& loss_;
  Real share_, allowed_ = 0;
  Ends ends_;
  OwnLoss::Samples names_;
  Numbers y_, b_, m_, d_;
  std::vector<std::size_t, Kept<std::size_t>> at_; // the place of each among all samples
  std::vector<Bracketed> hard_;
};

} // namespace southwell
