// An allocator for large arrays with random access: huge pages, if the system has them, avoid page-table
// lookups.
#pragma once
#include <cstddef>
#include <new>
#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace southwell {

template <class T> struct HugePages {
  using value_type = T;
  HugePages() = default;
  template <class U> HugePages(const HugePages<U>&) {}

  T* allocate(std::size_t n) {
    void* memory = ::operator new(n * sizeof(T), alignment(n));
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    if (n * sizeof(T) >= page) madvise(memory, n * sizeof(T), MADV_HUGEPAGE); // the system may ignore this
#endif
    return static_cast<T*>(memory);
  }
  void deallocate(T* memory, std::size_t n) { ::operator delete(memory, alignment(n)); }
  bool operator==(const HugePages&) const { return true; }

private:
  static constexpr std::size_t page = std::size_t{1} << 21;
  static std::align_val_t alignment(std::size_t n) {
    return std::align_val_t(n * sizeof(T) >= page ? page : alignof(std::max_align_t));
  }
};

} // namespace southwell
