// A = U V, never formed: a product with A is a product with V and then with U.
#pragma once
#include "core/design/design.hpp"
#include <algorithm>
#include <stdexcept>
#include <vector>

namespace southwell {

class Factorised final : public Design {
public:
  Factorised(const Design& u, const Design& v) : u_(u), v_(v) {
    if (u.cols() != v.rows()) throw std::invalid_argument("factors whose inner sizes disagree");
  }

  Index rows() const override { return u_.rows(); }
  Index cols() const override { return v_.cols(); }
  Index inner() const { return u_.cols(); }
  const Design* left() const override { return &u_; }
  const Design* right() const override { return &v_; }
  Index stored() const override { return u_.stored() + v_.stored(); }
  void apply(CVec x, Vec out) const override {
    std::vector<Real> between(inner());
    v_.apply(x, between);
    u_.apply(between, out);
  }
  void adjoint(CVec u, Vec out) const override {
    std::vector<Real> between(inner());
    u_.adjoint(u, between);
    v_.adjoint(between, out);
  }
  void adjoint(CVec weights, CVec u, Vec out) const override {
    std::vector<Real> between(inner());
    u_.adjoint(weights, u, between);
    v_.adjoint(between, out);
  }
  void apply(CVec x, Index width, Vec out) const override {
    std::vector<Real> between(inner() * width);
    v_.apply(x, width, between);
    u_.apply(between, width, out);
  }
  void adjoint(CVec u, Index width, Vec out) const override {
    std::vector<Real> between(inner() * width);
    u_.adjoint(u, width, between);
    v_.adjoint(between, width, out);
  }
  void apply_sizes(CVec x, Index width, Vec out) const override {
    std::vector<Real> between(inner() * width);
    v_.apply_sizes(x, width, between);
    u_.apply_sizes(between, width, out);
  }
  void adjoint_sizes(CVec u, Index width, Vec out) const override {
    std::vector<Real> between(inner() * width);
    u_.adjoint_sizes(u, width, between);
    v_.adjoint_sizes(between, width, out);
  }
  Index longest_row() const override { return u_.longest_row() + v_.longest_row(); }
  Index longest_column() const override { return u_.longest_column() + v_.longest_column(); }
  void gather(std::span<const Index> names, std::span<const std::uint32_t>, Columns& into) const override {
    auto& store = into.store<DenseColumns<Real>>(rows());
    Real* to = store.room(Index(names.size()));
    std::vector<Real> unit(cols());
    for (const Index j : names) {
      unit[j] = 1;
      apply(unit, {to, std::size_t(rows())});
      unit[j] = 0;
      store.append(to, 0);
      to += rows();
    }
  }
  // ||A^j||^2 = (V^j)'(U'SU) V^j, one inner coordinate at a time: k^2 (n + d) at most.
  void column_squared_norms(CVec weights, Vec out) const override {
    std::fill(out.begin(), out.end(), 0.0);
    std::vector<Real> unit(inner()), column(rows()), gram(inner()), row(cols()), mixed(cols());
    for (Index k = 0; k < inner(); ++k) {
      unit[k] = 1;
      u_.apply(unit, column);
      u_.adjoint(weights, column, gram); // column k of U'SU
      v_.adjoint(unit, row);             // row k of V
      v_.adjoint(gram, mixed);
      for (Index j = 0; j < cols(); ++j) out[j] += row[j] * mixed[j];
      unit[k] = 0;
    }
    for (Real& norm : out) norm = std::max(norm, 0.0);
  }
  void row_squared_norms(Vec out) const override {
    std::fill(out.begin(), out.end(), 0.0);
    std::vector<Real> unit(inner()), column(rows()), gram(inner()), row(cols()), mixed(rows());
    for (Index k = 0; k < inner(); ++k) {
      unit[k] = 1;
      v_.adjoint(unit, row);
      v_.apply(row, gram); // column k of VV'
      u_.apply(unit, column);
      u_.apply(gram, mixed);
      for (Index i = 0; i < rows(); ++i) out[i] += column[i] * mixed[i];
      unit[k] = 0;
    }
    for (Real& norm : out) norm = std::max(norm, 0.0);
  }

private:
  const Design &u_, &v_;
};

} // namespace southwell
