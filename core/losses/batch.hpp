// Batch functions of a loss of one's own, as southwell.losses.Compiled takes them: from a struct with the
// functions of one sample, each a static function of a margin m and a target b.
//
//     #include "core/losses/batch.hpp"
//     struct PseudoHuber {
//       static double value(double m, double b) { return std::sqrt(1 + (m - b) * (m - b)) - 1; }
//       static double derivative(double m, double b) { return (m - b) / std::sqrt(1 + (m - b) * (m - b)); }
//       static double second_derivative(double m, double b) { return std::pow(1 + (m - b) * (m - b), -1.5); }
//     };
//     SOUTHWELL_BATCH(pseudo_huber, PseudoHuber)
//
// This makes pseudo_huber_value, pseudo_huber_derivative and pseudo_huber_second_derivative.
// core/support/math.hpp has functions that vectorise: log1p_exp, sigmoid, exponential.
#pragma once
#include "core/support/math.hpp"
#include <cmath>
#include <cstdint>

#if defined(_WIN32)
#define SOUTHWELL_EXPORT extern "C" __declspec(dllexport)
#else
#define SOUTHWELL_EXPORT extern "C" __attribute__((visibility("default")))
#endif

#define SOUTHWELL_BATCH_OF(name, Mine, asked)                                                                \
  SOUTHWELL_EXPORT void name##_##asked(std::int64_t n, const double* m, const double* b, double* out) {      \
    for (std::int64_t i = 0; i < n; ++i) out[i] = Mine::asked(m[i], b[i]);                                   \
  }

#define SOUTHWELL_BATCH(name, Mine)                                                                          \
  SOUTHWELL_BATCH_OF(name, Mine, value)                                                                      \
  SOUTHWELL_BATCH_OF(name, Mine, derivative)                                                                 \
  SOUTHWELL_BATCH_OF(name, Mine, second_derivative)
