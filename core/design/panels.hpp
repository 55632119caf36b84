// Dense fibers times tables, four fibers at a time, so that each number of the table is read once for four
// fibers, and 512 positions at a time, so that this part of the table stays in the cache.
#pragma once
#include "core/design/wide.hpp"
#include <type_traits>

namespace southwell {

// Four fibers over a stretch of positions, as float64 with their shifts; copied only if they are not stored
// so.
class FourFibers {
public:
  static constexpr Index most = 512; // positions in a stretch

  template <class Store> const Real* const* read(const Store& store, Index k, Index from, Index count) {
    for (Index f = 0; f < 4; ++f) {
      const auto fiber = store[k + f];
      at_[f] = buffer_[f];
      if (fiber.size() == 0) { // it stores nothing
        std::fill_n(buffer_[f], count, 0.0);
        continue;
      }
      if (const Real* numbers = fiber.in_place(from))
        at_[f] = numbers;
      else
        fiber.copy_stretch(from, count, buffer_[f]);
    }
    return at_;
  }

private:
  Real buffer_[4][most];
  const Real* at_[4];
};

inline Index wide_stretch(Index width) { return std::clamp<Index>(4096 / width, 64, FourFibers::most); }

// Where part `part` of `parts` begins among `count` fibers: at a multiple of four, so that the
// groups of four, and hence the numbers, do not depend on the number of parts.
inline Index start_of_part(Index count, int part, int parts) {
  return part == parts ? count : count * part / parts / 4 * 4;
}

// out_k += fiber k' V for the fibers from, ..., to - 1 of a dense store, over positions 0, ..., length - 1.
template <class Store>
void dots_of_dense(const Store& store, Index from, Index to, Index length, const Real* V, Index width,
                   Real* out) {
  FourFibers four;
  const Index by = wide_stretch(width);
  for (Index start = 0; start < length; start += by) {
    const Index count = std::min(by, length - start);
    Index k = from;
    for (; k + 4 <= to; k += 4)
      kernels::wide_dots(four.read(store, k, start, count), count, V + start * width, width, out + k * width);
    for (; k < to; ++k) dot_between(store[k], start, start + count, V, width, out + k * width);
  }
}
// V += sum_k fiber k c_k', for positions in a stretch.
template <class Store>
void add_dense(const Store& store, Index fibers, Index from, Index to, const Real* c, Index width, Real* V) {
  FourFibers four;
  const Index by = wide_stretch(width);
  const auto zero = [&](Index k, Index count) {
    return std::all_of(c + k * width, c + (k + count) * width, [](Real v) { return v == 0; });
  };
  for (Index start = from; start < to; start += by) {
    const Index count = std::min(by, to - start);
    Index k = 0;
    for (; k + 4 <= fibers; k += 4)
      if (!zero(k, 4))
        kernels::wide_adds(four.read(store, k, start, count), count, c + k * width, width, V + start * width);
    for (; k < fibers; ++k)
      if (!zero(k, 1)) add_between(store[k], start, start + count, c + k * width, width, V);
  }
}

} // namespace southwell
