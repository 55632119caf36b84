// Bytes of files that are mapped into memory, and advice to the system about them: what has been read is let
// go, so that a pass over more data than there is memory does not fill it, and what comes next is read ahead.
// Only for mappings that are read and never written, whose pages can be read again.
#pragma once
#include <cstdint>
#include <span>
#include <vector>
#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace southwell {

class Mapped {
public:
  void add(const void* begin, std::size_t size) {
    bytes_.emplace_back(reinterpret_cast<std::uintptr_t>(begin), size);
  }
  bool empty() const { return bytes_.empty(); }
  std::size_t size() const {
    std::size_t total = 0;
    for (const auto& [begin, size] : bytes_) total += size;
    return total;
  }
#if defined(__linux__)
  void read_ahead() const { advise(MADV_WILLNEED); }
  void let_go() const { advise(MADV_DONTNEED); }

private:
  void advise(int what) const { // on whole pages; that it is not followed does no harm
    const std::uintptr_t page = std::uintptr_t(sysconf(_SC_PAGESIZE));
    for (const auto& [begin, size] : bytes_) {
      const std::uintptr_t from = (begin + page - 1) / page * page, to = (begin + size) / page * page;
      if (from < to) (void)madvise(reinterpret_cast<void*>(from), to - from, what);
    }
  }
#else
  void read_ahead() const {}
  void let_go() const {}

private:
#endif
  std::vector<std::pair<std::uintptr_t, std::size_t>> bytes_;
};

} // namespace southwell
