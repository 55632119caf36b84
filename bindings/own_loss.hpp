// A loss of one's own as Python gives it: an object that answers with arrays, or the addresses of compiled
// functions.
#pragma once
#include "bindings/arrays.hpp"
#include "bindings/lock.hpp"
#include "core/own_loss.hpp"

namespace southwell {

// Asks `answer(which, m, b)` of a Python object, with arrays that it may keep or change.
class PythonLoss final : public OwnLoss {
public:
  PythonLoss(nanobind::object answer, std::string name, bool curved, Real smoothness)
      : OwnLoss(std::move(name), curved, smoothness), answer_(std::move(answer)) {}
  ~PythonLoss() override {
    locked([&] { answer_.reset(); });
  }

private:
  void answer(Asked asked, CVec m, CVec b, Vec out) const override {
    locked([&] {
      const nanobind::object told = answer_(int(asked), to_numpy(m), to_numpy(b));
      const CVec values = sized(nanobind::cast<Array<Real>>(told), Index(out.size()));
      std::copy(values.begin(), values.end(), out.begin());
    });
  }

  nanobind::object answer_;
};

// Calls functions of many samples: void f(int64_t n, const double* m, const double* b, double* out).
class CompiledLoss final : public OwnLoss {
public:
  using Function = void (*)(std::int64_t, const double*, const double*, double*);
  CompiledLoss(Function value, Function derivative, Function curvature, std::string name, Real smoothness)
      : OwnLoss(std::move(name), curvature != nullptr, smoothness), value_(value), derivative_(derivative),
        curvature_(curvature) {}

private:
  void answer(Asked asked, CVec m, CVec b, Vec out) const override {
    const Function f = asked == Asked::value ? value_ : asked == Asked::derivative ? derivative_ : curvature_;
    f(Index(m.size()), m.data(), b.data(), out.data());
  }

  Function value_, derivative_, curvature_;
};

} // namespace southwell
