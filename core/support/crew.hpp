// Threads that wait for work: `crew(task)` runs task(0), ..., task(size - 1) at once and returns when all are
// done. They spin for a moment and then sleep, since a batch of rows may take only microseconds.
#pragma once
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
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

// The crew of the solve that this thread is driving, so that products need not be handed one.
inline thread_local Crew* crew_at_hand = nullptr;

// Brings a crew for as long as it lives. All that are at work in this process share its processors: a solve
// beside others, as in a pool of threads, gets only those that are idle.
class AtWork {
public:
  AtWork(int threads, int processors) : idle_(processors - 1 - at_work_.fetch_add(1)) {
    const int helpers = std::min(threads - 1, idle_);
    if (crew_at_hand || helpers < 1) return;
    at_work_ += helpers_ = helpers;
    crew_.emplace(helpers + 1);
    crew_at_hand = &*crew_;
  }
  AtWork(const AtWork&) = delete;
  ~AtWork() {
    if (crew_) crew_at_hand = nullptr;
    at_work_ -= 1 + helpers_;
  }

private:
  static inline std::atomic<int> at_work_ = 0;
  int idle_, helpers_ = 0;
  std::optional<Crew> crew_;
};

// task(part, parts) for each part of a work of so many entries; one part if it is small or nobody is at hand.
template <class Task> void divide(std::int64_t entries, Task&& task) {
  if (!crew_at_hand || entries < 50'000) return task(0, 1);
  (*crew_at_hand)([&, parts = crew_at_hand->size()](int part) { task(part, parts); });
}

} // namespace southwell
