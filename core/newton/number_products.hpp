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
    std::fill(out.begin(), out.end(), 0.0);
    if (columns_.count() == 0) return;
    Real constant = 0; // what the frame adds to all margins alike
    columns_.visit([&](const auto& store) {
      for (Index k = 0; k < columns_.count(); ++k)
        if (u[k] != 0) {
          store[k].add_to(out, u[k]);
          constant += u[k] * columns_.gamma(k);
        }
    });
    if (constant != 0)
      for (Real& m : out) m += constant;
  }

private:
  const WorkingColumns& columns_;
};

} // namespace southwell
