// The compiled half of southwell, as Python sees it. Python has checked types and shapes of the arrays
// (southwell/_data.py); here are the checks that need a pass over the numbers.
#include "bindings/bound.hpp"
#include "bindings/files.hpp"
#include "bindings/parts.hpp"
#include "core/certificate.hpp"
#include "core/design/formed_rows.hpp"
#include "core/support/sparse_structure.hpp"
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

namespace nb = nanobind;
using namespace nb::literals;
using namespace southwell;

namespace {

template <class Stored>
AnyLayout frame(Stored stored, bool by_columns, std::vector<Real> shifts, bool intercept) {
  if (by_columns)
    return Stores<Axis::columns>(Framed<Stored, Axis::columns>(stored, std::move(shifts), intercept));
  return Stores<Axis::rows>(Framed<Stored, Axis::rows>(stored, std::move(shifts), intercept));
}

template <class Value> void def_dense(nb::module_& m) {
  m.def(
      "dense_layout",
      [](Matrix<Value> a, bool by_columns, Array<Real> shifts, bool intercept) {
        const Index count = Index(a.shape(0)), length = Index(a.shape(1));
        if (shifts.shape(0) != 0) sized(shifts, by_columns ? count : length);
        const DenseFibers stored(a.data(), count, length, shifts.shape(0) ? shifts.data() : nullptr,
                                 by_columns);
        return BoundLayout{frame(stored, by_columns, {}, intercept), nb::make_tuple(a, shifts)};
      },
      "fibers"_a, "by_columns"_a, "shifts"_a, "intercept"_a,
      "A layout over a C-ordered array, one fiber a row.");
}

template <class Value, class Position> void def_sparse(nb::module_& m) {
  m.def(
      "sparse_layout",
      [](Array<Value> data, Array<Position> indices, Array<Position> indptr, Index length, bool by_columns,
         Array<Real> shifts, bool intercept) {
        const SparseFibers stored(data.data(), indices.data(), indptr.data(), Index(indptr.shape(0)) - 1,
                                  length);
        if (shifts.shape(0) != 0) sized(shifts, by_columns ? stored.count() : length);
        return BoundLayout{frame(stored, by_columns, copied(shifts), intercept),
                           nb::make_tuple(data, indices, indptr)};
      },
      "data"_a, "indices"_a, "indptr"_a, "length"_a, "by_columns"_a, "shifts"_a, "intercept"_a,
      "A layout over compressed sparse arrays, one fiber a compressed row or column.");
}

template <class Value> void def_all_finite(nb::module_& m) {
  m.def(
      "all_finite",
      [](Array<Value> a) {
        const Unlocked unlocked;
        return all_finite(a.data(), Index(a.shape(0)));
      },
      "values"_a, "Whether every number is finite, without a temporary array.");
}

template <class Position> void def_check_sparse(nb::module_& m) {
  m.def(
      "check_sparse",
      [](Array<Position> indices, Array<Position> indptr, Index length) {
        const Unlocked unlocked;
        return sparse_problem(indices.data(), Index(indices.shape(0)), indptr.data(), Index(indptr.shape(0)),
                              length);
      },
      "indices"_a, "indptr"_a, "length"_a,
      "'' if sound, 'unsorted' if indices are not strictly increasing, else what is broken.");
}

// The best intercept of a model without coefficients.
Real null_intercept(nb::object problem) {
  const auto& bound = nb::cast<const BoundProblem&>(problem);
  return best_shift(bound.core.loss, std::vector<Real>(bound.core.design.rows())).best;
}

// phi' at the null model: all coefficients zero, with the best intercept if there is one.
Output null_dual(nb::object problem) {
  const auto& bound = nb::cast<const BoundProblem&>(problem);
  const std::vector<Real> margins(bound.core.design.rows());
  return filled(bound.core.design.rows(), [&](Vec y) { balanced_derivative(bound.core, margins, y); });
}

} // namespace

NB_MODULE(_core, m) {
  m.doc() = "The compiled core of southwell.";
  nb::set_leak_warnings(false); // what is still referenced when the interpreter ends is not a leak

  nb::class_<BoundLayout>(m, "Layout", "The data along one axis, framed by constants and an intercept.")
      .def_prop_ro("rows", [](const BoundLayout& l) { return l.design().rows(); })
      .def_prop_ro("cols", [](const BoundLayout& l) { return l.design().cols(); })
      .def(
          "apply",
          [](const BoundLayout& l, Array<Real> x) {
            return filled(l.design().rows(),
                          [&](Vec out) { l.design().apply(sized(x, l.design().cols()), out); });
          },
          "x"_a, "A x")
      .def(
          "adjoint",
          [](const BoundLayout& l, Array<Real> u) {
            return filled(l.design().cols(),
                          [&](Vec out) { l.design().adjoint(sized(u, l.design().rows()), out); });
          },
          "u"_a, "A'u")
      .def(
          "apply_wide",
          [](const BoundLayout& l, Array<Real> x, Index width) {
            return filled(l.design().rows() * width, [&](Vec out) {
              l.design().apply(sized(x, l.design().cols() * width), width, out);
            });
          },
          "x"_a, "width"_a, "A X, row by row")
      .def(
          "adjoint_wide",
          [](const BoundLayout& l, Array<Real> u, Index width) {
            return filled(l.design().cols() * width, [&](Vec out) {
              l.design().adjoint(sized(u, l.design().rows() * width), width, out);
            });
          },
          "u"_a, "width"_a, "A'U, row by row")
      .def(
          "apply_with_sizes",
          [](const BoundLayout& l, Array<Real> x) {
            const CVec given = sized(x, l.design().cols());
            std::vector<Real> out(std::size_t(l.design().rows())), sizes(out.size());
            l.design().apply_with_sizes(given, 1, out, sizes);
            return nb::make_tuple(to_numpy(out), to_numpy(sizes));
          },
          "x"_a, "A x, and |A| |x|, which bounds its rounding error")
      .def(
          "adjoint_with_sizes",
          [](const BoundLayout& l, Array<Real> u) {
            const CVec given = sized(u, l.design().rows());
            std::vector<Real> out(std::size_t(l.design().cols())), sizes(out.size());
            l.design().adjoint_with_sizes(given, 1, out, sizes);
            return nb::make_tuple(to_numpy(out), to_numpy(sizes));
          },
          "u"_a, "A'u, and |A|'|u|, which bounds its rounding error")
      .def_prop_ro("longest_row", [](const BoundLayout& l) { return l.design().longest_row(); })
      .def_prop_ro("longest_column", [](const BoundLayout& l) { return l.design().longest_column(); })
      .def(
          "column_squared_norms",
          [](const BoundLayout& l, Array<Real> w) {
            return filled(l.design().cols(), [&](Vec out) {
              l.design().column_squared_norms(sized(w, l.design().rows()), out);
            });
          },
          "weights"_a, "sum_i weights_i A_ij^2 for each column j")
      .def(
          "row_squared_norms",
          [](const BoundLayout& l) {
            return filled(l.design().rows(), [&](Vec out) {
              const Unlocked unlocked;
              l.design().row_squared_norms(out);
            });
          },
          "sum_j A_ij^2 for each row i");
  def_dense<float>(m);
  def_dense<double>(m);
  m.def(
      "factorised_layout",
      [](nb::object u, nb::object v) {
        return BoundLayout{
            Factorised(nb::cast<const BoundLayout&>(u).design(), nb::cast<const BoundLayout&>(v).design()),
            nb::make_tuple(u, v)};
      },
      "u"_a, "v"_a, "The layout of U V, through the layouts of U and V.");
  m.def(
      "formed_layout",
      [](nb::object u, nb::object v, bool intercept) {
        const auto& first = nb::cast<const BoundLayout&>(u);
        const auto& second = nb::cast<const BoundLayout&>(v);
        if (first.design().cols() != second.design().rows())
          throw std::invalid_argument("factors whose inner sizes disagree");
        const DenseFibers rows(std::make_shared<FormedRows>(whole_fibers<Axis::rows>(first.layout),
                                                            whole_fibers<Axis::rows>(second.layout)),
                               first.design().rows(), second.design().cols());
        return BoundLayout{frame(rows, false, {}, intercept), nb::make_tuple(u, v)};
      },
      "u"_a, "v"_a, "intercept"_a,
      "The rows of U V, each formed when it is read, through the rows of U and of V. For one algorithm.");
  def_sparse<float, std::int32_t>(m);
  def_sparse<float, std::int64_t>(m);
  def_sparse<double, std::int32_t>(m);
  def_sparse<double, std::int64_t>(m);
  def_all_finite<float>(m);
  def_all_finite<double>(m);
  def_check_sparse<std::int32_t>(m);
  def_check_sparse<std::int64_t>(m);

  def_parts(m);
  def_own_loss(m);

  nb::class_<BoundQuestion>(m, "Question", "The base of all problems.");
  nb::class_<BoundProblem, BoundQuestion>(m, "Problem", "Design, loss and penalty.")
      .def(nb::init<nb::object, const AnyLoss&, Array<Real>, Array<Real>, const ElasticNet&, Array<Real>>(),
           "layout"_a, "loss"_a, "targets"_a, "weights"_a, "penalty"_a, "offsets"_a)
      .def(nb::init<nb::object, const BoundOwnLoss&, Array<Real>, Array<Real>, const ElasticNet&,
                    Array<Real>>(),
           "layout"_a, "loss"_a, "targets"_a, "weights"_a, "penalty"_a, "offsets"_a);
  def_algorithms(m);
  def_saddle(m);
  def_newton(m);
  def_in_parts(m);
  def_features(m);
  def_files(m);
  def_outside(m);
  def_wide(m);
  def_blas(m);
  def_certify(m);
  m.def("null_dual", &null_dual, "problem"_a);
  m.def("null_intercept", &null_intercept, "problem"_a);
}
