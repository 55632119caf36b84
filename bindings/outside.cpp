// A problem and its algorithm written in Python, such as those over matrices, made drivable by the loop of
// core/drive.hpp.
#include "bindings/bound.hpp"
#include <algorithm>
#include <nanobind/stl/tuple.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

// A Python object whose methods C++ calls. An exception is kept in `failure_`, and Abandoned ends the solve.
class PythonObject {
public:
  PythonObject(nb::object self, Failure failure) : self_(std::move(self)), failure_(std::move(failure)) {}
  ~PythonObject() {
    locked([&] { self_.reset(); });
  }
  template <class Answer> auto call(const char* name, Answer&& answer, auto&&... arguments) const {
    return locked([&] {
      try {
        return answer(self_.attr(name)(nb::cast(arguments)...));
      } catch (nb::python_error& raised) {
        *failure_ = nb::borrow(raised.value());
      } catch (std::bad_alloc&) { // not a mistake of the Python code: passed on
        throw;
      } catch (std::exception& wrong) {
        *failure_ = nb::module_::import_("builtins").attr("TypeError")(wrong.what());
      }
      throw Abandoned();
    });
  }

private:
  nb::object self_;
  Failure failure_;
};

// The values that the last call of `locate` returned.
struct Located {
  Real primal = infinity, dual = -infinity, terms = 0;
  Index nonzeros = 0;
};

class Outside final : public Question {
public:
  Outside(std::shared_ptr<PythonObject> python, Index primal, Index dual)
      : python_(std::move(python)), primal_(primal), dual_(dual) {
    stored_ = python_->call("stored", [](nb::object told) { return nb::cast<Index>(told); });
    const auto [scale, rounding] =
        python_->call("unit", [](nb::object told) { return nb::cast<std::tuple<Real, Real>>(told); });
    unit_ = {scale, rounding};
  }
  Located located;

  Index primal_size() const override { return primal_; }
  Index dual_size() const override { return dual_; }
  Index stored() const override { return stored_; }
  Real value(const Point&) const override { return located.primal; }
  Real terms(const Point&) const override { return located.terms; }
  Index nonzeros(CVec) const override { return located.nonzeros; }
  Unit unit(Point&) const override { return unit_; }
  std::unique_ptr<Bound> bound(std::function<bool()>) const override {
    struct AlreadyFeasible final : Bound { // Python returns a feasible y
      explicit AlreadyFeasible(const Located& at) : at(at) {}
      Real dual_value(const Point& point) override {
        y_ = point.y;
        return at.dual;
      }
      CVec y() const override { return y_; }
      Real scale() const override { return 1; }
      CVec slopes() const override { return {}; }
      const Located& at;
      CVec y_;
    };
    return std::make_unique<AlreadyFeasible>(located);
  }

private:
  std::shared_ptr<PythonObject> python_;
  Index primal_, dual_, stored_;
  Unit unit_;
};

struct BoundOutside final : BoundQuestion {
  Outside core;
  BoundOutside(std::shared_ptr<PythonObject> python, Index primal, Index dual)
      : core(std::move(python), primal, dual) {}
  const Question& question() const override { return core; }
};

// An epoch in Python calls this after each part of its work, and ends if it returns true: the time is up, or
// Ctrl-C was pressed. It is a class because converting a std::function may allocate, in a place where an
// exception would end the process.
struct Beat {
  Pulse* pulse;
  bool operator()(Index work) const { return pulse->beat(std::max<Index>(work, 0)) || pulse->look(); }
};

class OutsideAlgorithm final : public Algorithm {
public:
  OutsideAlgorithm(std::shared_ptr<PythonObject> python, Located& located)
      : python_(std::move(python)), located_(located) {}

  void epoch(Pulse& pulse) override {
    python_->call("epoch", [](nb::object) {}, Beat{&pulse});
  }
  void locate(Point& point) override {
    using Told = std::tuple<Array<Real>, Array<Real>, Real, Real, Real, Index>;
    python_->call("locate", [&](nb::object told) {
      const auto [x, y, primal, dual, terms, nonzeros] = nb::cast<Told>(told);
      const CVec at = sized(x, Index(point.x.size())), proof = sized(y, Index(point.y.size()));
      std::copy(at.begin(), at.end(), point.x.begin());
      std::copy(proof.begin(), proof.end(), point.y.begin());
      located_ = {primal, dual, terms, nonzeros};
    });
  }
  void resync(const Point&) override {
    python_->call("resync", [](nb::object) {});
  }

private:
  std::shared_ptr<PythonObject> python_;
  Located& located_;
};

BoundAlgorithm outside(nb::object algorithm, Index primal, Index dual) {
  BoundAlgorithm result;
  const auto python = std::make_shared<PythonObject>(algorithm, result.failure);
  try {
    auto* question = new BoundOutside(python, primal, dual);
    result.problem_object = nb::cast(question, nb::rv_policy::take_ownership);
    result.algorithm = std::make_unique<OutsideAlgorithm>(python, question->core.located);
  } catch (const Abandoned&) { raise_failure(result); }
  return result;
}

} // namespace

void def_outside(nb::module_& m) {
  nb::class_<BoundOutside, BoundQuestion>(m, "Outside", "A problem written in Python.");
  nb::class_<Beat>(m, "Beat", "Counts the entries touched; true means that the epoch must end now.")
      .def("__call__", &Beat::operator(), "work"_a);
  m.def("outside", &outside, "algorithm"_a, "primal_size"_a, "dual_size"_a,
        "An algorithm written in Python, with unit(), stored(), epoch(beat), locate() and resync().");
}

} // namespace southwell
