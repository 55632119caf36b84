// Products of fibers with tables that have `width` numbers at each position, in one pass over the entries.
// For width one the functions of the fiber are used.
#pragma once
#include "core/design/fiber.hpp"
#include <array>

namespace southwell {

// The stretch of a dense fiber between two positions, a few hundred entries at a time, as float64 with its
// shift: h(first position, values, count).
template <class Value, class H>
void in_stretches(const DenseFiber<Value>& fiber, Index from, Index to, H&& h) {
  constexpr Index most = 512;
  std::array<Real, most> buffer;
  to = std::min(to, fiber.size());
  for (Index start = from; start < to; start += most) {
    const Index count = std::min(most, to - start);
    fiber.copy_stretch(start, count, buffer.data());
    h(start, buffer.data(), count);
  }
}

// out += fiber' V, for positions in a stretch
template <class Value>
void dot_between(const DenseFiber<Value>& fiber, Index from, Index to, const Real* V, Index width,
                 Real* out) {
  if (fiber.plain()) {
    to = std::min(to, fiber.size());
    if (from < to) kernels::wide_dot_in_row(fiber.values() + from, to - from, V + from * width, width, out);
    return;
  }
  in_stretches(fiber, from, to, [&](Index start, const Real* a, Index count) {
    kernels::wide_dot_in_row(a, count, V + start * width, width, out);
  });
}
// V += fiber coefficients', for positions in a stretch
template <class Value>
void add_between(const DenseFiber<Value>& fiber, Index from, Index to, const Real* c, Index width, Real* V) {
  if (fiber.plain()) {
    to = std::min(to, fiber.size());
    if (from < to) kernels::wide_add_in_row(fiber.values() + from, to - from, c, width, V + from * width);
    return;
  }
  in_stretches(fiber, from, to, [&](Index start, const Real* a, Index count) {
    kernels::wide_add_in_row(a, count, c, width, V + start * width);
  });
}

template <class Value> void dot_wide(const DenseFiber<Value>& fiber, const Real* V, Index width, Real* out) {
  if (width == 1) return void(*out += fiber.dot({V, std::size_t(fiber.size())}));
  dot_between(fiber, 0, fiber.size(), V, width, out);
}
template <class Value> void add_wide(const DenseFiber<Value>& fiber, const Real* c, Index width, Real* V) {
  if (width == 1) return fiber.add_to({V, std::size_t(fiber.size())}, *c);
  add_between(fiber, 0, fiber.size(), c, width, V);
}
template <class Value, class Position>
void dot_wide(const SparseFiber<Value, Position>& fiber, const Real* V, Index width, Real* out) {
  if (width == 1)
    return void(*out += fiber.dot({V, std::size_t(fiber.size())})); // `dot` does not use the length
  kernels::wide_dot_at(fiber.values(), fiber.positions(), fiber.size(), V, width, out);
}
template <class Value, class Position>
void add_wide(const SparseFiber<Value, Position>& fiber, const Real* c, Index width, Real* V) {
  if (width == 1) return fiber.add_to({V, std::size_t(fiber.size())}, *c);
  kernels::wide_add_at(fiber.values(), fiber.positions(), fiber.size(), c, width, V);
}

// The same for stored fibers, dispatched on their types.
template <class F>
concept Untyped = requires(const F f) { f.typed([](const auto&) {}); };

void dot_between(const Untyped auto& fiber, Index from, Index to, const Real* V, Index width, Real* out) {
  fiber.typed([&](const auto& typed) { dot_between(typed, from, to, V, width, out); });
}
void add_between(const Untyped auto& fiber, Index from, Index to, const Real* c, Index width, Real* V) {
  fiber.typed([&](const auto& typed) { add_between(typed, from, to, c, width, V); });
}
void dot_wide(const Untyped auto& fiber, const Real* V, Index width, Real* out) {
  fiber.typed([&](const auto& typed) { dot_wide(typed, V, width, out); });
}
void add_wide(const Untyped auto& fiber, const Real* c, Index width, Real* V) {
  fiber.typed([&](const auto& typed) { add_wide(typed, c, width, V); });
}

} // namespace southwell
