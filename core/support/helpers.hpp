// Threads that help if they come in time: for work that is long enough to be divided, and too short to wait
// for anyone.
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

class Helpers {
public:
  explicit Helpers(int count) {
    try {
      for (int k = 0; k < count; ++k) threads_.emplace_back([this] { help(); });
    } catch (const std::system_error&) {} // the system has no more: those there are will do
  }
  Helpers(const Helpers&) = delete;
  ~Helpers() {
    over_ = true;
    call();
    for (std::thread& thread : threads_) thread.join();
  }
  int count() const { return int(threads_.size()); }

  // task(0), ..., task(parts - 1), each by whoever comes first. A helper that is late finds nothing left to
  // do, and nobody waits for it: on a busy machine the caller does it all.
  template <class Task> void operator()(int parts, Task&& task) {
    const std::function<void(int)> erased = std::ref(task);
    task_ = &erased;
    parts_ = parts;
    next_ = 0;
    open_ = true;
    call();
    claim();
    open_ = false; // whoever comes now turns back at the door; wait for those inside
    while (inside_ != 0) std::this_thread::yield();
  }

private:
  void claim() {
    for (int k; (k = next_.fetch_add(1)) < parts_;) (*task_)(k);
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
  std::vector<std::thread> threads_;
};

// Those of the solve that this thread is driving, so that products need not be handed any.
inline thread_local Helpers* helpers_at_hand = nullptr;

// Brings helpers for as long as it lives. All that are at work in this process share its processors: a solve
// beside others, as in a pool of threads, gets only those that are idle.
class AtWork {
public:
  AtWork(int threads, int processors) {
    const int idle = processors - 1 - at_work_.fetch_add(1), wanted = std::min(threads - 1, idle);
    if (helpers_at_hand || wanted < 1) return;
    at_work_ += hired_ = wanted;
    helpers_.emplace(wanted);
    helpers_at_hand = &*helpers_;
  }
  AtWork(const AtWork&) = delete;
  ~AtWork() {
    if (helpers_) helpers_at_hand = nullptr;
    at_work_ -= 1 + hired_;
  }

private:
  static inline std::atomic<int> at_work_ = 0;
  int hired_ = 0;
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
