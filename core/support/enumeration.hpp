// An enumeration whose enumerators are listed once and have their names at run time:
//
//     #define MY_LIST(one) one(first) one(second)
//     SOUTHWELL_ENUMERATION(Mine, MY_LIST)
//
// makes `enum class Mine { first, second }`, `name_of(Mine)` and `names_of<Mine>`.
#pragma once
#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

#define SOUTHWELL_ENUMERATOR(name) name,
#define SOUTHWELL_QUOTED(name) #name,

#define SOUTHWELL_ENUMERATION(Type, list)                                                                    \
  enum class Type { list(SOUTHWELL_ENUMERATOR) };                                                            \
  template <>                                                                                                \
  inline constexpr auto names_of<Type> = std::to_array<std::string_view>({list(SOUTHWELL_QUOTED)});

namespace southwell {

template <class Type> inline constexpr auto names_of = 0;
template <class Type> std::string_view name_of(Type value) { return names_of<Type>[std::size_t(value)]; }

// The enumerator of this name.
template <class Type> Type named(std::string_view name) {
  for (std::size_t k = 0; k < names_of<Type>.size(); ++k)
    if (names_of<Type>[k] == name) return Type(k);
  throw std::invalid_argument("unknown name '" + std::string(name) + "'");
}

} // namespace southwell
