// The two ways to store a matrix along its contiguous axis. Neither owns its numbers.
#pragma once
#include "core/design/fiber.hpp"

namespace southwell {

template <class Value> class DenseFibers {
public:
  using Number = Value;
  static constexpr bool dense = true;
  // `shifts`, if any, are constants to add: one for each fiber, or one for each position in all of them.
  DenseFibers(const Value* values, Index count, Index length, const Real* shifts, bool shift_by_fiber)
      : values_(values), fiber_shifts_(shift_by_fiber ? shifts : nullptr),
        position_shifts_(shift_by_fiber ? nullptr : shifts), count_(count), length_(length) {}

  Index count() const { return count_; }
  Index length() const { return length_; }
  Index entries() const { return count_ * length_; }
  Index fiber_at(Index entry) const { return length_ > 0 ? (entry + length_ - 1) / length_ : 0; }
  DenseFiber<Value> operator[](Index k) const {
    return {values_ + k * length_, length_, fiber_shifts_ ? fiber_shifts_[k] : 0, position_shifts_};
  }
  const Value* values(Index k) const { return values_ + k * length_; }
  Real shift(Index column) const { // whichever axis the fibers run along
    const Real* shifts = fiber_shifts_ ? fiber_shifts_ : position_shifts_;
    return shifts ? shifts[column] : 0;
  }
  void prefetch_start(Index) const {}
  void prefetch(Index k) const { SOUTHWELL_PREFETCH(values_ + k * length_); }

private:
  const Value* values_;
  const Real *fiber_shifts_, *position_shifts_;
  Index count_, length_;
};

template <class Value, class Position> class SparseFibers {
public:
  using Number = Value;
  static constexpr bool dense = false;
  SparseFibers(const Value* values, const Position* positions, const Position* starts, Index count,
               Index length)
      : values_(values), positions_(positions), starts_(starts), count_(count), length_(length) {}

  Index count() const { return count_; }
  Index length() const { return length_; }
  Index entries() const { return starts_[count_]; }
  Index fiber_at(Index entry) const { // the first that begins there or later
    return std::lower_bound(starts_, starts_ + count_, Position(entry)) - starts_;
  }
  SparseFiber<Value, Position> operator[](Index k) const {
    const Index start = starts_[k];
    return {values_ + start, positions_ + start, Index(starts_[k + 1]) - start};
  }
  void prefetch_start(Index k) const { SOUTHWELL_PREFETCH(starts_ + k); }
  void prefetch(Index k) const {
    const Index start = starts_[k];
    SOUTHWELL_PREFETCH(values_ + start);
    SOUTHWELL_PREFETCH(values_ + start + 64 / sizeof(Value));
    SOUTHWELL_PREFETCH(positions_ + start);
  }

private:
  const Value* values_;
  const Position *positions_, *starts_;
  Index count_, length_;
};

static_assert(Fibers<DenseFibers<float>> && Fibers<SparseFibers<double, std::int64_t>>);

} // namespace southwell
