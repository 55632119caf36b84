// Threads do not survive a fork: in the child there is only the one that forked. `forks` grows in the child,
// so that threads which belong to a process before it are not waited for, and those at work are counted
// afresh.
#pragma once
#include <atomic>
#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace southwell {

inline std::atomic<unsigned> forks = 0;
inline std::atomic<int> threads_at_work = 0; // of all solves in this process

#if !defined(_WIN32)
inline const bool forks_are_counted = pthread_atfork(nullptr, nullptr, [] {
                                        ++forks;
                                        threads_at_work = 0;
                                      }) == 0;
#endif

} // namespace southwell
