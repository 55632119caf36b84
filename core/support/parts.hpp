// A list of parts is a std::variant of their types. A part has a `name`, and may have one number that can be
// set. What the list is asked for by name is answered by the parts themselves.
#pragma once
#include "core/support/math.hpp"
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

namespace southwell {

// The number of a part: where it is kept, and what it may be. Its default is the value in a new part.
template <class Part> struct Parameter {
  std::string_view name;
  Real Part::* field;
  bool zero = false;                // may it be 0? It is never negative.
  Real above = 0, below = infinity; // bounds it must not reach
};

template <class List> struct Parts;
template <class... Part> struct Parts<std::variant<Part...>> {
  using Any = std::variant<Part...>;

  // `visit(part)` for each part, as it is made without arguments.
  template <class Visit> static void each(Visit&& visit) { (visit(Part{}), ...); }

  // The part of this name; `parameter` concerns those that have one.
  static Any make(std::string_view name, Real parameter) {
    std::optional<Any> made;
    each([&]<class One>(One part) {
      if (One::name != name) return;
      if constexpr (requires { One::parameter; }) part.*One::parameter.field = parameter;
      made = part;
    });
    if (!made) throw std::invalid_argument("unknown part '" + std::string(name) + "'");
    return *made;
  }
};

} // namespace southwell
