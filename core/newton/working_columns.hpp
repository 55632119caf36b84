// The columns of a working set. Sparse data that lie by rows are left there while the set holds most of them
// and no column is walked along: sums over all rows are as cheap, or cheaper.
#pragma once
#include "core/design/design.hpp"
#include "core/policy.hpp"
#include <numeric>

namespace southwell {

class WorkingColumns {
public:
  WorkingColumns(const Design& design, const Policy& policy) : design_(design), policy_(policy) {}

  void join(std::span<const Index> names) {
    names_.insert(names_.end(), names.begin(), names.end());
    for (const Index j : names) framed_ = framed_ || design_.constant(j) != 0;
    if (design_.lies_by_rows()) {
      if (source_sizes_.empty()) source_sizes_ = design_.column_sizes();
      for (const Index j : names) entries_ += source_sizes_[j];
    }
    if (!by_rows()) gather();
  }

  const Design& design() const { return design_; }
  Index count() const { return Index(names_.size()); }
  Index name(Index k) const { return names_[k]; } // the feature of a slot
  Real gamma(Index k) const { return design_.constant(names_[k]); }
  bool framed() const { return framed_; } // does the frame add anything to any of them?
  Index size(Index k) const { return design_.lies_by_rows() ? source_sizes_[names_[k]] : gathered_.size(k); }
  Index entries() const { return design_.lies_by_rows() ? entries_ : gathered_.entries(); }
  bool sparse() const { return design_.lies_by_rows() || gathered_.sparse(); }
  // Whether sums over all rows, and products of columns, are cheaper from the rows as stored than from
  // gathered columns.
  bool by_rows() const { return hold(policy_.lie_by_rows); }
  bool products_by_rows() const { return hold(policy_.multiply_by_rows); }

  // `work(store)`, where store[k] is a fiber: once for a whole loop.
  template <class Work> decltype(auto) visit(Work&& work) const {
    gather();
    return gathered_.visit(work);
  }

private:
  bool hold(Real part) const {
    return design_.lies_by_rows() && Real(entries_) >= part * Real(design_.stored());
  }
  void gather() const {
    if (gathered_.count() == count() && count() > 0) return;
    design_.gather(std::span(names_).subspan(std::size_t(gathered_.count())), source_sizes_, gathered_);
  }

  const Design& design_;
  const Policy& policy_;
  std::vector<Index> names_;
  std::vector<std::uint32_t> source_sizes_; // of all columns of data that lie by rows
  Index entries_ = 0;                       // of the set, then
  bool framed_ = false;
  mutable Columns gathered_;
};

} // namespace southwell
