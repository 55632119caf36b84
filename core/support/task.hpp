// A reference to a function object with arguments `Arguments`. A function that takes one is compiled once for
// all tasks, and each task once, where a template would compile both for every pair of them.
#pragma once
#include <memory>
#include <type_traits>

namespace southwell {

template <class... Arguments> class Task {
public:
  template <class F>
    requires(!std::is_same_v<std::remove_cvref_t<F>, Task>)
  Task(F&& work) // not explicit: lambdas are passed as they are; the reference ends with the call
      : work_(std::addressof(work)), call_([](const void* at, Arguments... arguments) {
          (*static_cast<std::remove_reference_t<F>*>(const_cast<void*>(at)))(arguments...);
        }) {}
  void operator()(Arguments... arguments) const { call_(work_, arguments...); }

private:
  const void* work_;
  void (*call_)(const void*, Arguments...);
};

} // namespace southwell
