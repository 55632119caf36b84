// Fibers of the user's data: numbers are float32 or float64, positions of 32 or 64 bits.
//
// Algorithms are compiled for float64 values and 32-bit positions only. Other types are converted in chunks,
// as they are read, into a buffer that stays in the first-level cache; the data are never copied as a whole.
// Long loops over dense numbers have a version for float32 (the kernels of fiber.hpp).
#pragma once
#include "core/design/fiber.hpp"

namespace southwell {

// A pointer to numbers of one of two types.
template <class Usual, class Other> class EitherPointer {
public:
  EitherPointer(const Usual* at) : at_(at), usual_(true) {}
  EitherPointer(const Other* at) : at_(at), usual_(false) {}

  bool usual() const { return usual_; }
  const Usual* as_usual() const { return static_cast<const Usual*>(at_); }
  // h(pointer) with its type
  template <class H> SOUTHWELL_INLINE decltype(auto) typed(H&& h) const {
    return usual_ ? h(as_usual()) : h(static_cast<const Other*>(at_));
  }
  SOUTHWELL_INLINE EitherPointer operator+(Index by) const {
    return typed([&](const auto* at) { return EitherPointer(at + by); });
  }
  Index operator[](Index k) const
    requires std::integral<Usual>
  {
    return typed([&](const auto* at) { return Index(at[k]); });
  }
  void prefetch() const { SOUTHWELL_PREFETCH(at_); }

private:
  const void* at_;
  bool usual_;
};

using StoredNumbers = EitherPointer<double, float>;
using StoredPositions = EitherPointer<std::int32_t, std::int64_t>;

inline constexpr Index fiber_chunk = 128; // entries that are converted at a time

template <class H> using TermOf = std::remove_cvref_t<std::invoke_result_t<H, Index, Real>>;

class StoredDenseFiber {
public:
  StoredDenseFiber(StoredNumbers values, Index length, Real shift = 0, const Real* shifts = nullptr)
      : values_(values), shifts_(shifts), shift_(shift), length_(length) {}
  static StoredDenseFiber empty() { return {static_cast<const double*>(nullptr), 0}; }

  // h(the fiber with the type of its numbers)
  template <class H> SOUTHWELL_INLINE decltype(auto) typed(H&& h) const {
    return values_.typed(
        [&]<class Value>(const Value* at) { return h(DenseFiber<Value>(at, length_, shift_, shifts_)); });
  }
  Index size() const { return length_; }
  bool plain() const { return shift_ == 0 && !shifts_; }
  const Real* in_place(Index from) const {
    return plain() && values_.usual() ? values_.as_usual() + from : nullptr;
  }
  Real dot(CVec u) const {
    return typed([&](const auto& fiber) { return fiber.dot(u); });
  }
  rounding::Sum terms(CVec u) const {
    return typed([&](const auto& fiber) { return fiber.terms(u); });
  }
  void add_to(Vec v, Real a) const {
    typed([&](const auto& fiber) { fiber.add_to(v, a); });
  }
  void add_between(Index from, Index to, Vec v, Real a) const {
    typed([&](const auto& fiber) { fiber.add_between(from, to, v, a); });
  }
  void copy_stretch(Index from, Index count, Real* out) const {
    typed([&](const auto& fiber) { fiber.copy_stretch(from, count, out); });
  }
  template <class H> void visit(H&& h) const { visit_between(0, length_, h); }
  template <class H> void visit_between(Index from, Index to, H&& h) const {
    in_chunks(from, std::min(to, length_), [&](Index first, const Real* values, Index count) {
      for (Index k = 0; k < count; ++k) h(first + k, values[k]);
    });
  }
  template <class H> TermOf<H> sum(H&& h) const {
    TermOf<H> total{};
    in_chunks(0, length_, [&](Index first, const Real* values, Index count) {
      total += unrolled(count, [&](Index k) { return h(first + k, values[k]); });
    });
    return total;
  }

private:
  // Calls work(first position, values, count), once for all if no conversion is needed.
  template <class Work> SOUTHWELL_INLINE void in_chunks(Index from, Index to, Work&& work) const {
    Real buffer[fiber_chunk];
    const Real* all = in_place(0);
    while (from < to) {
      const Index count = all ? to - from : std::min(fiber_chunk, to - from);
      if (!all) copy_stretch(from, count, buffer);
      work(from, all ? all + from : buffer, count);
      from += count;
    }
  }

  StoredNumbers values_;
  const Real* shifts_;
  Real shift_;
  Index length_;
};

class StoredSparseFiber {
public:
  using Typed = SparseFiber<double, std::int32_t>; // what algorithms are compiled for

  StoredSparseFiber(StoredNumbers values, StoredPositions positions, Index size)
      : values_(values), positions_(positions), size_(size), usual_(values.usual() && positions.usual()) {}
  SOUTHWELL_INLINE StoredSparseFiber(const double* values, const std::int32_t* positions, Index size)
      : values_(values), positions_(positions), size_(size), usual_(true) {}
  static StoredSparseFiber empty() {
    return {static_cast<const double*>(nullptr), static_cast<const std::int32_t*>(nullptr), 0};
  }

  Index size() const { return size_; }
  // h(the fiber with the types of its numbers and positions)
  template <class H> decltype(auto) typed(H&& h) const {
    return values_.typed([&]<class Value>(const Value* values) {
      return positions_.typed([&]<class Position>(const Position* positions) {
        return h(SparseFiber<Value, Position>(values, positions, size_));
      });
    });
  }
  SOUTHWELL_INLINE Real dot(CVec u) const { return usual_ ? usual().dot(u) : other_dot(u); }
  SOUTHWELL_INLINE void add_to(Vec v, Real a) const { usual_ ? usual().add_to(v, a) : other_add_to(v, a); }
  rounding::Sum terms(CVec u) const {
    return sum([v = u.data()](Index i, Real a) { return rounding::Sum{a * v[i], std::abs(a * v[i])}; });
  }
  template <class H> SOUTHWELL_INLINE void visit(H&& h) const {
    in_chunks(0, [&](const Typed& chunk) {
      chunk.visit(h);
      return true;
    });
  }
  template <class H> void visit_between(Index from, Index to, H&& h) const {
    const Index first =
        positions_.typed([&](const auto* at) { return Index(std::lower_bound(at, at + size_, from) - at); });
    in_chunks(first, [&](const Typed& chunk) {
      Index k = 0;
      for (; k < chunk.size() && chunk.positions()[k] < to; ++k)
        h(Index(chunk.positions()[k]), chunk.values()[k]);
      return k == chunk.size();
    });
  }
  template <class H> SOUTHWELL_INLINE TermOf<H> sum(H&& h) const {
    TermOf<H> total{};
    in_chunks(0, [&](const Typed& chunk) {
      total += chunk.sum(h);
      return true;
    });
    return total;
  }

private:
  SOUTHWELL_INLINE Typed usual() const { return {values_.as_usual(), positions_.as_usual(), size_}; }
  SOUTHWELL_NOINLINE Real other_dot(CVec u) const {
    return typed([&](const auto& fiber) { return fiber.dot(u); });
  }
  SOUTHWELL_NOINLINE void other_add_to(Vec v, Real a) const {
    typed([&](const auto& fiber) { fiber.add_to(v, a); });
  }
  // Calls work(a part of the fiber) while it returns true, once for all if no conversion is needed.
  template <class Work> SOUTHWELL_INLINE void in_chunks(Index from, Work&& work) const {
    Chunk converted;
    do {
      Typed chunk(values_.as_usual() + from, positions_.as_usual() + from, size_ - from);
      if (!usual_) [[unlikely]]
        chunk = convert(from, converted);
      if (!work(chunk)) return;
      from += chunk.size();
    } while (from < size_);
  }
  struct Chunk {
    Real values[fiber_chunk];
    std::int32_t positions[fiber_chunk];
  };
  SOUTHWELL_NOINLINE Typed convert(Index from, Chunk& to) const {
    const Index count = std::min(fiber_chunk, size_ - from);
    values_.typed([&](const auto* at) {
      for (Index k = 0; k < count; ++k) to.values[k] = Real(at[from + k]);
    });
    positions_.typed([&](const auto* at) {
      for (Index k = 0; k < count; ++k) to.positions[k] = std::int32_t(at[from + k]);
    });
    return {to.values, to.positions, count};
  }

  StoredNumbers values_;
  StoredPositions positions_;
  Index size_;
  bool usual_;
};

static_assert(Fiber<StoredDenseFiber> && Fiber<StoredSparseFiber>);

} // namespace southwell
