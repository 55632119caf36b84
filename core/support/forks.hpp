// Threads do not survive a fork: the child has only the thread that forked. `forks` is incremented in the
// child, so that it does not wait for threads of the parent, and counts its own threads from zero.
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
