// Some of the rows, in a file that is mapped: each answer that may read them lets them go afterwards, and
// those that read all of them ask the system for the next part before. What has the length of the samples,
// and the columns of the working set, stay in memory.
#pragma once
#include "core/newton/samples_in_parts.hpp"
#include "core/support/mapped.hpp"

namespace southwell {

class PartInFile final : public PartInMemory {
public:
  // `next` is what is read after this part; both outlive it.
  PartInFile(const Problem& rows, Real softness, const Policy& policy, const Mapped& own, const Mapped& next)
      : PartInMemory(rows, softness, policy), own_(own), next_(next) {}

  void join(std::span<const Index> names) override {
    next_.read_ahead();
    const LetGo after{own_};
    PartInMemory::join(names);
  }
  void slopes(Vec out) override {
    next_.read_ahead();
    const LetGo after{own_};
    PartInMemory::slopes(out);
  }
  void put_all(CVec x) override {
    next_.read_ahead();
    const LetGo after{own_};
    PartInMemory::put_all(x);
  }
  // These read the columns of the working set, or rows where it has most of the data and no columns.
  void put(CVec x) override {
    const LetGo after{own_};
    PartInMemory::put(x);
  }
  Real aim(CVec change) override {
    const LetGo after{own_};
    return PartInMemory::aim(change);
  }
  void moments(std::span<Design::Moments> out) override {
    const LetGo after{own_};
    PartInMemory::moments(out);
  }
  bool gram(Slots slots, Index from, Vec lines, const Spend& spend) override {
    const LetGo after{own_};
    return PartInMemory::gram(slots, from, lines, spend);
  }
  bool product(Slots slots, CVec v, Vec out, const Spend& spend) override {
    const LetGo after{own_};
    return PartInMemory::product(slots, v, out, spend);
  }

private:
  struct LetGo {
    const Mapped& mapped;
    ~LetGo() { mapped.let_go(); }
  };

  const Mapped &own_, &next_;
};

} // namespace southwell
