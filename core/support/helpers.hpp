// Threads that help if they come in time: for work that is long enough to be divided, and too short to wait
// for anyone.
#pragma once
#include "core/support/team.hpp"
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
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

  // task(0), ..., task(parts - 1), each by the thread that comes first. A helper that is late finds nothing
  // left to do, and is not waited for: on a busy machine the caller does it all.
  template <class Task> void operator()(int parts, Task&& task) {
    if (threads_.forked()) {
      for (int k = 0; k < parts; ++k) task(k);
      return;
    }
    const std::function<void(int)> erased = std::ref(task);
    task_ = &erased;
    parts_ = parts;
    next_ = 0;
    open_ = true;
    call();
    claim();
    open_ = false; // threads that come now turn back; wait for those at work
    while (inside_ != 0) std::this_thread::yield();
    failure_.rethrow();
  }

private:
  void claim() noexcept {
    try {
      for (int k; (k = next_.fetch_add(1)) < parts_;) (*task_)(k);
    } catch (...) {
      failure_.keep();
      next_ = parts_; // what has not begun is left
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

  const std::function<void(int)>* task_ = nullptr;
  int parts_ = 0;
  std::atomic<int> next_ = 0, inside_ = 0;
  std::atomic<bool> open_ = false, over_ = false;
  std::atomic<unsigned> calls_ = 0;
  FirstFailure failure_;
  Team threads_; // the last: destroyed, and so joined, before what its threads look at
};

// Those of the solve that this thread is driving, so that products need not be handed any.
inline thread_local Helpers* helpers_at_hand = nullptr;

// Brings helpers for as long as it lives. All that are at work in this process share its processors: a solve
// beside others, as in a pool of threads, gets only those that are idle.
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

// How many parts a work of so many entries is worth.
inline int parts_of(std::int64_t entries) {
  return helpers_at_hand && entries >= 50'000 ? helpers_at_hand->count() + 1 : 1;
}
// task(part, parts) for each of them.
template <class Task> void divide(std::int64_t entries, Task&& task) {
  const int parts = parts_of(entries);
  if (parts == 1) return task(0, 1);
  (*helpers_at_hand)(parts, [&](int part) { task(part, parts); });
}

} // namespace southwell
