// All readings (slopes or margins) where the map is curved (see maps.hpp), by the cheaper of two ways:
//
// * Walking: for each position whose image changed, add the change along the crossing fiber.
// * Watching: most coordinates are at their optimum (content): their score is zero and stays zero while their
// reading
//   stays in an interval (Scoreboard). A reading changes by at most ||fiber|| times the length of the path of
//   the image, so a content coordinate need not be read (it sleeps) until the path is long enough to reach
//   the end of the interval. The scores are exact: those of sleeping coordinates are zero.
//
// Walking is cheaper for sparse data with many restless coordinates (those that are not content), watching
// for all else. The wake-up times are maintained while walking, so watching can begin at any move; before
// walking again, all readings are recomputed.
//
// Memory: O(coordinates).
#pragma once
#include "core/coupling/mirror.hpp"
#include "core/design/any_fibers.hpp"
#include <memory>

namespace southwell {

template <class D, class Map> class CurvedReadings {
public:
  // `crossing` is null for dense data.
  CurvedReadings(Mirror<D, Map>& mirror, std::unique_ptr<AnyFibers> crossing, Index)
      : mirror_(mirror), design_(mirror.design()), crossing_(std::move(crossing)),
        own_(design_.coordinates()), wake_(design_.coordinates()) {
    if (design_.common_to_all()) return; // every move changes every reading: none can sleep
    for (Index k = 0; k < design_.coordinates(); ++k)
      lengths_.push_back(std::sqrt(design_.fiber(k).sum([](Index, Real a) { return a * a; })));
  }

  SOUTHWELL_INLINE Real read(Index k) const { return mirror_.framed(k, own_.values[k]); }
  CVec plain() const { return {}; }
  bool all_changed() const { return all_changed_; }
  std::span<const std::uint32_t> changed() const { return changed_; }

  void refresh() {
    read_all();
    begin();
  }
  void refresh(CVec readings) {
    if (design_.shifted()) return refresh();
    std::copy(readings.begin(), readings.end(), own_.values.begin());
    begin();
  }
  // `quiet` is the interval of readings for which the score of k is zero; empty if the score is not zero.
  void settle(Index k, Interval quiet) {
    if (lengths_.empty()) return;
    const Real reading = own_.values[k], slack = std::min(reading - quiet.lo, quiet.hi - reading);
    const bool was_restless = wake_[k] < 0;
    if (slack <= 0 || (design_.shifted() && design_.gamma(k) != 0))
      wake_[k] = -1;
    else if (lengths_[k] == 0)
      wake_[k] = std::numeric_limits<float>::max();
    else // rounded down: to wake early costs a reading, to wake late would be wrong
      wake_[k] = float(std::min((path_ + slack / lengths_[k]) * (1 - 1e-6), 1e38));
    restless_ += (int(wake_[k] < 0) - int(was_restless)) * design_.fiber(k).size();
  }

  Index move(Index k, Real delta) {
    const bool whole_frame = design_.shifted() && design_.gamma(k) != 0 && design_.common().size() > 1;
    const bool look = !watching_ || ++since_look_ >= 64;
    const Index walk =
        look && crossing_ && !whole_frame ? crossing_->cost(design_.fiber(k)) : design_.stored();
    own_.settle();
    all_changed_ = design_.common_to_all();
    const Index before = look ? decide(walk) : 0;
    if (watching_) return before + watch(k, delta);
    if (walk >= design_.stored()) {
      mirror_.move(k, delta);
      all_changed_ = true;
      read_all();
    } else {
      mirror_.move(k, delta, [&](Index i, Real change) {
        if (change != 0) crossing_->add(i, change, own_);
      });
    }
    changed_ = own_.changed;
    return before + std::min(walk, design_.stored()) + mirror_.move_cost(k);
  }

private:
  void read_all() {
    for (Index k = 0; k < design_.coordinates(); ++k) own_.values[k] = mirror_.own(k);
  }
  void begin() {
    path_ = 0;
    watching_ = false;
  }
  Index decide(Index walk) { // walk or watch? Returns the entries read
    since_look_ = 0;
    typical_ = typical_ < 0 ? Real(walk) : 0.9 * typical_ + 0.1 * Real(walk);
    const Real limit = std::min(typical_, Real(design_.stored()));
    if (!watching_) watching_ = !lengths_.empty() && Real(restless_) < limit;
    if (!watching_ || Real(restless_) < 2 * limit) return 0;
    read_all();
    watching_ = false;
    return design_.stored();
  }
  Index watch(Index k, Real delta) {
    Real square = 0;
    mirror_.move(k, delta, [&](Index, Real change) { square += change * change; });
    path_ += std::sqrt(square);
    Index cost = mirror_.move_cost(k) + design_.coordinates() / 16; // wake-up times are compared with SIMD
    constexpr Index block = 64;
    for (Index start = 0, n = design_.coordinates(); start < n; start += block) {
      const Index end = std::min(start + block, n);
      if (!any_awake(&wake_[start], end - start)) continue;
      for (Index l = start; l < end; ++l)
        if (wake_[l] < path_) {
          own_.values[l] = mirror_.own(l);
          own_.changed.push_back(std::uint32_t(l));
          cost += design_.fiber(l).size();
        }
    }
    changed_ = own_.changed;
    return cost;
  }
  bool any_awake(const float* wake, Index n) const {
    float first = wake[0];
#pragma omp simd reduction(min : first)
    for (Index l = 1; l < n; ++l) first = std::min(first, wake[l]);
    return first < path_;
  }

  Mirror<D, Map>& mirror_;
  const D& design_;
  std::unique_ptr<AnyFibers> crossing_;
  Ripple own_; // readings without the part of the frame; out of date for sleeping coordinates
  std::vector<float> wake_;
  std::vector<Real> lengths_;
  std::span<const std::uint32_t> changed_;
  Real path_ = 0;
  Real typical_ = -1;                   // entries a walk visits
  Index restless_ = 0, since_look_ = 0; // entries in the fibers of restless coordinates; moves since `decide`
  bool watching_ = false, all_changed_ = false;
};

} // namespace southwell
