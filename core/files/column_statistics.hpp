// Of each column of rows that come one after the other: how many entries it has, their sum, the sum of their
// squares and the largest magnitude. Only columns near some entry take memory, since text may have 2^31
// columns.
#pragma once
#include "core/concepts.hpp"
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

namespace southwell {

struct ColumnMoments {
  Index count = 0;
  double sum = 0, squares = 0, largest = 0;

  void add(double value) {
    ++count;
    sum += value;
    squares += value * value;
    largest = std::max(largest, std::abs(value));
  }
};

class ColumnStatistics {
public:
  ColumnStatistics() = default;
  ColumnStatistics(const ColumnStatistics&) = delete;
  template <class Value> void add(const Value* values, const std::int32_t* indices, Index entries) {
    for (Index e = 0; e < entries; ++e) (*this)[std::uint32_t(indices[e])].add(double(values[e]));
  }
  Index bytes() const { return bytes_; }
  // Calls visit(column, moments) for every column that has entries, in order.
  template <class Visit> void each(Visit&& visit) const {
    for (std::size_t b = 0; b < books_.size(); ++b)
      for (std::size_t p = 0; books_[b] && p < pages; ++p)
        for (std::size_t k = 0; (*books_[b])[p] && k < page; ++k)
          if (const ColumnMoments& moments = (*(*books_[b])[p])[k]; moments.count > 0)
            visit(std::int32_t((b * pages + p) * page + k), moments);
  }
  void clear() {
    books_.clear();
    bytes_ = 0;
  }

private:
  static constexpr std::size_t page = 64, pages = 1024; // columns of a page, pages of a book
  using Page = std::array<ColumnMoments, page>;
  using Book = std::array<std::unique_ptr<Page>, pages>;

  ColumnMoments& operator[](std::uint32_t column) {
    const std::size_t b = column / (page * pages);
    if (b >= books_.size()) {
      bytes_ += Index((b + 1 - books_.size()) * sizeof(void*));
      books_.resize(b + 1);
    }
    if (!books_[b]) {
      books_[b] = std::make_unique<Book>();
      bytes_ += Index(sizeof(Book));
    }
    std::unique_ptr<Page>& found = (*books_[b])[column / page % pages];
    if (!found) {
      found = std::make_unique<Page>();
      bytes_ += Index(sizeof(Page));
    }
    return (*found)[column % page];
  }

  std::vector<std::unique_ptr<Book>> books_;
  Index bytes_ = 0;
};

} // namespace southwell
