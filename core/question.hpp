// What the loop `drive` needs from a problem, whether its coordinates are numbers, blocks or matrices.
#pragma once
#include "core/concepts.hpp"
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

namespace southwell {

struct Point;
class Samples;

// The unit of gaps: P(0) - D(0), the objective of the zero model minus the trivial bound. For every loss with
// minimum zero, D(0) = 0 and this is P(0); for Poisson it is half the null deviance. With an intercept the
// zero model has the best one, so that adding a constant to the targets changes nothing. If the bounds
// exclude 0, the point nearest to 0 is taken.
struct Unit {
  Real scale;
  Real rounding; // a gap below this cannot be distinguished from zero
  Real goal = 0; // the gap at which the solve ends
};

// A difference within rounding of zero counts as zero. `terms` is the size of the numbers that cancel in it.
inline Unit unit_of(Real null, Real trivial, Real terms) {
  const Real scale = null - trivial, rounding = 1e-15 * (std::abs(null) + std::abs(trivial) + terms);
  return {scale > rounding ? scale : 0, rounding};
}

// Makes dual points feasible; their values are then lower bounds of the optimum.
class Bound {
public:
  virtual ~Bound() = default;
  // By how much P(x) may have been computed too low because of rounding errors in the margins, if that can
  // matter.
  virtual Real primal_rounding(const Point&) { return 0; }
  virtual Real dual_value(const Point& point) = 0; // D at a feasible point near the point's y,
  virtual CVec y() const = 0;                      // which is this
  virtual Real scale() const = 0;                  // times this factor,
  virtual CVec slopes() const = 0;                 // and its slopes before scaling
  // What was subtracted from D because slopes that must vanish do so only up to rounding.
  virtual Real charge() const { return 0; }
};

class Question {
public:
  virtual ~Question() = default;
  virtual Index primal_size() const = 0;
  virtual Index dual_size() const = 0;
  virtual Index stored() const = 0;                 // entries of the data: the cost of a product
  virtual Real value(const Point& point) const = 0; // P(x), from its margins
  virtual Real terms(const Point& point) const = 0; // the size of the numbers that cancel in a gap
  virtual Index nonzeros(CVec x) const = 0;
  virtual Unit unit(Point& scratch) const = 0; // `scratch` is all zero
  // `hurry` is called between products; true ends the work early.
  virtual std::unique_ptr<Bound> bound(std::function<bool()> hurry) const = 0;
};

// A pair (x, y) with both of its products freshly computed.
struct Point {
  std::vector<Real> x, y, margins, slopes;
  Samples* samples = nullptr; // where the samples are in parts these stand at x, and y and margins are empty

  explicit Point(const Question& question)
      : x(question.primal_size()), y(question.dual_size()), margins(y.size()), slopes(x.size()) {}
};

} // namespace southwell
