// The loops over dense numbers, and over fibers times tables of `width` numbers at each position. They are
// defined in kernel_loops.hpp, which only one file includes: each is compiled for several instruction sets,
// and the loader's choice among them rules out inlining anyway. Values are float or double, positions of 32
// or 64 bits.
#pragma once
#include "core/concepts.hpp"
#include "core/support/rounding.hpp"

namespace southwell::kernels {

template <class Value> Real dot(const Value* a, const Real* v, Index n);
template <class Value> void add(const Value* a, Real c, Real* v, Index n); // v += c a

// The same for values plus one shift, or a shift for each position.
template <class Value> Real dot(const Value* a, Real shift, const Real* v, Index n);
template <class Value> void add(const Value* a, Real shift, Real c, Real* v, Index n);
template <class Value> Real dot(const Value* a, const Real* shifts, const Real* v, Index n);
template <class Value> void add(const Value* a, const Real* shifts, Real c, Real* v, Index n);

// A dot product, and the sum of the absolute values of its terms.
template <class Value> rounding::Sum terms(const Value* a, const Real* v, Index n);

// out += sum_k a_k V[k], or V[p_k];  V[k] += a_k c, or V[p_k]
template <class Value>
void wide_dot_in_row(const Value* a, Index size, const Real* V, Index width, Real* out);
template <class Value> void wide_add_in_row(const Value* a, Index size, const Real* c, Index width, Real* V);
template <class Value, class Position>
void wide_dot_at(const Value* a, const Position* p, Index size, const Real* V, Index width, Real* out);
template <class Value, class Position>
void wide_add_at(const Value* a, const Position* p, Index size, const Real* c, Index width, Real* V);

// out_f += sum_i a_f[i] V_i for four fibers f, rows of `width` numbers;  V_i += sum_f a_f[i] c_f
void wide_dots(const Real* const* a, Index size, const Real* V, Index width, Real* out);
void wide_adds(const Real* const* a, Index size, const Real* by, Index width, Real* V);

} // namespace southwell::kernels
