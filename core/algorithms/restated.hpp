// An algorithm at work on another form of the same problem: A = U V formed, say, where A is known by its
// factors. Certificates are of the problem as stated: both products are taken with its own data.
#pragma once
#include "core/drive.hpp"

namespace southwell {

class Restated final : public Algorithm {
public:
  // `inner` has coordinates of the same meaning.
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
