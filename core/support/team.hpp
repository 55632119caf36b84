// What groups of threads have in common: starting and joining them, and passing on an exception of a task.
#pragma once
#include "core/support/forks.hpp"
#include <atomic>
#include <exception>
#include <memory>
#include <new>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace southwell {

class Team {
public:
  // Starts `count` threads, or as many as the system can start; fewer are no error, because the work is
  // shared by those that exist.
  template <class Work> void start(int count, Work&& work) {
    try {
      threads_ = std::make_unique<std::vector<std::thread>>();
      threads_->reserve(std::size_t(count));
      for (int k = 0; k < count; ++k) threads_->emplace_back(work, k);
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {}
  }
  ~Team() {
    if (forked()) // the threads do not exist in the child, and an unjoined std::thread must not be destroyed
      static_cast<void>(threads_.release());
    else if (threads_)
      for (std::thread& thread : *threads_) thread.join();
  }
  int size() const { return threads_ ? int(threads_->size()) : 0; }
  bool forked() const { return born_ != forks.load(std::memory_order_relaxed); }

private:
  std::unique_ptr<std::vector<std::thread>> threads_;
  unsigned born_ = forks;
};

// The first exception of tasks that run concurrently. Threads catch what their tasks throw, since an
// exception that leaves a thread ends the process; the caller throws it again when all threads are done.
class FirstFailure {
public:
  void keep() noexcept { // called in a catch block
    if (!taken_.exchange(true)) failure_ = std::current_exception();
  }
  void rethrow() {
    if (!taken_) return;
    taken_ = false;
    std::rethrow_exception(std::exchange(failure_, nullptr));
  }

private:
  std::atomic<bool> taken_ = false;
  std::exception_ptr failure_;
};

} // namespace southwell
