// The BLAS that SciPy exports for Cython (scipy.linalg.cython_blas), and functions built on it.
#include "bindings/arrays.hpp"
#include "core/least_eigenvalue.hpp"
#include "core/support/cholesky.hpp"
#include "core/support/products.hpp"
#include <cstring>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

Real of_matrix(Matrix<Real> h) {
  const Index size = Index(h.shape(0));
  const auto multiply = [&](CVec v, Vec out) {
    for (Index k = 0; k < size; ++k) out[k] = kernels::dot(h.data() + k * size, v.data(), size);
  };
  return least_eigenvalue_above(size, multiply, [] { return false; });
}

// Factors a symmetric matrix H: its first `one_by_one` rows are appended one at a time, the others at once,
// and row `without` is then removed if it is not negative. Returns H^-1 b.
nb::object solve_symmetric(Matrix<Real> h, Array<Real> b, Index one_by_one, Index without) {
  const Index size = Index(h.shape(0));
  if (Index(h.shape(1)) != size || one_by_one > size || without >= size)
    throw std::invalid_argument("a square matrix is needed");
  Cholesky factor;
  const auto row = [&](Index k) { return h.data() + k * size; };
  const auto fill = [&](Index k, Real* to) { std::copy_n(row(k), k + 1, to); };
  for (Index k = 0; k < one_by_one; ++k)
    if (!factor.append(row(k))) return nb::none();
  if (!factor.extend(size - one_by_one, fill, [](Index) { return false; })) return nb::none();
  if (without >= 0) factor.remove(without);
  const CVec given = sized(b, factor.size());
  std::vector<Real> x(given.begin(), given.end());
  factor.solve(x.data());
  return nb::cast(to_numpy(x));
}

// Inner products of the lines (rows of numbers) from `from` on with all lines before them: the lower triangle
// of a Gram matrix.
Output inner_products(Matrix<Real> lines, Index from) {
  const Index count = Index(lines.shape(0)), length = Index(lines.shape(1));
  return filled(count * count, [&](Vec out) {
    add_products(lines.data(), lines.data(), length, from, count, out.data(), count);
  });
}

// Takes `dgemm` as SciPy exports it. Where SciPy was built with integers of another size, it is not used, and
// inner products are formed by the core's own loops. Returns whether it is used.
bool use_blas(const nb::capsule& exported) {
  const char* signature = exported.name();
  const bool fits =
      signature && std::strncmp(signature, "void (char *, char *, int *, int *, int *, ", 43) == 0;
  if (fits) blas::gemm = reinterpret_cast<blas::Gemm*>(exported.data());
  return fits;
}

} // namespace

void def_blas(nb::module_& m) {
  m.def("use_blas", &use_blas, "dgemm"_a);
  m.def("has_blas", [] { return blas::gemm != nullptr; });
  m.def("solve_symmetric", &solve_symmetric, "h"_a, "b"_a, "one_by_one"_a = 0, "without"_a = -1,
        "H^-1 b through a Cholesky factor; None if H is not positive definite. For tests.");
  m.def("least_eigenvalue_above", &of_matrix, "h"_a,
        "A lower bound of the least eigenvalue of H, or 0 if none was found. For tests.");
  m.def("inner_products", &inner_products, "lines"_a, "first"_a = 0,
        "The lower triangle of the lines' Gram matrix, row by row, beginning at line `from`. For tests.");
}

} // namespace southwell
