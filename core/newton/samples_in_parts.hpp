// Samples in several parts: every answer combines those of the parts, in their order. A part holds some rows
// and is Samples itself, so it may be in memory (PartInMemory), or stand for rows in a file or on another
// machine, or be in parts again.
#pragma once
#include "core/newton/numbers_in_memory.hpp"

namespace southwell {

// The features of a working set whose columns the parts hold.
class FeatureNames {
public:
  template <class Design> FeatureNames(const Design&, const Policy&) {}
  void join(std::span<const Index> names) { names_.insert(names_.end(), names.begin(), names.end()); }
  std::span<const Index> since(std::size_t before) const { return std::span(names_).subspan(before); }
  Index count() const { return Index(names_.size()); }

private:
  std::vector<Index> names_;
};

struct PartColumns {
  WorkingColumns own_columns;
  NumberProducts own_products;
  PartColumns(const Design& design, const Policy& policy)
      : own_columns(design, policy), own_products(own_columns) {}
  PartColumns(const PartColumns&) = delete;
};

// Some of the rows, in memory. Their weights are those they have among all samples.
class PartInMemory : PartColumns, public NumbersInMemory {
public:
  PartInMemory(const Problem& rows, Real softness, const Policy& policy)
      : PartColumns(rows.design, policy),
        NumbersInMemory(rows, own_products, std::vector<Real>(std::size_t(rows.dual_size())), softness,
                        policy) {}
  void join(std::span<const Index> names) override { own_columns.join(names); }
};

class SamplesInParts : public Samples {
public:
  using Parts = std::vector<std::unique_ptr<Samples>>;

  // `loss` says what all parts say of it. `softness`: of their kinks at first. `names`: of W, if there is
  // one.
  SamplesInParts(Parts parts, const SampleLoss& loss, bool intercept, Index features, Real softness,
                 const FeatureNames* names)
      : parts_(std::move(parts)), loss_(loss), intercept_(intercept), scratch_(std::size_t(features)),
        softness_(softness), names_(names) {}

  void place(CVec x, Vec intercept) override {
    put(x);
    settle(intercept);
  }
  // The same from the coefficients of all features, the intercept, if there is one, the last of them.
  void place_all(Vec x) {
    Real own = intercept_ ? std::exchange(x.back(), 0.0) : 0;
    put_all(x);
    settle({&own, std::size_t(intercept_)});
    if (intercept_) x.back() = own;
  }
  void slopes(Vec out) override {
    std::fill(out.begin(), out.end(), 0.0);
    each([&](Samples& part) {
      part.slopes(scratch_);
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += scratch_[j];
    });
  }
  void tell(Point& point) override {
    point.samples = this;
    if (intercept_ && kinked()) point.x.back() = best_;
  }
  Real value() override {
    return sum([](Samples& part) { return part.value(); });
  }
  bool expand(const Floor& floor) override {
    catch_up();
    // Floors are a part of the largest curvature of all samples, which pieces and squares know beforehand.
    const bool asks = floor.part() > 0 && !floor.pieces() && !loss_.quadratic();
    return expand(floor, asks ? steepest() : 0);
  }

  Real aim(CVec change) override {
    return sum([&](Samples& part) { return part.aim(change); });
  }
  std::vector<Real> values(CVec lengths) override {
    return sums(lengths.size(), [&](Samples& part) { return part.values(lengths); });
  }
  void go(Real length) override {
    each([&](Samples& part) { part.go(length); });
  }

  bool kinked() const override { return !loss_.smooth(); }
  Real softness() const override { return softness_; }
  void soften(Real q) override {
    softness_ = q;
    each([&](Samples& part) { part.soften(q); });
  }
  void recentre() override {
    each([](Samples& part) { part.recentre(); });
  }

  void join(std::span<const Index> features) override {
    each([&](Samples& part) { part.join(features); });
  }
  Index entries() override {
    Index total = 0;
    each([&](Samples& part) { total += part.entries(); });
    return total;
  }
  void moments(std::span<Design::Moments> out) override {
    std::vector<Design::Moments> own(out.size());
    std::fill(out.begin(), out.end(), Design::Moments{});
    each([&](Samples& part) {
      part.moments(own);
      for (std::size_t k = 0; k < out.size(); ++k) out[k] += own[k];
    });
  }
  bool gram(Slots slots, Index from, Vec lines, const Spend& spend) override {
    return add(lines, [&](Samples& part, Vec own) { return part.gram(slots, from, own, spend); });
  }
  bool product(Slots slots, CVec v, Vec out, const Spend& spend) override {
    return add(out, [&](Samples& part, Vec own) { return part.product(slots, v, own, spend); });
  }

  Sums sums() override {
    Sums all;
    each([&](Samples& part) {
      const Sums own = part.sums();
      all.terms += own.terms;
      all.square += own.square;
      all.margins += own.margins;
    });
    return all;
  }
  Real objective() override { return kinked() ? value_shifted(best_ - own_) : value(); }
  std::vector<Real> conjugates(CVec scales) override {
    return sums(scales.size(), [&](Samples& part) { return part.conjugates(scales); });
  }

  void put(CVec x) override {
    catch_up();
    each([&](Samples& part) { part.put(x); });
  }
  void put_all(CVec x) override {
    each([&](Samples& part) { part.put_all(x); });
  }
  Slope along_intercept(Real shift) override {
    Slope all{0, 0};
    each([&](Samples& part) {
      const Slope own = part.along_intercept(shift);
      all = {all.first + own.first, all.second + own.second};
    });
    return all;
  }
  Real value_shifted(Real shift) override {
    return sum([&](Samples& part) { return part.value_shifted(shift); });
  }
  Real largest() override {
    return most([](Samples& part) { return part.largest(); });
  }
  void shift(Real by) override {
    each([&](Samples& part) { part.shift(by); });
  }
  Signs signs() override {
    CompensatedSum above, below;
    each([&](Samples& part) {
      const Signs own = part.signs();
      above.add(own.above);
      below.add(own.below);
    });
    return {above.value(), below.value()};
  }
  void scale(Signs by) override {
    each([&](Samples& part) { part.scale(by); });
  }
  Real steepest() override {
    return most([](Samples& part) { return part.steepest(); });
  }
  bool expand(const Floor& floor, Real steepest) override {
    bool changed = false;
    each([&](Samples& part) { changed = part.expand(floor, steepest) || changed; });
    return changed;
  }
  // y sums to zero, as an intercept asks; see balance() in sample_loss.hpp.
  void balance() {
    const auto [above, below] = signs();
    if (above > below) scale({below / above, 1});
    if (below > above) scale({1, above / below});
  }

private:
  template <class Ask> void each(Ask&& ask) {
    for (const auto& part : parts_) ask(*part);
  }
  template <class Ask> Real sum(Ask&& ask) {
    Real total = 0;
    each([&](Samples& part) { total += ask(part); });
    return total;
  }
  template <class Ask> Real most(Ask&& ask) {
    Real largest = 0;
    each([&](Samples& part) { largest = std::max(largest, ask(part)); });
    return largest;
  }
  template <class Ask> std::vector<Real> sums(std::size_t count, Ask&& ask) {
    std::vector<Real> total(count);
    each([&](Samples& part) {
      const std::vector<Real> own = ask(part);
      for (std::size_t k = 0; k < count; ++k) total[k] += own[k];
    });
    return total;
  }
  template <class Ask> bool add(Vec out, Ask&& ask) {
    std::vector<Real> own(out.size());
    std::fill(out.begin(), out.end(), 0.0);
    for (const auto& part : parts_) {
      if (!ask(*part, Vec(own))) return false;
      for (std::size_t k = 0; k < own.size(); ++k) out[k] += own[k];
    }
    return true;
  }
  // Features that have joined W since the parts were last told.
  void catch_up() {
    if (!names_ || std::size_t(names_->count()) == told_) return;
    join(names_->since(told_));
    told_ = std::size_t(names_->count());
  }
  // The best intercept, from a guess; then the derivatives, which it balances. See Problem::settle_intercept,
  // and SamplesInMemory::settle for losses with kinks: rounds go on at the guess, certificates want the best.
  void settle(Vec intercept) {
    if (!intercept_) return shift(0);
    struct Loss {
      SamplesInParts& parts;
      Slope slope(Real c) const { return parts.along_intercept(c); }
      Real largest() const { return parts.largest(); }
      bool smooth() const { return parts.loss_.smooth(); }
      bool piecewise() const { return parts.loss_.piecewise(); }
      bool quadratic() const { return parts.loss_.quadratic(); }
    };
    Real& own = intercept[0];
    const Shift best = best_shift_of(Loss{*this}, own);
    const bool better = best.found || value_shifted(best.best) < value_shifted(own);
    best_ = better ? best.best : own;
    if (!std::exchange(settled_, true) || !kinked()) own = best_;
    own_ = own;
    shift(own);
    balance();
  }

  Parts parts_;
  const SampleLoss& loss_;
  bool intercept_;
  std::vector<Real> scratch_; // slopes of one part
  Real softness_;             // of kinks
  Real best_ = 0, own_ = 0;   // intercepts: of the loss itself, and where the margins are
  bool settled_ = false;
  const FeatureNames* names_;
  std::size_t told_ = 0;
};

} // namespace southwell
