// Problems of blocks: losses over several margins, penalties of groups, and the methods that move them.
#include "bindings/blocks.hpp"
#include "bindings/parts.hpp"
#include "core/algorithms/block_descent.hpp"
#include "core/algorithms/block_moves.hpp"
#include "core/class_loss.hpp"
#include "core/offset_classes.hpp"
#include "core/task_loss.hpp"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

std::span<const Index> checked(const Array<Index>& labels, Index width) {
  const std::span<const Index> given(labels.data(), labels.shape(0));
  for (const Index label : given)
    if (label < 0 || label >= width) throw std::invalid_argument("a label out of range");
  return given;
}
BoundLossSum class_loss(const char* name, Real parameter, Index width, Array<Index> labels,
                        Array<Real> weights, Array<Real> offsets) {
  sized(weights, Index(labels.shape(0)));
  const bool moved = offsets.shape(0) > 0;
  sized(offsets, moved ? Index(labels.shape(0)) * width : 0);
  const auto given = checked(labels, width);
  auto made = std::visit(
      [&]<class L>(L loss) -> std::unique_ptr<LossSum> {
        return std::make_unique<ClassLoss<L>>(loss, width, given, view(weights));
      },
      Parts<AnyClassLoss>::make(name, parameter));
  if (moved) made = std::make_unique<OffsetClasses>(std::move(made), view(offsets));
  return {nb::make_tuple(labels, offsets), nb::cast(weights), std::move(made), labels.data()};
}
// phi or phi* of each sample, or a bound of its rounding error.
Output over_classes(const char* name, Real parameter, Index width, Array<Index> labels, Array<Real> table,
                    bool conjugate, bool rounding) {
  const auto given = checked(labels, width);
  sized(table, Index(given.size()) * width);
  return filled(Index(given.size()), [&](Vec out) {
    const auto fill = [&](const auto& loss) {
      for (Index i = 0; i < Index(out.size()); ++i) {
        const Real* row = table.data() + i * width;
        if (rounding)
          out[i] = conjugate ? loss.conjugate_rounding(row, width, given[i])
                             : loss.value_rounding(row, width, given[i]);
        else
          out[i] = conjugate ? loss.conjugate(row, 1, width, given[i]) : loss.value(row, width, given[i]);
      }
    };
    std::visit(fill, Parts<AnyClassLoss>::make(name, parameter));
  });
}
template <class Given> // AnyLoss or BoundOwnLoss
BoundLossSum task_loss(const Given& loss, Index width, Array<Real> targets, Array<Real> weights,
                       Array<Real> offsets) {
  const Index margins = Index(weights.shape(0)) * width;
  sized(targets, margins);
  sized(offsets, offsets.shape(0) == 0 ? 0 : margins);
  return {nb::make_tuple(targets, offsets), nb::cast(weights),
          std::make_unique<TaskLoss>(loss, width, view(targets), view(weights), view(offsets)),
          targets.data()};
}

// The norm of this name; none has a number of its own.
AnyNorm norm_of(const char* name) { return Parts<AnyNorm>::make(name, 0); }

Groups make_groups(const char* norm, Index width, std::vector<Index> members, std::vector<Index> starts,
                   CVec strength, CVec l1, CVec l2, CVec lower, CVec upper, Index features) {
  std::vector<BlockPenalty> blocks;
  bool sound = starts.size() == strength.size() + 1 && l1.size() == strength.size() &&
               l2.size() == strength.size() && lower.size() == strength.size() &&
               upper.size() == strength.size() && Index(members.size()) == features && starts.front() == 0 &&
               starts.back() == features && width > 0;
  for (std::size_t g = 0; sound && g + 1 < starts.size(); ++g) sound = starts[g] < starts[g + 1];
  for (const Index j : members) sound = sound && j >= 0 && j < features;
  for (std::size_t g = 0; sound && g < strength.size(); ++g) {
    blocks.push_back({norm_of(norm), strength[g], l1[g], l2[g], {lower[g], upper[g]}});
    sound = lower[g] <= 0 && upper[g] >= 0 && (strength[g] == 0 || !blocks.back().capped());
  }
  if (!sound) throw std::invalid_argument("groups that do not fit");
  return Groups(width, std::move(members), std::move(starts), std::move(blocks), features);
}

const BlockProblem& wide(nb::handle problem) { return nb::cast<const BoundBlockProblem&>(problem).core; }

const AnyLayout& layout_of(nb::handle layout) { return nb::cast<const BoundLayout&>(layout).layout; }

// `first` are the rows (slopes are kept), or none and `second` the columns (margins are kept).
BoundAlgorithm block_dspdc(nb::object problem, const DspdcSpec& spec, nb::object first, nb::object second,
                           Array<Real> x, Array<Real> y, std::uint64_t seed) {
  const BlockProblem& core = wide(problem);
  sized(x, core.primal_size());
  sized(y, core.dual_size());
  BlockMoves moves(core, spec);
  if (spec.rows < 1 || spec.rows > moves.samples() || spec.columns < 1 || spec.columns > moves.blocks())
    throw std::invalid_argument("blocks of the wrong size");
  const bool rows = second.is_none();
  auto bilinear = std::make_unique<KeptProduct>(
      rows ? stored_fibers<Axis::rows>(layout_of(first)) : stored_fibers<Axis::columns>(layout_of(second)),
      rows, core.loss.weights(), spec.theta, Real(moves.samples()) / Real(spec.rows), core.width());
  BoundAlgorithm result{.problem_object = problem, .parts = nb::make_tuple(first, second)};
  const Unlocked unlocked;
  result.algorithm = std::make_unique<Dspdc<BlockMoves>>(std::move(moves), std::move(bilinear), spec, view(x),
                                                         view(y), seed);
  return result;
}

// Groups in turn along the columns, or samples in turn along the rows; `start` is x or y.
BoundAlgorithm block_descent(nb::object problem, bool primal, const char* rule, nb::object layout,
                             Array<Real> start, Real least_l2, std::uint64_t seed) {
  const BlockProblem& core = wide(problem);
  const Index turns = primal ? core.penalty.count() + core.has_intercept() : core.design.rows();
  const CVec from = sized(start, primal ? core.primal_size() : core.dual_size());
  const RuleSpec spec{.name = rule};
  BoundAlgorithm result{.problem_object = problem, .parts = layout};
  const Unlocked unlocked;
  if (primal)
    result.algorithm = std::make_unique<BlockDescent>(core, stored_fibers<Axis::columns>(layout_of(layout)),
                                                      make_rule(spec, turns, seed), from);
  else
    result.algorithm = std::make_unique<BlockAscent>(core, stored_fibers<Axis::rows>(layout_of(layout)),
                                                     make_rule(spec, turns, seed), from, least_l2);
  return result;
}

// y = phi' of the best model without penalised coefficients, and its intercept.
nb::tuple null_model(nb::object problem) {
  const BlockProblem& core = wide(problem);
  Point point(core);
  core.finish(point);
  if (core.has_intercept()) {
    core.loss.balanced_derivative(point.margins, point.y);
    core.slopes(point.y, point.slopes);
  }
  return nb::make_tuple(to_numpy(point.y), to_numpy(point.x), to_numpy(point.slopes));
}

} // namespace

void def_wide(nb::module_& m) {
  using M = Array<Real>;
  const auto whole = [](const BoundLossSum& l, const M& table) {
    return sized(table, l.loss->samples() * l.loss->width());
  };
  nb::class_<BlockPenalty>(m, "BlockPenalty", "strength N(x) + l1 ||x||_1 + (l2/2) ||x||^2 on one block.")
      .def(
          "__init__",
          [](BlockPenalty* self, Real strength, Real l1, Real l2, const char* norm, Real lower, Real upper) {
            new (self) BlockPenalty(norm_of(norm), strength, l1, l2, {lower, upper});
          },
          "strength"_a, "l1"_a, "l2"_a, "norm"_a = "euclidean", "lower"_a = -infinity, "upper"_a = infinity)
      .def(
          "value", [](const BlockPenalty& g, M x) { return g.value(view(x)); }, "x"_a)
      .def(
          "prox",
          [](const BlockPenalty& g, M v, Real step) {
            return filled(Index(v.shape(0)), [&](Vec out) {
              std::copy_n(v.data(), v.shape(0), out.begin());
              g.prox(out, step);
            });
          },
          "v"_a, "step"_a)
      .def(
          "balance",
          [](const BlockPenalty& g, M x, Index width) {
            std::vector<Real> buffer;
            return filled(Index(x.shape(0)), [&](Vec out) {
              std::copy_n(x.data(), x.shape(0), out.begin());
              g.balance(out, width, buffer);
            });
          },
          "x"_a, "width"_a)
      .def(
          "conjugate", [](const BlockPenalty& g, M v) { return g.conjugate(view(v)); }, "v"_a)
      .def(
          "conjugate_gradient",
          [](const BlockPenalty& g, M v) {
            return filled(Index(v.shape(0)), [&](Vec out) {
              std::copy_n(v.data(), v.shape(0), out.begin());
              g.conjugate_gradient(out);
            });
          },
          "v"_a)
      .def(
          "surely_zero",
          [](const BlockPenalty& g, M v, Real radius) { return g.surely_zero(view(v), 1, radius); }, "v"_a,
          "radius"_a)
      .def("feasible_scale", [](const BlockPenalty& g, M v) { return g.feasible_scale(view(v)); }, "v"_a);
  nb::class_<Groups>(m, "Groups", "Penalties of a partition of the features.")
      .def(
          "__init__",
          [](Groups* self, const char* norm, Index width, Array<Index> members, Array<Index> starts,
             M strength, M l1, M l2, M lower, M upper, Index features) {
            new (self) Groups(make_groups(norm, width, copied(members), copied(starts), view(strength),
                                          view(l1), view(l2), view(lower), view(upper), features));
          },
          "norm"_a, "width"_a, "members"_a, "starts"_a, "strength"_a, "l1"_a, "l2"_a, "lower"_a, "upper"_a,
          "features"_a)
      .def(
          "feasible_scales", // of the block of each group
          [](const Groups& self, M z) {
            const CVec slopes = sized(z, self.penalised() * self.width());
            return filled(self.count(), [&](Vec out) {
              std::vector<Real> buffer;
              for (Index g = 0; g < self.count(); ++g)
                out[g] = self[g].feasible_scale(self.block(slopes, g, buffer));
            });
          },
          "slopes"_a);
  nb::class_<BoundLossSum>(m, "LossSum", "A loss over several margins a sample, for all samples.")
      .def(
          "value", [=](const BoundLossSum& l, M margins) { return l.loss->value(whole(l, margins)); }, "m"_a)
      .def(
          "derivative",
          [=](const BoundLossSum& l, M margins) {
            const CVec at = whole(l, margins);
            return filled(Index(at.size()), [&](Vec y) { l.loss->derivative(at, y); });
          },
          "m"_a)
      .def(
          "conjugate",
          [=](const BoundLossSum& l, M y, Real scale) { return l.loss->conjugate(whole(l, y), scale); },
          "y"_a, "scale"_a = 1.0)
      .def(
          "bend", // s_i H_i v_i where the derivative is y_i
          [=](const BoundLossSum& l, M y, M v) {
            const CVec at = whole(l, y), by = whole(l, v);
            return filled(Index(at.size()), [&](Vec out) {
              std::vector<Real> h(out.size());
              l.loss->curvature(at, h);
              l.loss->bend(h, by, out);
            });
          },
          "y"_a, "v"_a)
      .def(
          "maximise",
          [=](const BoundLossSum& l, M margins, M y0, Real q) {
            const CVec at = whole(l, margins), centre = whole(l, y0);
            return filled(Index(at.size()), [&](Vec y) {
              const Index k = l.loss->width();
              for (Index i = 0; i < l.loss->samples(); ++i)
                l.loss->maximise(i, at.data() + i * k, centre.data() + i * k, q, y.data() + i * k);
            });
          },
          "m"_a, "y0"_a, "q"_a)
      .def(
          "balance",
          [=](const BoundLossSum& l, M y) {
            const CVec at = whole(l, y);
            return filled(Index(at.size()), [&](Vec out) {
              std::copy(at.begin(), at.end(), out.begin());
              l.loss->balance(out);
            });
          },
          "y"_a)
      .def(
          "into_domain",
          [=](const BoundLossSum& l, M y) {
            const CVec at = whole(l, y);
            return filled(Index(at.size()), [&](Vec out) {
              std::copy(at.begin(), at.end(), out.begin());
              l.loss->into_domain(out);
            });
          },
          "y"_a)
      .def_prop_ro("smoothness", [](const BoundLossSum& l) { return l.loss->smoothness(); })
      .def_prop_ro("smooth", [](const BoundLossSum& l) { return l.loss->smooth(); });
  m.def("class_loss", &class_loss, "name"_a, "parameter"_a, "width"_a, "labels"_a, "weights"_a, "offsets"_a);
  m.def("over_classes", &over_classes, "name"_a, "parameter"_a, "width"_a, "labels"_a, "table"_a,
        "conjugate"_a, "rounding"_a = false);
  m.def("task_loss", &task_loss<AnyLoss>, "loss"_a, "width"_a, "targets"_a, "weights"_a, "offsets"_a);
  m.def("task_loss", &task_loss<BoundOwnLoss>, "loss"_a, "width"_a, "targets"_a, "weights"_a, "offsets"_a);
  nb::class_<BoundBlockProblem, BoundQuestion>(m, "BlockProblem",
                                               "Design, loss over several margins a sample, and groups.")
      .def(nb::init<nb::object, nb::object, nb::object>(), "layout"_a, "loss"_a, "penalty"_a);
  m.def("block_dspdc", &block_dspdc, "problem"_a, "spec"_a, "first"_a.none(), "second"_a.none(), "x"_a, "y"_a,
        "seed"_a);
  m.def("block_descent", &block_descent, "problem"_a, "primal"_a, "rule"_a, "layout"_a, "start"_a,
        "least_l2"_a, "seed"_a);
  m.def("null_model", &null_model, "problem"_a);
}

} // namespace southwell
