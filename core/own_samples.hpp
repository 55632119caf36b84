// The loss over all samples where it is one's own (own_loss.hpp).
//
// Curvatures and conjugates are asked for at derivatives y, but such a loss answers at margins: those of the
// last derivatives are remembered, and others are searched for from there. On the way each sample shows
// whether its derivative grows with its margin, as convexity asks.
#pragma once
#include "core/own_loss.hpp"
#include "core/sample_loss.hpp"
#include <memory>
#include <mutex>

namespace southwell {

class OwnSamples final : public SampleLoss {
public:
  OwnSamples(std::shared_ptr<const OwnLoss> loss, CVec targets, CVec weights)
      : SampleLoss(targets, weights), loss_(std::move(loss)) {}

  using SampleLoss::derivative;
  using SampleLoss::maximise;
  using SampleLoss::value;
  Real value(CVec m, Real shift) const override {
    Numbers at = moved(m, shift);
    if (const auto known = values_.at(at)) return sum(known->of);
    const auto known = asked(Asked::value, std::move(at));
    if (shift == 0) values_.keep(known);
    return sum(known->of);
  }
  Slope slope(CVec m, Real shift) const override {
    const auto known = along_.at(m);
    const Numbers told = known ? known->of : Numbers(); // a shift, the slope and its derivative there, ...
    std::size_t nearest = 0;
    for (std::size_t k = 0; k < told.size(); k += 3) {
      if (told[k] == shift) return {told[k + 1], told[k + 2]};
      if (std::abs(told[k] - shift) < std::abs(told[nearest] - shift)) nearest = k;
    }
    const Numbers at = moved(m, shift);
    const Real first = sum(derivatives(at)->of);
    Slope slope{first, 0};
    if (loss_->curved()) {
      slope.second = std::max(sum(asked(Asked::curvature, at)->of), 0.0);
    } else { // a difference, to the nearest of them unless it is too near or too far
      Real size = 0;
      for (std::size_t i = 0; i < at.size(); ++i)
        size = std::max(size, std::min(unit(at[i], targets_[i]), 1e150));
      const Real run = told.empty() ? 0 : told[nearest] - shift;
      const bool near = std::abs(run) >= 1e-8 * size && std::abs(run) <= 0.1 * size;
      const Real step = near ? run : 1e-7 * size;
      const auto there = [&] {
        return near ? told[nearest + 1] : sum(asked(Asked::derivative, moved(m, shift + step))->of);
      };
      const bool same = !told.empty() && std::abs(run) < 1e-8 * size; // so is the second derivative
      slope.second = same ? told[nearest + 2] : std::max((there() - first) / step, 0.0);
    }
    auto more = std::make_shared<Known>(Known{{m.begin(), m.end()}, told});
    more->of.insert(more->of.end(), {shift, slope.first, slope.second});
    along_.keep(std::move(more));
    return slope;
  }
  void derivative(CVec m, Vec y) const override {
    const auto last = slopes_.last(), known = derivatives({m.begin(), m.end()});
    if (last) refuse_decrease(*last, m, known->of);
    std::copy(known->of.begin(), known->of.end(), y.begin());
  }
  void curvature(CVec y, Vec h) const override {
    const Ends at = ends_of(y);
    const Numbers& m = at.end;
    if (loss_->curved()) {
      ask(Asked::curvature, m, h);
    } else { // differences
      Numbers up(m);
      for (std::size_t i = 0; i < m.size(); ++i) up[i] += 4e-8 * unit(m[i], targets_[i]);
      ask(Asked::derivative, up, h);
      for (std::size_t i = 0; i < m.size(); ++i) h[i] = (h[i] - at.slope[i]) / (up[i] - m[i]);
    }
    for (std::size_t i = 0; i < m.size(); ++i)
      h[i] = h[i] > 0 && weights_[i] > 0 ? weights_[i] * std::min(h[i], 1e300) : 0;
  }
  Real conjugate(CVec y, Real scale) const override {
    const auto zero = [&](Real v) { return scale * v == 0; };
    if (!std::all_of(y.begin(), y.end(), zero)) {
      Numbers each(y.size());
      conjugates(y, scale, gained, each);
      return sum(each);
    }
    if (const auto known = least_.last()) return known->of[0]; // D(0) is asked for again and again
    const Real total = -least();
    least_.keep(std::make_shared<Known>(Known{{}, {total}}));
    return total;
  }
  // By Fenchel's inequality, phi*(v) >= v m - phi(m), at the margins last asked for values.
  Real conjugate_at_least(CVec y, Real scale) const override {
    const auto at = values_.last();
    if (!at) return -infinity;
    Real total = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      if (weights_[i] > 0) total += weights_[i] * (scale * y[i] * at->m[i] - at->of[i]);
    return total;
  }
  // phi*(scale y) of each sample of positive weight, from above; infinity outside the domain, as far as the
  // loss shows.
  void conjugates(CVec y, Real scale, Real share, Vec each, bool named = true) const {
    Numbers to(y.begin(), y.end());
    for (Real& v : to) v *= scale;
    auto from = where(y);
    // The share is one of the bracket at the margins that are certified: those last asked for values.
    if (const auto at = values_.last(); !at) {
      share = 0;
    } else if (share > 0 && at->m != from->m) {
      from = derivatives(at->m);
    }
    const Brackets brackets(*loss_, to, targets_, weights_, from->m, from->of, share, named);
    const Ends& at = brackets.ends();
    const Numbers values = values_at(at.end);
    for (std::size_t i = 0; i < to.size(); ++i) {
      const Real end = at.end[i], slope = at.slope[i];
      // Rounding errors of a derivative count over the whole margin.
      const Real lost = std::abs(end) * std::max({std::abs(to[i]), std::abs(slope), std::abs(from->of[i])});
      const Real bound = slope * end - values[i] + (to[i] - slope) * at.other[i];
      each[i] = std::isnan(end)                       ? infinity
                : slope == to[i] && end == from->m[i] ? bound
                                                      : bound + 0x1p-53 * lost;
    }
  }
  Interval domain(Index i) const override {
    const auto ends = reach();
    return {ends->m[i], ends->of[i]};
  }
  Real smoothness() const override { return loss_->smoothness(); }
  bool smooth() const override { return true; }
  bool quadratic() const override { return false; }
  bool piecewise() const override { return false; }

  // Rounding errors of what is computed elsewhere are not known, and one sample at a time would be slow.
  Real value_above(CVec, CVec) const override { refuse_bounds(); }
  ConjugateAbove conjugate_above(CVec) const override { refuse_bounds(); }
  Distance strictly_inside(Vec) const override { refuse_bounds(); }
  Real maximise(CVec, CVec, Real, Vec) const override { loss_->refuse_steps(); }
  Real derivative(Index, Real) const override { loss_->refuse_steps(); }
  Real maximise(Index, Real, Real, Real) const override { loss_->refuse_steps(); }
  Real bracket(Index, Real, Real) const override { loss_->refuse_steps(); }

private:
  using Asked = OwnLoss::Asked;
  static constexpr Real gained = 1e-2; // the share by which a gap may be larger, see Brackets
  struct Known {
    Numbers m, of; // margins, and what was told there
  };
  // What was told of late. Solves on several threads may share a problem. The lock is never held while the
  // loss is asked: that may wait for the interpreter.
  class Memory {
  public:
    explicit Memory(std::size_t most = 1) : all_(most) {}
    std::shared_ptr<const Known> last() const {
      const std::lock_guard guard(mutex_);
      return all_.front();
    }
    std::shared_ptr<const Known> at(CVec m) const {
      return find([&](const Known& one) { return std::ranges::equal(one.m, m); });
    }
    template <class Is> std::shared_ptr<const Known> find(Is&& is) const {
      for (const auto& one : copy())
        if (one && is(*one)) return one;
      return nullptr;
    }
    void keep(std::shared_ptr<const Known> known) {
      const std::lock_guard guard(mutex_);
      std::rotate(all_.begin(), all_.end() - 1, all_.end());
      all_.front() = std::move(known);
    }

  private:
    std::vector<std::shared_ptr<const Known>> copy() const {
      const std::lock_guard guard(mutex_);
      return all_;
    }

    mutable std::mutex mutex_;
    std::vector<std::shared_ptr<const Known>> all_; // the newest first
  };

  std::shared_ptr<const Known> asked(Asked what, Numbers m) const {
    auto known = std::make_shared<Known>(Known{std::move(m), Numbers(targets_.size())});
    ask(what, known->m, known->of);
    return known;
  }
  std::shared_ptr<const Known> derivatives(Numbers m) const {
    auto known = slopes_.at(m);
    if (!known) slopes_.keep(known = asked(Asked::derivative, std::move(m)));
    return known;
  }
  void ask(Asked asked, CVec m, Vec out) const { (*loss_)(asked, m, targets_, out); }
  static Real unit(Real m, Real b) {
    const Real size = std::abs(m) + std::abs(b);
    return size > 0 ? size : 1;
  }
  static Numbers moved(CVec m, Real shift) {
    Numbers all(m.begin(), m.end());
    for (Real& v : all) v += shift;
    return all;
  }
  Real sum(CVec v) const {
    Real total = 0;
    for (std::size_t i = 0; i < v.size(); ++i)
      total += weights_[i] > 0 ? weights_[i] * v[i] : 0; // not 0 * infinity
    return total;
  }

  // sum_i s_i min phi_i, from below: once for each target.
  Real least() const {
    Numbers b;
    for (std::size_t i = 0; i < targets_.size(); ++i)
      if (weights_[i] > 0) b.push_back(targets_[i]);
    std::sort(b.begin(), b.end());
    b.erase(std::unique(b.begin(), b.end()), b.end());
    const Numbers ones(b.size(), 1);
    const OwnSamples alone(loss_, b, ones);
    Numbers each(b.size());
    alone.conjugates(Numbers(b.size()), 0, 0, each, false);
    Real total = 0;
    for (std::size_t i = 0; i < targets_.size(); ++i)
      if (weights_[i] > 0)
        total -= weights_[i] * each[std::lower_bound(b.begin(), b.end(), targets_[i]) - b.begin()];
    return total;
  }
  void refuse_decrease(const Known& last, CVec m, CVec y) const {
    for (std::size_t i = 0; i < m.size(); ++i) {
      const Real run = m[i] - last.m[i], rise = y[i] - last.of[i];
      if (!(run * rise < 0) || std::abs(run) < 1e-6 * unit(m[i], targets_[i])) continue;
      if (std::abs(rise) <= 1e-7 * (std::abs(y[i]) + std::abs(last.of[i])) + 1e-12) continue;
      std::ostringstream told;
      told << "it is not convex: its derivative is " << last.of[i] << " at margin " << last.m[i] << " and "
           << y[i];
      loss_->refuse(Index(i), targets_[i], told.str(), m[i], "The derivative of a convex loss never falls.");
    }
  }

  // Derivatives to search from: these, or the last ones, or those at zero.
  std::shared_ptr<const Known> where(CVec y) const {
    if (auto known = slopes_.find([&](const Known& one) { return std::ranges::equal(one.of, y); }))
      return known;
    if (auto known = slopes_.last()) return known;
    return derivatives(Numbers(targets_.size()));
  }
  Ends ends_of(CVec y) const { // where y is attained; outside the domain: where the search began
    const auto from = where(y);
    Ends at = Brackets(*loss_, y, targets_, weights_, from->m, from->of, gained).ends();
    for (std::size_t i = 0; i < y.size(); ++i)
      if (std::isnan(at.end[i])) at.end[i] = from->m[i], at.slope[i] = from->of[i];
    return at;
  }
  Numbers values_at(const Numbers& m) const { // asks for those that are not known
    const auto known = values_.last();
    Numbers values = known ? known->of : Numbers(m.size()), at, b;
    OwnLoss::Samples names;
    for (std::size_t i = 0; i < m.size(); ++i)
      if ((!known || known->m[i] != m[i]) && weights_[i] > 0 && !std::isnan(m[i])) {
        names.push_back(Index(i));
        at.push_back(m[i]);
        b.push_back(targets_[i]);
      }
    Numbers asked(at.size());
    (*loss_)(Asked::value, at, b, asked, names);
    for (std::size_t k = 0; k < names.size(); ++k) values[names[k]] = asked[k];
    return values;
  }
  // An interval of derivatives that are attained, for each sample: a part of dom phi*, which is convex.
  std::shared_ptr<const Known> reach() const {
    if (auto known = reach_.last()) return known;
    const std::size_t n = targets_.size();
    auto ends = std::make_shared<Known>(Known{Numbers(n), Numbers(n)});
    Numbers far(n);
    for (const Real side : {-1.0, 1.0}) {
      for (std::size_t i = 0; i < n; ++i)
        far[i] = targets_[i] + side * 1e3 * std::max(unit(0, targets_[i]), 1.0);
      ask(Asked::derivative, far, side < 0 ? ends->m : ends->of);
    }
    reach_.keep(ends);
    return ends;
  }
  [[noreturn]] void refuse_bounds() const {
    throw std::invalid_argument("The rounding errors of the loss " + loss_->name() +
                                " are not known: there are no bounds in exact arithmetic.");
  }

  std::shared_ptr<const OwnLoss> loss_;
  mutable Memory slopes_{4}, values_, least_, reach_, along_;
};

} // namespace southwell
