// Products with the columns of a working set, k numbers wide; the last "column" may be the intercept's, all
// ones. What the frame adds to columns costs k numbers a product: A X = stored X + 1 (c'X),
// A'R = stored'R + c (1'R). Where the set is everything, the design itself is asked.
#pragma once
#include "core/block_problem.hpp"
#include "core/newton/samples.hpp"
#include "core/newton/working_set.hpp"
#include "core/support/table_rows.hpp"

namespace southwell {

class BlockProducts final : public SetProducts {
public:
  BlockProducts(const BlockProblem& problem, const WorkingSet<BlockProblem>& set)
      : problem_(problem), columns_(set.columns()), whole_(set.whole()) {}

  Index slots() const { return whole_ ? problem_.penalty.penalised() : columns_.count(); }
  Index size() const { return (slots() + problem_.has_intercept()) * problem_.width(); }
  Index entries() const { return whole_ ? problem_.design.stored() : columns_.entries(); }

  // out = A u
  void forward(CVec u, Vec out) const override {
    const Index k = problem_.width();
    if (whole_) return problem_.design.apply(u, k, out);
    const std::vector<Real> alike = of_all(u);
    fill_rows(alike, out);
    if (slots() == 0) return;
    columns_.visit([&](const auto& store) {
      if constexpr (requires { store[0].plain(); })
        if (k > 1)
          return divide(entries() * k, [&](int part, int parts) {
            const Index n = problem_.design.rows();
            add_dense(store, slots(), n * part / parts, n * (part + 1) / parts, u.data(), k, out.data());
          });
      for (Index s = 0; s < slots(); ++s)
        if (!zero(u, s)) add_wide(store[s], u.data() + s * k, k, out.data());
    });
  }
  // out = A'r; if there are marks, slots whose mark is 0 are not computed
  void backward(CVec r, std::span<const char> marks, Vec out) const {
    const Index k = problem_.width();
    if (whole_) return problem_.design.adjoint(r, k, out);
    const std::vector<Real> totals = sums(r);
    std::fill(out.begin(), out.end(), 0.0);
    if (problem_.has_intercept()) std::copy(totals.begin(), totals.end(), out.end() - k);
    if (slots() == 0) return;
    columns_.visit([&](const auto& store) {
      divide(entries() * k, [&](int part, int parts) {
        const Index from = start_of_part(slots(), part, parts), to = start_of_part(slots(), part + 1, parts);
        if constexpr (requires { store[0].plain(); })
          if (k > 1 && marks.empty())
            return dots_of_dense(store, from, to, problem_.design.rows(), r.data(), k, out.data());
        for (Index s = from; s < to; ++s)
          if (marks.empty() || marks[s]) dot_wide(store[s], r.data(), k, out.data() + s * k);
      });
    });
    for (Index s = 0; s < (columns_.framed() ? slots() : 0); ++s)
      if (marks.empty() || marks[s]) kernels::add(totals.data(), columns_.gamma(s), out.data() + s * k, k);
  }
  // out = the diagonal of A'(H (x) A), H being diag(h), or what is left of it where margins compete. Of a
  // whole design about: the squares of a column, times the mean curvature of a margin.
  void diagonal(CVec h, Vec out) const {
    const Index k = problem_.width(), n = problem_.design.rows();
    std::vector<Real> bare(h.begin(), h.end()), means(static_cast<std::size_t>(k));
    for (Index i = 0; i < n; ++i) {
      Real total = 0;
      for (Index c = 0; c < (problem_.loss.coupled() ? k : 0); ++c) total += h[i * k + c];
      for (Index c = 0; c < k; ++c) {
        if (total > 0) bare[i * k + c] -= h[i * k + c] * h[i * k + c] / total;
        means[c] += bare[i * k + c];
      }
    }
    if (!whole_) return squares(bare, out);
    if (norms_.empty()) {
      norms_.resize(std::size_t(problem_.design.cols()));
      problem_.design.column_squared_norms(problem_.loss.weights(), norms_);
    }
    for (Index j = 0; j < Index(norms_.size()); ++j)
      for (Index c = 0; c < k; ++c) out[j * k + c] = norms_[j] * means[c];
  }
  // The weighted mean of each column but the intercept; those of columns that joined are added.
  void means(std::vector<Real>& out) const {
    const CVec s = problem_.loss.weights();
    if (whole_ && out.empty()) {
      out.resize(std::size_t(problem_.design.cols()));
      problem_.design.adjoint(s, out);
    } else if (!whole_ && slots() > Index(out.size())) {
      columns_.visit([&](const auto& store) {
        for (Index k = Index(out.size()); k < slots(); ++k)
          out.push_back(store[k].dot(s) + columns_.gamma(k)); // weights sum to 1
      });
    }
  }
  // out_jc = sum_i a_ij^2 h_ic, of gathered columns; 0 if it is not larger than the rounding error
  void squares(CVec h, Vec out) const {
    const Index k = problem_.width();
    const std::vector<Real> totals = sums(h);
    std::fill(out.begin(), out.end(), 0.0);
    if (problem_.has_intercept()) std::copy(totals.begin(), totals.end(), out.end() - k);
    if (slots() == 0) return;
    columns_.visit([&](const auto& store) {
      divide(entries() * k, [&](int part, int parts) {
        for (Index s = slots() * part / parts; s < slots() * (part + 1) / parts; ++s) {
          Real* own = out.data() + s * k;
          const Real gamma = columns_.gamma(s);
          if (gamma == 0) {
            store[s].visit([&](Index i, Real a) {
              for (Index c = 0; c < k; ++c) own[c] += a * a * h[i * k + c];
            });
            continue;
          }
          std::vector<Real> sizes(static_cast<std::size_t>(k)); // (a + g)^2 = a (a + 2 g) + g^2
          store[s].visit([&](Index i, Real a) {
            for (Index c = 0; c < k; ++c) {
              own[c] += a * (a + 2 * gamma) * h[i * k + c];
              sizes[c] += a * a * h[i * k + c];
            }
          });
          for (Index c = 0; c < k; ++c) {
            const Real far = gamma * gamma * totals[c];
            own[c] += far;
            if (!(own[c] > 1e-13 * (sizes[c] + far))) own[c] = 0;
          }
        }
      });
    });
  }

private:
  // What the intercept and the frame add to all margins alike.
  std::vector<Real> of_all(CVec u) const {
    const Index k = problem_.width();
    std::vector<Real> total(static_cast<std::size_t>(k));
    if (problem_.has_intercept()) std::copy(u.end() - k, u.end(), total.begin());
    for (Index s = 0; s < (columns_.framed() ? slots() : 0); ++s)
      kernels::add(u.data() + s * k, columns_.gamma(s), total.data(), k);
    return total;
  }
  // Over the samples, if anything asks for them.
  std::vector<Real> sums(CVec table) const {
    const auto k = std::size_t(problem_.width());
    std::vector<Real> total(k);
    if (problem_.has_intercept() || columns_.framed()) add_rows(table, total);
    return total;
  }
  bool zero(CVec u, Index s) const {
    const Index k = problem_.width();
    return std::all_of(u.begin() + s * k, u.begin() + (s + 1) * k, [](Real v) { return v == 0; });
  }

  const BlockProblem& problem_;
  const WorkingColumns& columns_;
  bool whole_;
  mutable std::vector<Real> norms_; // of all columns, squared
};

} // namespace southwell
