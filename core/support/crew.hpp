// Threads that wait for work: `crew(task)` runs task(0), ..., task(size - 1) at once and returns when all are
// done. They spin for a moment and then sleep, since a batch of rows may take only microseconds.
#pragma once
#include "core/support/team.hpp"
#include <atomic>
#include <functional>

namespace southwell {

class Crew {
public:
  explicit Crew(int size) {
    workers_.start(size - 1, [this](int k) { work(k + 1); });
  }
  Crew(const Crew&) = delete;
  ~Crew() {
    task_ = nullptr;
    begin();
  }
  int size() const { return workers_.size() + 1; }

  template <class Task> void operator()(Task&& task) {
    if (workers_.size() == 0) return task(0);
    if (workers_.forked()) {
      for (int k = 0; k < size(); ++k) task(k);
      return;
    }
    const std::function<void(int)> erased = std::ref(task);
    task_ = &erased;
    left_.store(unsigned(workers_.size()), std::memory_order_relaxed);
    begin();
    take_part(0);
    for (unsigned left; (left = left_.load(std::memory_order_acquire)) != 0;) pause(left_, left);
    failure_.rethrow();
  }

private:
  void begin() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  void take_part(int k) noexcept {
    try {
      (*task_)(k);
    } catch (...) { failure_.keep(); }
  }
  void work(int k) {
    for (unsigned seen = 0;;) {
      for (unsigned round; (round = round_.load(std::memory_order_acquire)) == seen;) pause(round_, seen);
      ++seen;
      if (!task_) return;
      take_part(k);
      if (left_.fetch_sub(1, std::memory_order_acq_rel) == 1) left_.notify_one();
    }
  }
  static void pause(std::atomic<unsigned>& number, unsigned while_it_is) {
    for (int spin = 0; spin < 2000; ++spin)
      if (number.load(std::memory_order_relaxed) != while_it_is) return;
    number.wait(while_it_is, std::memory_order_acquire);
  }

  const std::function<void(int)>* task_ = nullptr;
  std::atomic<unsigned> round_ = 0, left_ = 0;
  FirstFailure failure_;
  Team workers_; // the last member: its threads are joined before the others are destroyed
};

} // namespace southwell
