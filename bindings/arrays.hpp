// NumPy arrays in and out. Arguments are arrays and `const char*`, not std::vector or std::string: those
// allocate as they are converted, where an exception would end the process.
#pragma once
#include "core/concepts.hpp"
#include <memory>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <stdexcept>
#include <vector>

namespace southwell {

template <class Value>
using Array = nanobind::ndarray<const Value, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
template <class Value>
using Matrix = nanobind::ndarray<const Value, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using Output = nanobind::ndarray<nanobind::numpy, Real, nanobind::ndim<1>>;

inline CVec view(const Array<Real>& a) { return {a.data(), a.shape(0)}; }
inline CVec sized(const Array<Real>& a, Index size) {
  if (Index(a.shape(0)) != size) throw std::invalid_argument("an array of the wrong length");
  return view(a);
}

template <class Value> std::vector<Value> copied(const Array<Value>& a) {
  return {a.data(), a.data() + a.shape(0)};
}

template <class Fill> Output filled(Index size, Fill&& fill) {
  auto made = std::make_unique<std::vector<Real>>(size);
  std::vector<Real>& values = *made;
  nanobind::capsule owner(&values, [](void* p) noexcept { delete static_cast<std::vector<Real>*>(p); });
  static_cast<void>(made.release()); // the capsule owns it now
  fill(Vec(values));
  return Output(values.data(), {std::size_t(size)}, owner);
}
inline auto to_numpy(std::span<const Index> v) {
  auto made = std::make_unique<std::vector<Index>>(v.begin(), v.end());
  Index* const values = made->data();
  nanobind::capsule owner(made.get(), [](void* p) noexcept { delete static_cast<std::vector<Index>*>(p); });
  static_cast<void>(made.release()); // the capsule owns it now
  return nanobind::ndarray<nanobind::numpy, Index, nanobind::ndim<1>>(values, {v.size()}, owner);
}
inline Output to_numpy(CVec v) {
  return filled(Index(v.size()), [&](Vec out) { std::copy(v.begin(), v.end(), out.begin()); });
}

} // namespace southwell
