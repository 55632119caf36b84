// The columns of a working set. Sparse data that lie by rows are left there while the set holds most of them
// and no column is walked along: sums over all rows are as cheap, or cheaper.
#pragma once
#include "core/design/design.hpp"
#include "core/policy.hpp"
#include "core/support/helpers.hpp"
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

  // out = sum_t weight(t) column(slot(t)), of what is stored, for t = 0, ..., count - 1. Threads share dense
  // columns by position, sparse ones by chunks with sums of their own: no number depends on how many threads
  // there are.
  template <class Slot, class Weight> void combine(Index count, Slot&& slot, Weight&& weight, Vec out) const {
    const Index length = Index(out.size());
    Index entries = 0;
    for (Index t = 0; t < count; ++t) entries += size(slot(t));
    visit([&](const auto& store) {
      const auto add = [&](Index from, Index to, Vec sums) {
        std::fill(sums.begin(), sums.end(), 0.0);
        for (Index t = from; t < to; ++t)
          if (const Real w = weight(t); w != 0) store[slot(t)].add_to(sums, w);
      };
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(store)>, SparseColumns>) {
        const Index chunks = std::clamp<Index>(entries / (sums_of_own * std::max<Index>(length, 1)), 1, 4);
        if (chunks == 1) return add(0, count, out);
        std::vector<Index> ends{0};
        for (Index t = 0, met = 0; t < count; ++t) {
          met += size(slot(t));
          while (Index(ends.size()) < chunks && met * chunks >= entries * Index(ends.size()))
            ends.push_back(t + 1);
        }
        ends.resize(std::size_t(chunks + 1), count);
        sums_.resize(std::size_t((chunks - 1) * length));
        const auto of = [&](Index chunk) {
          return chunk == 0 ? out : Vec(sums_).subspan(std::size_t((chunk - 1) * length), out.size());
        };
        divide(entries, [&](int part, int parts) {
          for (Index c = chunks * part / parts; c < chunks * (part + 1) / parts; ++c)
            add(ends[c], ends[c + 1], of(c));
        });
        for (Index c = 1; c < chunks; ++c)
          for (Index i = 0; i < length; ++i) out[i] += of(c)[i];
      } else {
        divide(entries, [&](int part, int parts) {
          if (parts == 1) return add(0, count, out);
          const Index from = length * part / parts, to = length * (part + 1) / parts;
          std::fill(out.begin() + from, out.begin() + to, 0.0);
          for (Index t = 0; t < count; ++t)
            if (const Real w = weight(t); w != 0) store[slot(t)].add_between(from, to, out, w);
        });
      }
    });
  }

private:
  static constexpr Index sums_of_own = 32; // entries for each number of a chunk's sums, at least
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
  mutable std::vector<Real> sums_; // of chunks
};

} // namespace southwell
