// Shares independent tasks among threads, the calling one included.
#pragma once
#include "core/concepts.hpp"
#include "core/support/team.hpp"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

namespace southwell {

// Runs task(k, stopped) for k = 0, ..., tasks - 1. Tasks call `stopped()`
// regularly and end if it is true. On the calling thread this calls `interrupted()`; once that is true, all
// tasks end. Returns whether all were finished.
template <class Task, class Interrupted>
bool share(Index tasks, Index threads, Task&& task, Interrupted&& interrupted) {
  std::atomic<Index> next = 0, working = 0;
  std::atomic<bool> stop = false;
  FirstFailure failure;
  const auto work = [&](auto&& stopped) {
    try {
      for (Index k; !stop && (k = next++) < tasks;) task(k, stopped);
    } catch (...) {
      failure.keep();
      stop = true;
    }
  };
  const auto ask = [&] { return stop || (stop = interrupted()); };
  {
    Team crew;
    const int wanted = int(std::clamp<Index>(std::min(threads, tasks) - 1, 0, 1 << 16));
    working = wanted;
    crew.start(wanted, [&](int) {
      work([&] { return stop.load(std::memory_order_relaxed); });
      --working;
    });
    working -= wanted - crew.size(); // those that the system could not start
    work(ask);
    while (working > 0 && !ask()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  failure.rethrow();
  return !stop;
}

} // namespace southwell
