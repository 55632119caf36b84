// The interpreter lock. As the interpreter shuts down, CPython before 3.14 ends every other thread that asks
// for the lock by pthread_exit, and glibc then unwinds the stack of that thread as an exception would. It
// would meet destructors and handlers that cannot let it pass, and the process would abort. So a thread that
// is ended here waits for the end of the process instead, as it does in CPython from 3.14 on.
#pragma once
#include <nanobind/nanobind.h>
#if defined(__GLIBC__)
#include <cxxabi.h>
#include <unistd.h>
#endif

namespace southwell {

// Calls `work()`, which may wait for the lock or run Python.
template <class Work> decltype(auto) outliving(Work&& work) {
#if defined(__GLIBC__)
  try {
    return work();
  } catch (abi::__forced_unwind&) {
    for (;;) pause();
  }
#else
  return work();
#endif
}

// Releases the lock for as long as the object lives.
class Unlocked {
public:
  Unlocked() : state_(PyEval_SaveThread()) {}
  Unlocked(const Unlocked&) = delete;
  ~Unlocked() {
    outliving([this] { PyEval_RestoreThread(state_); });
  }

private:
  PyThreadState* state_;
};

// Calls `work()` with the lock held; it may be held already.
template <class Work> decltype(auto) locked(Work&& work) {
  struct Lock {
    PyGILState_STATE state = outliving([] { return PyGILState_Ensure(); });
    ~Lock() { PyGILState_Release(state); }
  };
  const Lock lock;
  return outliving(work);
}

} // namespace southwell
