// Type-erased fibers. A visit takes long, so a virtual call is cheap. For algorithms that read the data along
// both axes, or two factors, and would otherwise be compiled for every pair of layouts.
#pragma once
#include "core/concepts.hpp"
#include "core/design/wide.hpp"
#include <algorithm>
#include <vector>

namespace southwell {

// A vector of numbers, or of rows of `width` numbers, that records which of them have changed.
struct Ripple {
  std::vector<Real> values;
  std::vector<std::uint32_t> seen; // the round in which each last changed
  std::vector<std::uint32_t> changed;
  std::uint32_t round = 1;

  explicit Ripple(Index n, Index width = 1) : values(n * width), seen(n) {}
  void settle() { // clears the record
    changed.clear();
    if (++round == 0) {
      std::fill(seen.begin(), seen.end(), 0);
      round = 1;
    }
  }
  void mark(Index k) {
    if (seen[k] == round) return;
    seen[k] = round;
    changed.push_back(std::uint32_t(k));
  }
};

class AnyFibers {
public:
  virtual ~AnyFibers() = default;
  virtual Index count() const = 0;
  virtual Index length() const = 0;
  virtual Index size(Index k) const = 0;
  virtual Real dot(Index k, CVec v) const = 0;
  // to += factor * (fiber k), with and without a record of the changes
  virtual void add(Index k, Real factor, Ripple& to) const = 0;
  virtual void add(Index k, Real factor, Vec to) const = 0;
  // the same with a row of `width` numbers at each position
  virtual void dot(Index k, const Real* table, Index width, Real* out) const = 0; // out = , not +=
  virtual void add(Index k, const Real* factors, Index width, Real* table) const = 0;
  virtual void add(Index k, const Real* factors, Index width, Ripple& to) const = 0;
  // What the frame adds to fiber k, where these are the stored ones: gamma(k) times `common`, which is empty
  // if there is no frame (framed.hpp).
  virtual Real gamma(Index k) const = 0;
  virtual std::vector<Real> common() const = 0;
  // overwrites both vectors with the positions and values of fiber k
  virtual void copy(Index k, std::vector<Index>& positions, std::vector<Real>& values) const = 0;

  template <class F> Index cost(const F& fiber) const { // entries in all fibers that cross `fiber`
    Index total = 0;
    fiber.visit([&](Index i, Real) { total += size(i); });
    return total;
  }
};

// The stored fibers of a design; if `whole`, with what the frame adds to them (see framed.hpp).
template <class D, bool whole = false> class FibersOf final : public AnyFibers {
public:
  explicit FibersOf(const D& design) : design_(design) {}
  Index count() const override { return design_.coordinates(); }
  Index length() const override { return design_.positions(); }
  Index size(Index k) const override {
    return design_.fiber(k).size() + (frames(k) ? design_.common().size() : 0);
  }
  Real dot(Index k, CVec v) const override {
    const Real own = design_.fiber(k).dot(v);
    return frames(k) ? own + design_.gamma(k) * design_.common().dot(v) : own;
  }
  void add(Index k, Real factor, Ripple& to) const override {
    visit(k, [&](Index i, Real a) {
      to.values[i] += factor * a;
      to.mark(i);
    });
  }
  void add(Index k, Real factor, Vec to) const override {
    design_.fiber(k).add_to(to, factor);
    if (frames(k)) design_.common().add_to(to, factor * design_.gamma(k));
  }
  void dot(Index k, const Real* table, Index width, Real* out) const override {
    std::fill_n(out, width, 0.0);
    dot_wide(design_.fiber(k), table, width, out);
    if (!frames(k)) return;
    std::vector<Real> along(static_cast<std::size_t>(width));
    dot_wide(design_.common(), table, width, along.data());
    for (Index c = 0; c < width; ++c) out[c] += design_.gamma(k) * along[c];
  }
  void add(Index k, const Real* factors, Index width, Real* table) const override {
    add_wide(design_.fiber(k), factors, width, table);
    if (!frames(k)) return;
    std::vector<Real> framed(factors, factors + width);
    for (Real& factor : framed) factor *= design_.gamma(k);
    add_wide(design_.common(), framed.data(), width, table);
  }
  void add(Index k, const Real* factors, Index width, Ripple& to) const override {
    if (width == 1) return add(k, *factors, to);
    visit(k, [&](Index i, Real a) {
      Real* row = to.values.data() + i * width;
      for (Index c = 0; c < width; ++c) row[c] += a * factors[c];
      to.mark(i);
    });
  }
  Real gamma(Index k) const override { return !whole && design_.shifted() ? design_.gamma(k) : 0; }
  std::vector<Real> common() const override {
    std::vector<Real> all;
    if (whole || !design_.shifted()) return all;
    all.resize(std::size_t(length()));
    design_.common().add_to(all, 1);
    return all;
  }
  void copy(Index k, std::vector<Index>& positions, std::vector<Real>& values) const override {
    positions.clear();
    values.clear();
    visit(k, [&](Index i, Real a) {
      positions.push_back(i);
      values.push_back(a);
    });
  }

private:
  bool frames(Index k) const { return whole && design_.shifted() && design_.gamma(k) != 0; }
  template <class H> void visit(Index k, H&& h) const {
    design_.fiber(k).visit(h);
    if (frames(k))
      design_.common().visit([&, gamma = design_.gamma(k)](Index i, Real w) { h(i, gamma * w); });
  }

  const D& design_;
};

} // namespace southwell
