// What the one loop needs to know of a problem, whatever its coordinates are: numbers, blocks or matrices.
#pragma once
#include "core/concepts.hpp"
#include <cmath>
#include <functional>
#include <memory>
#include <vector>

namespace southwell {

struct Point;

// The unit in which gaps are judged: P(0) - D(0), the zero model against the trivial bound. For every loss
// that is zero at best, D(0) = 0 and this is P(0); for Poisson it is half the null deviance. With an
// intercept the zero model has its best one, so that adding a constant to the targets changes nothing. If the
// box excludes 0, its nearest point stands in.
struct Unit {
  Real scale;
  Real rounding; // below this a gap cannot be told from zero
  Real goal = 0; // where it is small enough
};

// A difference that cannot be told from zero counts as zero. `terms` is the size of the numbers that cancel
// in it.
inline Unit unit_of(Real null, Real trivial, Real terms) {
  const Real scale = null - trivial, rounding = 1e-15 * (std::abs(null) + std::abs(trivial) + terms);
  return {scale > rounding ? scale : 0, rounding};
}

// Makes dual points feasible, whose values then bound the optimum from below.
class Bound {
public:
  virtual ~Bound() = default;
  // By how much rounding of the margins may have put the point's value too low, where that can matter.
  virtual Real primal_rounding(const Point&) { return 0; }
  virtual Real dual_value(const Point& point) = 0; // D at a feasible point near the point's y:
  virtual CVec y() const = 0;                      // this one,
  virtual Real scale() const = 0;                  // times this;
  virtual CVec slopes() const = 0;                 // and its slopes before that
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
  // `hurry` is asked between products; true ends the work early.
  virtual std::unique_ptr<Bound> bound(std::function<bool()> hurry) const = 0;
};

// A pair (x, y) with both of its products freshly computed.
struct Point {
  std::vector<Real> x, y, margins, slopes;

  explicit Point(const Question& question)
      : x(question.primal_size()), y(question.dual_size()), margins(y.size()), slopes(x.size()) {}
};

} // namespace southwell
