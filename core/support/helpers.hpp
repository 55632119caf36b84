// Helper threads for work that is long enough to be divided, but too short to wait for a thread that starts
// late.
#pragma once
#include "core/support/task.hpp"
#include "core/support/team.hpp"
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

namespace southwell {

class Helpers {
public:
  explicit Helpers(int count) {
    threads_.start(count, [this](int) { help(); });
  }
  Helpers(const Helpers&) = delete;
  ~Helpers() {
    over_ = true;
    call();
  }
  int count() const { return threads_.size(); }

  // Runs task(0), ..., task(parts - 1), each on the first free thread: the caller takes them from the first
  // on, helpers from the last on, so that a thread meets the same part again, whose numbers are in its cache.
  // The caller does not wait for a helper that is late: on a busy machine it runs all tasks itself.
  void operator()(int parts, Task<int> task) {
    if (threads_.forked()) {
      for (int k = 0; k < parts; ++k) task(k);
      return;
    }
    task_ = &task;
    left_ = std::uint64_t(parts) << 32;
    open_ = true;
    call();
    claim(true);
    open_ = false; // late threads do nothing; wait for those at work
    while (inside_ != 0) std::this_thread::yield();
    failure_.rethrow();
  }

private:
  void claim(bool first) noexcept {
    try {
      for (int k; (k = taken(first)) >= 0;) (*task_)(k);
    } catch (...) {
      failure_.keep();
      left_ = 0; // tasks that have not begun are dropped
    }
  }
  int taken(bool first) { // the first or the last task that is left, or -1
    for (std::uint64_t left = left_;;) {
      const auto from = std::uint32_t(left), to = std::uint32_t(left >> 32);
      if (from >= to) return -1;
      const std::uint64_t others = first ? left + 1 : left - (std::uint64_t{1} << 32);
      if (left_.compare_exchange_weak(left, others)) return int(first ? from : to - 1);
    }
  }
  void call() {
    ++calls_;
    calls_.notify_all();
  }
  void help() {
    for (unsigned heard = 0;;) {
      for (int spin = 0; spin < 10'000 && calls_ == heard; ++spin) {}
      calls_.wait(heard);
      heard = calls_;
      if (over_) return;
      ++inside_;
      if (open_) claim(false);
      --inside_;
    }
  }

  const Task<int>* task_ = nullptr;
  std::atomic<std::uint64_t> left_ = 0; // of tasks: the first, and, in the upper half, the one after the last
  std::atomic<int> inside_ = 0;
  std::atomic<bool> open_ = false, over_ = false;
  std::atomic<unsigned> calls_ = 0;
  FirstFailure failure_;
  Team threads_; // the last member: its threads are joined before the others are destroyed
};

// The helpers of the solve that runs on this thread. Thread-local, so that products need no argument for
// them.
inline thread_local Helpers* helpers_at_hand = nullptr;
// The number of threads that this solve was given, whether or not processors are idle.
inline thread_local int threads_given = 1;

// Provides helpers for as long as it lives. All solves of the process share the processors: one that runs
// beside others, as in a pool of threads, gets helpers for idle processors only.
class AtWork {
public:
  AtWork(int threads, int processors)
      : outer_(std::exchange(threads_given, std::max(std::min(threads, processors), 1))) {
    const int idle = processors - 1 - threads_at_work.fetch_add(1), wanted = std::min(threads - 1, idle);
    if (helpers_at_hand || wanted < 1) return;
    threads_at_work += hired_ = wanted;
    helpers_.emplace(wanted);
    helpers_at_hand = &*helpers_;
  }
  AtWork(const AtWork&) = delete;
  ~AtWork() {
    threads_given = outer_;
    if (helpers_) helpers_at_hand = nullptr;
    if (born_ == forks) threads_at_work -= 1 + hired_;
  }

private:
  int outer_, hired_ = 0;
  unsigned born_ = forks;
  std::optional<Helpers> helpers_;
};

// The number of parts into which work on so many entries is divided.
inline int parts_of(std::int64_t entries) {
  return helpers_at_hand && entries >= 50'000 ? helpers_at_hand->count() + 1 : 1;
}
// Runs task(part, parts) for each part.
inline void divide(std::int64_t entries, Task<int, int> task) {
  const int parts = parts_of(entries);
  if (parts == 1) return task(0, 1);
  (*helpers_at_hand)(parts, [&](int part) { task(part, parts); });
}

} // namespace southwell
