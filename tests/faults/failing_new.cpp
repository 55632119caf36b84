// An `operator new` that fails when told to, for LD_PRELOAD. Calls are counted once armed; the k-th fails,
// and with `lasting` all that follow it too. The counters are atomic, since a solve allocates on several
// threads.
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace {
std::atomic<long> calls{0}, failing_call{0}, failures{0};
std::atomic<bool> armed{false}, lasting{false};

void* allocated(std::size_t size, std::size_t alignment) noexcept {
  if (armed.load(std::memory_order_relaxed)) {
    const long call = ++calls, k = failing_call.load(std::memory_order_relaxed);
    if (call == k || (lasting.load(std::memory_order_relaxed) && call > k)) {
      ++failures;
      return nullptr;
    }
  }
  if (size == 0) size = 1;
  if (alignment <= alignof(std::max_align_t)) return std::malloc(size);
  return std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}
void* allocated_or_throw(std::size_t size, std::size_t alignment) {
  if (void* memory = allocated(size, alignment)) return memory;
  throw std::bad_alloc();
}
constexpr std::size_t natural = alignof(std::max_align_t);
} // namespace

extern "C" {
void fail_new_at(long k, int and_later) {
  calls = failures = 0;
  failing_call = k;
  lasting = and_later != 0;
  armed = true;
}
long stop_failing() { // how many calls failed
  armed = false;
  return failures;
}
long calls_of_new() { return calls; }
}

void* operator new(std::size_t n) { return allocated_or_throw(n, natural); }
void* operator new[](std::size_t n) { return allocated_or_throw(n, natural); }
void* operator new(std::size_t n, std::align_val_t a) { return allocated_or_throw(n, std::size_t(a)); }
void* operator new[](std::size_t n, std::align_val_t a) { return allocated_or_throw(n, std::size_t(a)); }
void* operator new(std::size_t n, const std::nothrow_t&) noexcept { return allocated(n, natural); }
void* operator new[](std::size_t n, const std::nothrow_t&) noexcept { return allocated(n, natural); }
void* operator new(std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocated(n, std::size_t(a));
}
void* operator new[](std::size_t n, std::align_val_t a, const std::nothrow_t&) noexcept {
  return allocated(n, std::size_t(a));
}
void operator delete(void* p) noexcept { std::free(p); }
void operator delete[](void* p) noexcept { std::free(p); }
void operator delete(void* p, std::size_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t) noexcept { std::free(p); }
void operator delete(void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete[](void* p, std::size_t, std::align_val_t) noexcept { std::free(p); }
void operator delete(void* p, const std::nothrow_t&) noexcept { std::free(p); }
void operator delete[](void* p, const std::nothrow_t&) noexcept { std::free(p); }
