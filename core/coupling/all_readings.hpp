// The reading (slope or margin) of every coordinate, updated at every move, for rules that need all scores.
#pragma once
#include "core/coupling/curved_readings.hpp"
#include "core/coupling/gram.hpp"
#include "core/coupling/linear_readings.hpp"
#include <type_traits>

namespace southwell {

// The Gram coupling stores them already.
template <class Map> class GramReadings {
public:
  GramReadings(Gram<Map>& gram, std::unique_ptr<AnyFibers>, Index) : gram_(gram) {}
  Real read(Index k) const { return gram_.read(k); }
  CVec plain() const { return gram_.all(); }
  bool all_changed() const { return true; }
  std::span<const std::uint32_t> changed() const { return {}; }
  void settle(Index, Interval) {}
  void refresh() {}
  void refresh(CVec) {}
  Index move(Index k, Real delta) {
    gram_.move(k, delta);
    return gram_.move_cost(k);
  }

private:
  Gram<Map>& gram_;
};

template <class C> struct ReadingsOf;
template <class D, class Map> struct ReadingsOf<Mirror<D, Map>> {
  using type = std::conditional_t<Map::linear, LinearReadings<D, Map>, CurvedReadings<D, Map>>;
};
template <class Map> struct ReadingsOf<Gram<Map>> {
  using type = GramReadings<Map>;
};
template <class C> using AllReadings = typename ReadingsOf<C>::type;

} // namespace southwell
