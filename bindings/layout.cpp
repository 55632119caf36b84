// Products with stored data, and type-erased fibers of them.
#include "bindings/layout.hpp"

namespace southwell {

template class Framed<DenseFibers, Axis::columns>;
template class Framed<DenseFibers, Axis::rows>;
template class Framed<SparseFibers, Axis::columns>;
template class Framed<SparseFibers, Axis::rows>;

template <Axis axis, bool whole> std::unique_ptr<AnyFibers> fibers_of(const AnyLayout& layout) {
  if (!std::holds_alternative<Stores<axis>>(layout))
    throw std::invalid_argument("a layout along the wrong axis");
  return std::visit(
      []<class D>(const D& design) -> std::unique_ptr<AnyFibers> {
        return std::make_unique<FibersOf<D, whole>>(design);
      },
      std::get<Stores<axis>>(layout));
}
template <Axis axis> std::unique_ptr<AnyFibers> whole_fibers(const AnyLayout& layout) {
  return fibers_of<axis, true>(layout);
}
template <Axis axis> std::unique_ptr<AnyFibers> stored_fibers(const AnyLayout& layout) {
  return fibers_of<axis, false>(layout);
}

template std::unique_ptr<AnyFibers> whole_fibers<Axis::columns>(const AnyLayout&);
template std::unique_ptr<AnyFibers> whole_fibers<Axis::rows>(const AnyLayout&);
template std::unique_ptr<AnyFibers> stored_fibers<Axis::columns>(const AnyLayout&);
template std::unique_ptr<AnyFibers> stored_fibers<Axis::rows>(const AnyLayout&);

} // namespace southwell
