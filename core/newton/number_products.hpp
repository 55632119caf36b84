// Products with the columns of a working set of numbers.
#pragma once
#include "core/newton/samples.hpp"
#include "core/newton/working_set.hpp"

namespace southwell {

class NumberProducts final : public SetProducts {
public:
  explicit NumberProducts(const WorkingColumns& columns) : columns_(columns) {}
  NumberProducts(const Problem&, const WorkingSet<Problem>& set) : columns_(set.columns()) {}
  const WorkingColumns& columns() const { return columns_; }

  void forward(CVec u, Vec out) const override {
    if (columns_.by_rows()) {
      std::vector<Real> all(std::size_t(columns_.design().cols()));
      for (Index k = 0; k < columns_.count(); ++k) all[columns_.name(k)] = u[k];
      return columns_.design().apply(all, out);
    }
    if (columns_.count() == 0) return std::fill(out.begin(), out.end(), 0.0);
    columns_.combine(columns_.count(), [](Index k) { return k; }, [&](Index k) { return u[k]; }, out);
    Real constant = 0; // what the frame adds to all margins alike
    for (Index k = 0; k < columns_.count(); ++k) constant += u[k] * columns_.gamma(k);
    if (constant != 0)
      for (Real& m : out) m += constant;
  }

private:
  const WorkingColumns& columns_;
};

} // namespace southwell
