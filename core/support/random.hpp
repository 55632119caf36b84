// A small generator with the same stream on every platform: xoshiro256++ (Blackman and Vigna, 2019), seeded
// by splitmix64.
#pragma once
#include "core/concepts.hpp"
#include <array>
#include <bit>

namespace southwell {

class Random {
public:
  explicit Random(std::uint64_t seed) {
    for (auto& word : state_) {
      std::uint64_t z = (seed += 0x9e3779b97f4a7c15ULL);
      z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
      z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
      word = z ^ (z >> 31);
    }
  }

  std::uint64_t bits() {
    const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0], t = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= t;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform on 0, ..., n-1 without bias, for 1 <= n <= 2^32 (Lemire, 2019), or by rejection above.
  Index below(Index n) {
    const auto bound = std::uint64_t(n);
    if (bound >> 32) {
      const std::uint64_t mask = ~std::uint64_t{0} >> std::countl_zero(bound);
      for (;;)
        if (const auto draw = bits() & mask; draw < bound) return Index(draw);
    }
    std::uint64_t product = (bits() >> 32) * bound;
    if (std::uint32_t(product) < bound) {
      const std::uint64_t threshold = (std::uint64_t{1} << 32) % bound;
      while (std::uint32_t(product) < threshold) product = (bits() >> 32) * bound;
    }
    return Index(product >> 32);
  }

  Real unit() { return Real(bits() >> 11) * 0x1p-53; } // uniform on [0, 1)

private:
  std::array<std::uint64_t, 4> state_{};
};

} // namespace southwell
