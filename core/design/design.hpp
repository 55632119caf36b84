// The data as an algorithm-free object: two products and two sizes. Erased, because a product is long.
#pragma once
#include "core/concepts.hpp"
#include "core/design/columns.hpp"
#include <stdexcept>

namespace southwell {

class Design {
public:
  virtual ~Design() = default;
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;
  virtual Index stored() const = 0;                                   // entries: the cost of a product
  virtual void apply(CVec x, Vec out) const = 0;                      // out = A x
  virtual void adjoint(CVec u, Vec out) const = 0;                    // out = A'u
  virtual void adjoint(CVec weights, CVec u, Vec out) const = 0;      // out = A'(weights o u)
  virtual void column_squared_norms(CVec weights, Vec out) const = 0; // out_j = sum_i weights_i A_ij^2
  virtual void row_squared_norms(Vec out) const = 0;                  // out_i = sum_j A_ij^2
  // Appends the columns of these names.
  virtual void gather(std::span<const Index>, Columns&) const {
    throw std::logic_error("a design without columns");
  }
};

} // namespace southwell
