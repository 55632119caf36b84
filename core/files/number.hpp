// Decimal numbers in text, as the doubles nearest to them: those that Python's `float` gives.
#pragma once
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>
#if !defined(__cpp_lib_to_chars) // libc++ before version 20
#include <cstdlib>
#include <string>
#if !defined(_WIN32)
#include <locale.h>
#if defined(__APPLE__)
#include <xlocale.h>
#endif
#endif
#endif

namespace southwell {

inline bool digit(char c) { return unsigned(c - '0') < 10; }

namespace number_parts {

inline constexpr std::array<double, 23> powers_of_ten = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                                         1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                                         1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// Digits with a point and an exponent, of any length, at `from`; correctly rounded. `exponent` is the power
// of ten of the last digit before `end` of the mantissa, `significant` the number of digits after leading
// zeros.
inline double nearest_double(const char* from, const char* end, std::int64_t magnitude) {
#if defined(__cpp_lib_to_chars)
  double value = 0;
  const auto read = std::from_chars(from, end, value);
  if (read.ec == std::errc()) return value;
  return magnitude > 0 ? std::numeric_limits<double>::infinity() : 0.0; // out of range: above or below
#else
  static_cast<void>(magnitude);
  const std::string copy(from, end);
#if defined(_WIN32)
  return std::strtod(copy.c_str(), nullptr);
#else
  static const locale_t plain = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(copy.c_str(), nullptr, plain);
#endif
#endif
}

} // namespace number_parts

// Reads a number at `from`, which must be followed by some character that is no part of one, such as a
// newline. Returns the end of the number, or null if there is none: digits, perhaps with a sign, a point and
// an exponent. Numbers beyond the range of doubles are infinite; "inf" and "nan" are not numbers.
inline const char* read_number(const char* from, double& value) {
  const char* at = from;
  const bool negative = *at == '-';
  at += *at == '-' || *at == '+';
  const char* const begin = at;
  std::uint64_t mantissa = 0; // wraps if there are more than 19 digits, and is then not used
  while (digit(*at)) mantissa = 10 * mantissa + std::uint64_t(*at++ - '0');
  std::int64_t digits = at - begin, exponent = 0;
  if (*at == '.') {
    const char* const point = ++at;
    while (digit(*at)) mantissa = 10 * mantissa + std::uint64_t(*at++ - '0');
    exponent = point - at;
    digits += at - point;
  }
  if (digits == 0) return nullptr;
  if (*at == 'e' || *at == 'E') {
    ++at;
    const bool below = *at == '-';
    at += *at == '-' || *at == '+';
    if (!digit(*at)) return nullptr;
    std::int64_t shift = 0;
    for (; digit(*at); ++at)
      if (shift < std::int64_t{1} << 50) shift = 10 * shift + (*at - '0');
    exponent += below ? -shift : shift;
  }
  using namespace number_parts;
  // An integer below 2^53 and a power of ten up to 10^22 are exact doubles, and one operation rounds
  // correctly.
  if (digits <= 19 && mantissa <= std::uint64_t{1} << 53 && exponent >= -22 && exponent <= 22) {
    const double exact = double(mantissa);
    value = exponent < 0 ? exact / powers_of_ten[std::size_t(-exponent)]
                         : exact * powers_of_ten[std::size_t(exponent)];
  } else {
    std::int64_t leading = 0; // zeros before the first digit that counts
    for (const char* zero = begin; *zero == '0' || *zero == '.'; ++zero) leading += *zero == '0';
    value = nearest_double(begin, at, digits - leading + exponent);
  }
  if (negative) value = -value;
  return at;
}

} // namespace southwell
