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

  // Runs task(0), ..., task(parts - 1), each on the first free thread. The caller does not wait for a helper
  // that is late: on a busy machine it runs all tasks itself.
  void operator()(int parts, Task<int> task) {
    if (threads_.forked()) {
      for (int k = 0; k < parts; ++k) task(k);
      return;
    }
    task_ = &task;
    parts_ = parts;
    next_ = 0;
    open_ = true;
    call();
    claim();
    open_ = false; // late threads do nothing; wait for those at work
    while (inside_ != 0) std::this_thread::yield();
    failure_.rethrow();
  }

private:
  void claim() noexcept {
    try {
      for (int k; (k = next_.fetch_add(1)) < parts_;) (*task_)(k);
    } catch (...) {
      failure_.keep();
      next_ = parts_; // tasks that have not begun are dropped
    }
  }
  void call() {
    ++calls_;
    calls_.notify_all();
  }
  void help() {
    for (unsigned heard = 0;;) {
      for (int spin = 0; spin < 2000 && calls_ == heard; ++spin) {}
      calls_.wait(heard);
      heard = calls_;
      if (over_) return;
      ++inside_;
      if (open_) claim();
      --inside_;
    }
  }

  const Task<int>* task_ = nullptr;
  int parts_ = 0;
  std::atomic<int> next_ = 0, inside_ = 0;
  std::atomic<bool> open_ = false, over_ = false;
  std::atomic<unsigned> calls_ = 0;
  FirstFailure failure_;
  Team threads_; // the last member: its threads are joined before the others are destroyed
};

// The helpers of the solve that runs on this thread. Thread-local, so that products need no argument for
// them.
inline thread_local Helpers* helpers_at_hand = nullptr;

// Provides helpers for as long as it lives. All solves of the process share the processors: one that runs
// beside others, as in a pool of threads, gets helpers for idle processors only.
class AtWork {
public:
  AtWork(int threads, int processors) {
    const int idle = processors - 1 - threads_at_work.fetch_add(1), wanted = std::min(threads - 1, idle);
    if (helpers_at_hand || wanted < 1) return;
    threads_at_work += hired_ = wanted;
    helpers_.emplace(wanted);
    helpers_at_hand = &*helpers_;
  }
  AtWork(const AtWork&) = delete;
  ~AtWork() {
    if (helpers_) helpers_at_hand = nullptr;
    if (born_ == forks) threads_at_work -= 1 + hired_;
  }

private:
  int hired_ = 0;
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
