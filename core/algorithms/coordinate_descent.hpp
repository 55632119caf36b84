// Coordinate descent, on either side, with any rule, loss, layout and coupling.
//
//   primal   min_x  sum_i s_i phi_i(a_i'x) + sum_j g_j(x_j)         coordinates: features, fibers: columns
//   dual     max_y  -sum_i s_i phi_i*(y_i) - sum_j g_j*(-z_j)       coordinates: samples,  fibers: rows
//   (SDCA)
//
// Both are min over alpha of f(A alpha) + sum_k h_k(alpha_k) (Perekrestenko, Cevher, Jaggi 2017, eq. 1), so
// one class serves both: the coupling reads the slope of coordinate k, the step solves k's own scalar
// problem, the coupling moves. An epoch is as many moves as coordinates and costs at most two passes over the
// stored entries.
#pragma once
#include "core/algorithms/rest.hpp"
#include "core/algorithms/steps.hpp"
#include "core/drive.hpp"
#include "core/rules/rule.hpp"
#include <array>
#include <memory>

namespace southwell {

template <Coupling C, class Step> class CoordinateDescent final : public Algorithm {
public:
  CoordinateDescent(C coupling, Step step, std::unique_ptr<Rule> rule, bool shrinking)
      : coupling_(std::move(coupling)), step_(std::move(step)), rule_(std::move(rule)),
        rest_(step_.coordinates(), shrinking) {}

  void epoch(Pulse& pulse) override {
    std::array<Index, 64> batch;
    for (Index left = step_.coordinates(); left > 0;) {
      const Index take = std::min({left, rule_->lookahead(), Index(batch.size())});
      rule_->next({batch.data(), std::size_t(take)});
      for (Index t = 0; t < take; ++t) {
        if (t + 8 < take && !rest_.asleep(batch[t + 8])) { // where the fiber starts, then the fiber
          coupling_.prefetch_start(batch[t + 8]);
          step_.prefetch(batch[t + 8]);
        }
        if (t + 3 < take && !rest_.asleep(batch[t + 3])) coupling_.prefetch(batch[t + 3]);
        if (pulse.beat(move(batch[t]))) return;
      }
      left -= take;
    }
    if constexpr (requires { coupling_.recentre(); }) coupling_.recentre();
  }

  void locate(Point& point) override { step_.locate(point, coupling_); }
  void resync(const Point& point) override { step_.resync(point, coupling_); }

private:
  Index move(Index k) { // returns the entries touched
    if (rest_.asleep(k)) {
      rest_.sleep_on(k);
      return 0;
    }
    const Real delta = step_(k, coupling_.read(k), coupling_);
    rest_.visited(k, delta != 0);
    if (delta == 0) return coupling_.read_cost(k);
    coupling_.move(k, delta);
    return coupling_.read_cost(k) + coupling_.move_cost(k);
  }

  C coupling_;
  Step step_;
  std::unique_ptr<Rule> rule_;
  Rest rest_;
};

} // namespace southwell
