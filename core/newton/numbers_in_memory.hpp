// Samples of one margin each that are in memory, all of them or a part: sums over their rows for models and
// certificates that have no samples. The kernels are those of the model that has (model.hpp).
#pragma once
#include "core/best_shift.hpp"
#include "core/newton/formed.hpp"
#include "core/newton/moments.hpp"
#include "core/newton/number_products.hpp"
#include "core/newton/samples_in_memory.hpp"
#include "core/newton/weighted_product.hpp"

namespace southwell {

class NumbersInMemory : public SamplesInMemory {
public:
  NumbersInMemory(const Problem& problem, const NumberProducts& products, CVec y, Real softness,
                  const Policy& policy)
      : SamplesInMemory(problem, products, y, softness, policy), numbers_(problem), exact_(policy),
        weighted_{products.columns(), expansion_, exact_}, formed_(weighted_), product_(weighted_) {
    exact_.weights_alike = 0; // or H would depend on how the rows are divided
  }

  Index entries() override { return columns().entries(); }
  bool expand(const Floor& floor) override { return expand(floor, 0); }
  bool expand(const Floor& floor, Real steepest) override {
    measured_ = false;
    if (!SamplesInMemory::expand(floor, steepest) || margins_.empty()) return false;
    formed_.changed();
    return true;
  }
  Real steepest() override {
    loss_.derivative(margins_, y_);
    step_.resize(y_.size());
    loss_.curvature(y_, step_);
    const CVec s = numbers_.loss.weights();
    Real most = 0;
    for (std::size_t i = 0; i < step_.size(); ++i) most = s[i] > 0 ? std::max(most, step_[i] / s[i]) : most;
    return most;
  }

  void moments(std::span<Design::Moments> out) override {
    measure();
    const Real total = std::reduce(expansion_.r.begin(), expansion_.r.end());
    for (Index k = 0; k < columns().count(); ++k) {
      const Coordinate& c = weighted_.coordinates[k];
      out[k] = {c.slope + c.gamma * total, c.weighted + c.gamma * expansion_.total_h, c.curvature};
    }
  }
  bool gram(Slots slots, Index from, Vec lines, const Spend& spend) override {
    measure();
    formed_.form(slots, spend);
    if (!std::all_of(slots.begin(), slots.end(), [&](Index k) { return formed_.knows(k); })) return false;
    auto to = lines.begin();
    for (Index a = from; a < Index(slots.size()); ++a)
      for (Index b = 0; b <= a; ++b) *to++ = formed_(slots[a], slots[b]);
    return true;
  }
  bool product(Slots slots, CVec v, Vec out, const Spend& spend) override {
    measure();
    return !spend(product_(slots, slots, v, out));
  }

  Sums sums() override {
    const CVec s = numbers_.loss.weights();
    Sums all{.terms = numbers_.loss.size(margins_, y_)};
    for (std::size_t i = 0; i < s.size(); ++i) {
      all.square += s[i] * y_[i] * y_[i];
      all.margins += s[i] * margins_[i] * margins_[i];
    }
    return all;
  }
  std::vector<Real> conjugates(CVec scales) override {
    std::vector<Real> all;
    for (const Real t : scales) // y may hold NaN
      all.push_back(numbers_.loss.conjugate(t == 0 ? std::vector<Real>(y_.size()) : y_, t));
    return all;
  }

  void put(CVec x) override { products_.forward(x, margins_); }
  void put_all(CVec x) override { numbers_.design.apply(x, margins_); }
  Slope along_intercept(Real shift) override { return numbers_.loss.slope(margins_, shift); }
  Real value_shifted(Real shift) override { return numbers_.loss.value(margins_, shift); }
  Real largest() override { return largest_number(numbers_.loss, margins_); }
  void shift(Real by) override {
    for (Real& m : margins_) m += by;
    loss_.derivative(margins_, y_);
  }
  Signs signs() override {
    const CVec s = numbers_.loss.weights();
    CompensatedSum above, below;
    for (std::size_t i = 0; i < s.size(); ++i) (y_[i] > 0 ? above : below).add(s[i] * std::abs(y_[i]));
    return {above.value(), below.value()};
  }
  void scale(Signs by) override {
    for (Real& v : y_) v *= v > 0 ? by.above : by.below;
  }

private:
  const WorkingColumns& columns() const { return weighted_.columns; }

  // What is stored of each column, and its curvature with the frame.
  void measure() {
    if (measured_ && Index(weighted_.coordinates.size()) == columns().count()) return;
    measured_ = true;
    weighted_.coordinates.resize(std::size_t(columns().count()), Coordinate{.x = 0, .g = {}});
    const CVec r = expansion_.r, h = expansion_.h;
    const auto take = [&](const Design::Moments& sums, Index k) {
      Coordinate& c = weighted_.coordinates[k];
      const Real gamma = c.gamma = columns().gamma(k);
      c.slope = sums.slope;
      c.weighted = sums.weighted;
      c.curvature =
          std::max(sums.square + 2 * gamma * sums.weighted + gamma * gamma * expansion_.total_h, 0.0);
    };
    if (columns().by_rows()) {
      std::vector<Design::Moments> all(std::size_t(columns().design().cols()));
      columns().design().moments(r, h, all);
      for (Index k = 0; k < columns().count(); ++k) take(all[columns().name(k)], k);
    } else {
      columns().visit([&](const auto& store) {
        divide(columns().entries(), [&](int part, int parts) {
          const Index count = columns().count();
          for (Index k = count * part / parts; k < count * (part + 1) / parts; ++k)
            take(moments_of(store[k], r, h), k);
        });
      });
    }
  }

  const Problem& numbers_;
  Policy exact_;
  Weighted weighted_;
  FormedHessian formed_;
  WeightedProduct product_;
  bool measured_ = false;
};

} // namespace southwell
