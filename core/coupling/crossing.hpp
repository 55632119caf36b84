// The data along the other axis: which coordinates meet at a position. Erased, because a visit is long.
#pragma once
#include "core/concepts.hpp"
#include <algorithm>
#include <vector>

namespace southwell {

// Numbers that change a few at a time, and which of them did.
struct Ripple {
  std::vector<Real> values;
  std::vector<std::uint32_t> seen; // the round in which a number last changed
  std::vector<std::uint32_t> changed;
  std::uint32_t round = 1;

  explicit Ripple(Index n) : values(n), seen(n) {}
  void settle() { // forget which changed
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

class Crossing {
public:
  virtual ~Crossing() = default;
  virtual Index size(Index position) const = 0;
  // to += factor * (the fiber at the position), noting which change, or not
  virtual void add(Index position, Real factor, Ripple& to) const = 0;
  virtual void add(Index position, Real factor, Vec to) const = 0;

  template <class F> Index cost(const F& fiber) const { // of all that cross a fiber
    Index total = 0;
    fiber.visit([&](Index i, Real) { total += size(i); });
    return total;
  }
};

template <class D> class CrossingOf final : public Crossing {
public:
  explicit CrossingOf(const D& design) : design_(design) {}
  Index size(Index position) const override { return design_.fiber(position).size(); }
  void add(Index position, Real factor, Ripple& to) const override {
    design_.fiber(position).visit([&](Index k, Real a) {
      to.values[k] += factor * a;
      to.mark(k);
    });
  }
  void add(Index position, Real factor, Vec to) const override { design_.fiber(position).add_to(to, factor); }

private:
  const D& design_;
};

} // namespace southwell
