// Threads that wait for work: `crew(task)` runs task(0), ..., task(size - 1) at once and returns when all are
// done. They spin for a moment and then sleep, since a batch of rows may take only microseconds.
#pragma once
#include <atomic>
#include <functional>
#include <system_error>
#include <thread>
#include <vector>

namespace southwell {

class Crew {
public:
  explicit Crew(int size) {
    try {
      for (int k = 1; k < size; ++k) workers_.emplace_back([this, k] { work(k); });
    } catch (const std::system_error&) {} // the system has no more: those there are will do
  }
  Crew(const Crew&) = delete;
  ~Crew() {
    task_ = nullptr;
    begin();
    for (std::thread& worker : workers_) worker.join();
  }
  int size() const { return int(workers_.size()) + 1; }

  template <class Task> void operator()(Task&& task) {
    if (workers_.empty()) return task(0);
    const std::function<void(int)> erased = std::ref(task);
    task_ = &erased;
    left_.store(unsigned(workers_.size()), std::memory_order_relaxed);
    begin();
    task(0);
    for (unsigned left; (left = left_.load(std::memory_order_acquire)) != 0;) pause(left_, left);
  }

private:
  void begin() {
    round_.fetch_add(1, std::memory_order_release);
    round_.notify_all();
  }
  void work(int k) {
    for (unsigned seen = 0;;) {
      for (unsigned round; (round = round_.load(std::memory_order_acquire)) == seen;) pause(round_, seen);
      ++seen;
      if (!task_) return;
      (*task_)(k);
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
  std::vector<std::thread> workers_;
};

} // namespace southwell
