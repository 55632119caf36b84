// Runs an algorithm on another form of the problem, such as the explicit product A = U V of factorised data.
// Certificates are computed for the problem as stated, with its own data.
#pragma once
#include "core/drive.hpp"

namespace southwell {

class Restated final : public Algorithm {
public:
  // `inner` has the same coordinates x and y.
  Restated(const Problem& stated, Algorithm& inner) : stated_(stated), inner_(inner) {}

  void epoch(Pulse& pulse) override { inner_.epoch(pulse); }
  void locate(Point& point) override {
    inner_.locate(point);
    complete(stated_, point);
  }
  void resync(const Point& point) override { inner_.resync(point); }
  void judge(const Certifier& certifier, const Unit& unit) override { inner_.judge(certifier, unit); }
  bool eager() const override { return inner_.eager(); }
  bool begun() const override { return inner_.begun(); }
  Account account() const override { return inner_.account(); }
  std::vector<Effort> parts() const override { return inner_.parts(); }
  std::vector<Index> draw(Index moves) override { return inner_.draw(moves); }
  std::vector<Index> lead(Index moves) override { return inner_.lead(moves); }

private:
  const Problem& stated_;
  Algorithm& inner_;
};

} // namespace southwell
