// Products with some columns of A, k numbers wide. A few are gathered, dense; of many the design is asked.
#pragma once
#include "core/linear_problem.hpp"

namespace southwell {

class OpenColumns {
public:
  // `names` in ascending order
  OpenColumns(const LinearProblem& problem, const std::vector<Index>& names)
      : design_(problem.design), k_(problem.width()), names_(names) {
    const Real entries = Real(names.size()) * Real(design_.rows());
    if (!design_.right() && entries <= std::min(0.5 * Real(design_.stored()), 2e7)) gather();
  }

  const std::vector<Index>& names() const { return names_; }
  Index place(Index j) const { return std::ranges::lower_bound(names_, j) - names_.begin(); }

  // out = A_U v
  void apply(CVec v, Vec out) const {
    if (table_.empty()) {
      std::vector<Real> all(std::size_t(design_.cols() * k_));
      for (std::size_t t = 0; t < names_.size(); ++t)
        std::copy_n(v.begin() + Index(t) * k_, k_, all.begin() + names_[t] * k_);
      return k_ == 1 ? design_.apply(all, out) : design_.apply(all, k_, out);
    }
    std::fill(out.begin(), out.end(), 0.0);
    for (std::size_t t = 0; t < names_.size(); ++t) {
      const Real *own = column(t), *by = v.data() + Index(t) * k_;
      for (Index i = 0; i < design_.rows(); ++i)
        for (Index c = 0; c < k_; ++c) out[i * k_ + c] += own[i] * by[c];
    }
  }
  // out = A_U'r
  void adjoint(CVec r, Vec out) const {
    if (table_.empty()) {
      std::vector<Real> all(std::size_t(design_.cols() * k_));
      k_ == 1 ? design_.adjoint(r, all) : design_.adjoint(r, k_, all);
      for (std::size_t t = 0; t < names_.size(); ++t)
        std::copy_n(all.begin() + names_[t] * k_, k_, out.begin() + Index(t) * k_);
      return;
    }
    for (std::size_t t = 0; t < names_.size(); ++t) {
      const Real* own = column(t);
      Real* to = out.data() + Index(t) * k_;
      if (k_ == 1) {
        *to = kernels::dot(own, r.data(), design_.rows());
        continue;
      }
      std::fill_n(to, k_, 0.0);
      for (Index i = 0; i < design_.rows(); ++i)
        for (Index c = 0; c < k_; ++c) to[c] += own[i] * r[i * k_ + c];
    }
  }

private:
  const Real* column(std::size_t t) const { return table_.data() + Index(t) * design_.rows(); }
  void gather() {
    const Index n = design_.rows();
    table_.resize(names_.size() * std::size_t(n));
    Columns columns;
    design_.gather(names_, design_.lies_by_rows() ? design_.column_sizes() : std::vector<std::uint32_t>(),
                   columns);
    columns.visit([&](const auto& store) {
      for (std::size_t t = 0; t < names_.size(); ++t) {
        Real* own = table_.data() + Index(t) * n;
        std::fill_n(own, n, design_.constant(names_[t]));
        store[Index(t)].visit([&](Index i, Real a) { own[i] += a; });
      }
    });
  }

  const Design& design_;
  Index k_;
  const std::vector<Index>& names_;
  std::vector<Real> table_;
};

} // namespace southwell
