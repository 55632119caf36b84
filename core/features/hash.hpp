// Rows hashed in many grids at once: h = sum_j r_j bin_j modulo 2^64, over the nonzeros of a row.
//
// With odd random r, two rows with different bins have the same h with probability 2^(v - 63), where 2^v is
// the largest power of two that divides all differences of their bins, usually 1. For n rows and D grids the
// probability of any such collision is about D n^2 2^-64: 1e-7 for 60,000 rows and 500 grids.
#pragma once
#include "core/concepts.hpp"
#include "core/support/simd.hpp"
#include <bit>
#include <cstring>
#include <vector>

namespace southwell {

// Nonzeros of consecutive rows, in double precision, features renumbered by their place in the tables.
struct PackedRows {
  std::vector<std::int32_t> places;
  std::vector<Real> values;
  std::vector<Index> starts;
  Index rows() const { return Index(starts.size()) - 1; }
};

inline constexpr Index lanes = 16; // grids hashed at once

namespace kernels {

// Adding 1.5 * 2^52 rounds to an integer, which is then in the low bits. No number is too large: beyond 2^51
// the bits still differ wherever the numbers do in double precision, and all that overflow share one bin.
inline constexpr Real to_integer = 6755399441055744.0;

// out[g * stride + i] = the hash of row i in grid g. `rulers` holds for each place the scales of all grids,
// then their shifts; `multipliers` one number for each place.
inline SOUTHWELL_CLONES void hash(const PackedRows& packed, const Real* rulers,
                                  const std::uint64_t* multipliers, std::uint64_t* out, Index stride) {
  for (Index i = 0; i < packed.rows(); ++i) {
    std::uint64_t sums[lanes] = {}, offset = 0;
#if defined(__GNUC__)
    // Without explicit vectors the compiler keeps the sums in memory, which takes more than twice as long.
    typedef Real Four __attribute__((vector_size(32), aligned(8), may_alias));
    typedef std::uint64_t FourBits __attribute__((vector_size(32)));
    static_assert(lanes == 16);
    FourBits s0 = {}, s1 = {}, s2 = {}, s3 = {};
    for (Index k = packed.starts[i]; k < packed.starts[i + 1]; ++k) {
      const Index place = packed.places[k];
      const Four* scale = reinterpret_cast<const Four*>(rulers + place * 2 * lanes);
      const Four* shift = scale + 4;
      const Real x = packed.values[k];
      const std::uint64_t r = multipliers[place];
      s0 += (FourBits)(x * scale[0] + shift[0] + to_integer) * r;
      s1 += (FourBits)(x * scale[1] + shift[1] + to_integer) * r;
      s2 += (FourBits)(x * scale[2] + shift[2] + to_integer) * r;
      s3 += (FourBits)(x * scale[3] + shift[3] + to_integer) * r;
      offset += r;
    }
    std::memcpy(sums, &s0, 32);
    std::memcpy(sums + 4, &s1, 32);
    std::memcpy(sums + 8, &s2, 32);
    std::memcpy(sums + 12, &s3, 32);
#else
    for (Index k = packed.starts[i]; k < packed.starts[i + 1]; ++k) {
      const Index place = packed.places[k];
      const Real *scale = rulers + place * 2 * lanes, *shift = scale + lanes, x = packed.values[k];
      const std::uint64_t r = multipliers[place];
#pragma omp simd
      for (Index g = 0; g < lanes; ++g)
        sums[g] += std::bit_cast<std::uint64_t>(x * scale[g] + shift[g] + to_integer) * r;
      offset += r;
    }
#endif
    offset *= std::bit_cast<std::uint64_t>(to_integer); // the bits that `to_integer` adds to each term
    for (Index g = 0; g < lanes; ++g) out[g * stride + i] = sums[g] - offset;
  }
}

} // namespace kernels

} // namespace southwell
