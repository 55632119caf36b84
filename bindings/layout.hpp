// Every way the data may be stored, as one variant.
#pragma once
#include "core/design/framed.hpp"
#include "core/design/stored.hpp"
#include <variant>

namespace southwell {

template <Axis axis>
using Stores = std::variant<
    Framed<DenseFibers<float>, axis>, Framed<DenseFibers<double>, axis>,
    Framed<SparseFibers<float, std::int32_t>, axis>, Framed<SparseFibers<float, std::int64_t>, axis>,
    Framed<SparseFibers<double, std::int32_t>, axis>, Framed<SparseFibers<double, std::int64_t>, axis>>;

using AnyLayout = std::variant<Stores<Axis::columns>, Stores<Axis::rows>>;

inline const Design& as_design(const AnyLayout& layout) {
  return std::visit(
      [](const auto& stores) -> const Design& {
        return std::visit([](const auto& design) -> const Design& { return design; }, stores);
      },
      layout);
}

} // namespace southwell
