// Every way the data may be stored, as one variant.
#pragma once
#include "core/design/any_fibers.hpp"
#include "core/design/factorised.hpp"
#include "core/design/framed.hpp"
#include "core/design/stored.hpp"
#include <memory>
#include <stdexcept>
#include <variant>

namespace southwell {

// These and the fibers are compiled in layout.cpp.
extern template class Framed<DenseFibers, Axis::columns>;
extern template class Framed<DenseFibers, Axis::rows>;
extern template class Framed<SparseFibers, Axis::columns>;
extern template class Framed<SparseFibers, Axis::rows>;

template <Axis axis> using Stores = std::variant<Framed<DenseFibers, axis>, Framed<SparseFibers, axis>>;

using AnyLayout = std::variant<Stores<Axis::columns>, Stores<Axis::rows>, Factorised>;

// Calls `work` with the design that is stored, along either axis, or with the factorised one.
template <class Work> decltype(auto) with_design(const AnyLayout& layout, Work&& work) {
  return std::visit(
      [&]<class L>(const L& one) -> decltype(auto) {
        if constexpr (std::is_same_v<L, Factorised>)
          return work(one);
        else
          return std::visit(work, one);
      },
      layout);
}

inline const Design& as_design(const AnyLayout& layout) {
  return with_design(layout, [](const auto& design) -> const Design& { return design; });
}

// The fibers of a stored layout along one axis, its frame (constants and intercept) included or apart.
template <Axis axis> std::unique_ptr<AnyFibers> whole_fibers(const AnyLayout& layout);
template <Axis axis> std::unique_ptr<AnyFibers> stored_fibers(const AnyLayout& layout);

} // namespace southwell
