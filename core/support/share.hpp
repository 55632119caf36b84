// Independent tasks shared among threads, the calling one included.
#pragma once
#include "core/concepts.hpp"
#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace southwell {

// Runs task(k, stopped) for k = 0, ..., tasks - 1. `interrupted()` is asked by the calling thread alone, now
// and then as its tasks ask `stopped()`; once it says yes, all tasks are told to leave. Returns whether all
// were finished.
template <class Task, class Interrupted>
bool share(Index tasks, Index threads, Task&& task, Interrupted&& interrupted) {
  std::atomic<Index> next = 0, working = 0;
  std::atomic<bool> stop = false;
  std::exception_ptr failure;
  std::mutex guard;
  const auto work = [&](auto&& stopped) {
    try {
      for (Index k; !stop && (k = next++) < tasks;) task(k, stopped);
    } catch (...) {
      const std::lock_guard lock(guard);
      if (!failure) failure = std::current_exception();
      stop = true;
    }
  };
  const auto ask = [&] { return stop || (stop = interrupted()); };
  std::vector<std::thread> crew;
  crew.reserve(std::size_t(std::max<Index>(std::min(threads, tasks) - 1, 0)));
  for (Index t = 1; t < std::min(threads, tasks); ++t) {
    ++working;
    try {
      crew.emplace_back([&] {
        work([&] { return stop.load(std::memory_order_relaxed); });
        --working;
      });
    } catch (const std::system_error&) { // no more threads to be had: go on with those there are
      --working;
      break;
    }
  }
  work(ask);
  while (working > 0 && !ask()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  for (std::thread& worker : crew) worker.join();
  if (failure) std::rethrow_exception(failure);
  return !stop;
}

} // namespace southwell
