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

template <class... Stored> struct Storages {
  template <Axis axis> using Framings = std::variant<Framed<Stored, axis>...>;
  template <class S> static constexpr bool has = (std::is_same_v<S, Stored> || ...);
};

// Every layout multiplies what is compiled, so a build under sanitizers has a few of them (CMake:
// SOUTHWELL_LAYOUTS=some). They share all code but the types of numbers and of positions.
#ifdef SOUTHWELL_SOME_LAYOUTS
inline constexpr bool all_layouts = false;
using Compiled = Storages<DenseFibers<double>, SparseFibers<double, std::int32_t>>;
#else
inline constexpr bool all_layouts = true;
using Compiled = Storages<DenseFibers<float>, DenseFibers<double>, SparseFibers<float, std::int32_t>,
                          SparseFibers<float, std::int64_t>, SparseFibers<double, std::int32_t>,
                          SparseFibers<double, std::int64_t>>;
#endif

template <Axis axis> using Stores = Compiled::Framings<axis>;

using AnyLayout = std::variant<Stores<Axis::columns>, Stores<Axis::rows>, Factorised>;

// `work` with the stored design along whichever axis, or with the factorised one.
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

// The fibers of a stored layout along one axis, with all that its frame adds to them.
template <Axis axis> std::unique_ptr<AnyFibers> whole_fibers(const AnyLayout& layout) {
  if (!std::holds_alternative<Stores<axis>>(layout))
    throw std::invalid_argument("a layout along the wrong axis");
  return std::visit(
      []<class D>(const D& design) -> std::unique_ptr<AnyFibers> {
        return std::make_unique<FibersOf<D, true>>(design);
      },
      std::get<Stores<axis>>(layout));
}

} // namespace southwell
