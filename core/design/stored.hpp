// The two ways to store a matrix along its contiguous axis. Neither owns its numbers.
#pragma once
#include "core/design/stored_fiber.hpp"
#include <memory>

namespace southwell {

// Dense fibers that are computed when they are read (formed_rows.hpp).
class MadeFibers {
public:
  virtual ~MadeFibers() = default;
  virtual const Real* operator()(Index k) const = 0;
};

class DenseFibers {
public:
  static constexpr bool dense = true;
  // `shifts`, if any, are constants to add: one for each fiber, or one for each position in all of them.
  DenseFibers(StoredNumbers values, Index count, Index length, const Real* shifts, bool shift_by_fiber)
      : values_(values), fiber_shifts_(shift_by_fiber ? shifts : nullptr),
        position_shifts_(shift_by_fiber ? nullptr : shifts), count_(count), length_(length) {}
  DenseFibers(std::shared_ptr<const MadeFibers> made, Index count, Index length)
      : DenseFibers(static_cast<const Real*>(nullptr), count, length, nullptr, false) {
    made_ = std::move(made);
  }

  Index count() const { return count_; }
  Index length() const { return length_; }
  Index entries() const { return count_ * length_; }
  Index fiber_at(Index entry) const { return length_ > 0 ? (entry + length_ - 1) / length_ : 0; }
  StoredDenseFiber operator[](Index k) const {
    if (made_) [[unlikely]]
      return {(*made_)(k), length_};
    return {values_ + k * length_, length_, fiber_shifts_ ? fiber_shifts_[k] : 0, position_shifts_};
  }
  StoredNumbers values() const { return values_; } // fiber after fiber, unless they are made
  Real shift(Index column) const {                 // whichever axis the fibers run along
    const Real* shifts = fiber_shifts_ ? fiber_shifts_ : position_shifts_;
    return shifts ? shifts[column] : 0;
  }
  void prefetch_start(Index) const {}
  void prefetch(Index k) const {
    if (!made_) (values_ + k * length_).prefetch();
  }

private:
  std::shared_ptr<const MadeFibers> made_; // or null
  StoredNumbers values_;
  const Real *fiber_shifts_, *position_shifts_;
  Index count_, length_;
};

class SparseFibers {
public:
  static constexpr bool dense = false;
  SparseFibers(StoredNumbers values, StoredPositions positions, StoredPositions starts, Index count,
               Index length)
      : values_(values), positions_(positions), starts_(starts), count_(count), length_(length),
        usual_(values.usual() && positions.usual() && starts.usual()) {}

  Index count() const { return count_; }
  Index length() const { return length_; }
  Index entries() const { return starts_[count_]; }
  Index fiber_at(Index entry) const { // the first that begins there or later
    return starts_.typed(
        [&](const auto* at) { return Index(std::lower_bound(at, at + count_, entry) - at); });
  }
  SOUTHWELL_INLINE StoredSparseFiber operator[](Index k) const {
    if (!usual_) [[unlikely]]
      return other(k);
    const std::int32_t* starts = starts_.as_usual();
    const Index start = starts[k];
    return {values_.as_usual() + start, positions_.as_usual() + start, starts[k + 1] - start};
  }
  void prefetch_start(Index k) const { (starts_ + k).prefetch(); }
  void prefetch(Index k) const {
    const Index start = starts_[k], end = std::min(starts_[k + 1], start + 48);
    for (Index at = start; at < end; at += 8) (values_ + at).prefetch(); // cache lines of float64
    for (Index at = start; at < end; at += 16) (positions_ + at).prefetch();
  }

private:
  SOUTHWELL_NOINLINE StoredSparseFiber other(Index k) const {
    const Index start = starts_[k];
    return {values_ + start, positions_ + start, starts_[k + 1] - start};
  }

  StoredNumbers values_;
  StoredPositions positions_, starts_;
  Index count_, length_;
  bool usual_; // float64 values and 32-bit positions
};

static_assert(Fibers<DenseFibers> && Fibers<SparseFibers>);

} // namespace southwell
