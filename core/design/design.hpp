// The data matrix as products and sizes, type-erased: a product takes long, so a virtual call is cheap.
#pragma once
#include "core/concepts.hpp"
#include "core/design/columns.hpp"
#include "core/support/row_pairs.hpp"
#include <stdexcept>

namespace southwell {

class Design {
public:
  virtual ~Design() = default;
  virtual Index rows() const = 0;
  virtual Index cols() const = 0;
  virtual Index stored() const = 0;                              // entries: the cost of a product
  virtual void apply(CVec x, Vec out) const = 0;                 // out = A x
  virtual void adjoint(CVec u, Vec out) const = 0;               // out = A'u
  virtual void adjoint(CVec weights, CVec u, Vec out) const = 0; // out = A'(weights o u)
  // The same for `width` vectors at once: x and out hold a row of them for each column or row of A.
  virtual void apply(CVec x, Index width, Vec out) const = 0;
  virtual void adjoint(CVec u, Index width, Vec out) const = 0;
  // |A| |X| and |A|'|U|, the sums of the absolute values of all terms, for bounds of rounding errors. |A_ij|
  // stands for |stored entry| + |constant|, before they cancel.
  virtual void apply_sizes(CVec x, Index width, Vec out) const = 0;
  virtual void adjoint_sizes(CVec u, Index width, Vec out) const = 0;
  // Both at once: A X and |A| |X|, A'U and |A|'|U|.
  virtual void apply_with_sizes(CVec x, Index width, Vec out, Vec sizes) const {
    apply(x, width, out);
    apply_sizes(x, width, sizes);
  }
  virtual void adjoint_with_sizes(CVec u, Index width, Vec out, Vec sizes) const {
    adjoint(u, width, out);
    adjoint_sizes(u, width, sizes);
  }
  virtual Index longest_row() const = 0; // the largest number of terms in a sum over a row, and over a column
  virtual Index longest_column() const = 0;
  virtual void column_squared_norms(CVec weights, Vec out) const = 0; // out_j = sum_i weights_i A_ij^2
  virtual void row_squared_norms(Vec out) const = 0;                  // out_i = sum_j A_ij^2
  // The factors U and V, where A is known as their product: columns of A are combinations of those of U.
  virtual const Design* left() const { return nullptr; }
  virtual const Design* right() const { return nullptr; }
  // Column j is its stored part plus this constant: its shift, or 1 for the intercept, which stores nothing.
  virtual Real constant(Index) const { return 0; }
  // Appends the stored part of these columns; the second argument holds the sizes of all columns if
  // lies_by_rows().
  virtual void gather(std::span<const Index>, std::span<const std::uint32_t>, Columns&) const { refuse(); }

  // Whether the data are sparse and stored row by row. Then the following functions compute sums over all
  // rows without gathering columns. They use the stored entries only, without the frame.
  virtual bool lies_by_rows() const { return false; }
  virtual std::vector<std::uint32_t> column_sizes() const { refuse(); }
  struct Moments {
    Real slope = 0, weighted = 0, square = 0; // sums of r_i a_i, h_i a_i, h_i a_i^2 along a column
    void operator+=(const Moments& other) {
      slope += other.slope;
      weighted += other.weighted;
      square += other.square;
    }
  };
  virtual void moments(CVec, CVec, std::span<Moments>) const { refuse(); } // of all columns, given r and h
  virtual Index row_size(Index) const { refuse(); }
  virtual Index add_pairs(const RowPairs&, Index, Index, Index, Index) const {
    refuse();
  } // see RowPairs::add

private:
  [[noreturn]] static void refuse() {
    throw std::logic_error("the layout of this design does not support this operation");
  }
};

} // namespace southwell
