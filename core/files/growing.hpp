// A growing array of plain numbers that are not cleared, since they are written at once.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <new>
#include <type_traits>
#include <utility>

namespace southwell {

template <class T> class Growing {
  static_assert(std::is_trivially_copyable_v<T>);

public:
  Growing() = default;
  Growing(Growing&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)),
        room_(std::exchange(other.room_, 0)) {}
  Growing(const Growing&) = delete;
  ~Growing() { std::free(data_); }

  std::size_t size() const { return size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  void clear() { size_ = 0; }
  void push(T value) {
    if (size_ == room_) more(1);
    data_[size_++] = value;
  }
  // Where `count` more may be written; `add` then counts those that were.
  T* more(std::size_t count) {
    if (room_ - size_ < count) resize(std::max(size_ + count, room_ + room_ / 2));
    return data_ + size_;
  }
  void add(std::size_t count) { size_ += count; }
  // Memory for `std::free`; the array is empty then.
  T* release() {
    resize(std::max<std::size_t>(size_, 1));
    size_ = room_ = 0;
    return std::exchange(data_, nullptr);
  }

private:
  void resize(std::size_t room) { // large blocks: Linux moves their pages and copies nothing
    if (room == room_) return;
    if (room > std::size_t(-1) / sizeof(T) / 2) throw std::bad_alloc();
    void* const moved = std::realloc(static_cast<void*>(data_), room * sizeof(T));
    if (!moved) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    room_ = room;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0, room_ = 0;
};

} // namespace southwell
