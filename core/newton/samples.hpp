// What Newton's method asks of the samples. Vectors of the length of the samples (margins, derivatives,
// curvatures, dual points, centres of softened kinks) live behind this interface; the driver holds only what
// has the length of the working set W or of all features. Every answer is a sum over rows, so samples in
// several parts answer by adding the answers of the parts in a fixed order.
//
// docs/architecture.md has the interface on one page, with the length and the cost of each answer.
#pragma once
#include "core/newton/expansion.hpp"
#include "core/question.hpp"

namespace southwell {

// Products with the columns of the working set, k numbers wide.
class SetProducts {
public:
  virtual ~SetProducts() = default;
  virtual void forward(CVec u, Vec out) const = 0; // out = A_W u
};

class Samples {
public:
  virtual ~Samples() = default;

  // Margins anew from the coefficients of W, the intercept set to zero there; `intercept` is a guess, and
  // then the one they have: the best of the loss itself or, once rounds on a softened loss have begun, the
  // guess.
  virtual void place(CVec x, Vec intercept) = 0;
  virtual void slopes(Vec out) = 0;      // A'(s o y) of all features, y being the derivatives at the margins
  virtual void tell(Point& point) = 0;   // the point's margins, dual point and best intercept
  virtual Real value() = 0;              // sum_i s_i phi_i at the present margins
  virtual bool expand(const Floor&) = 0; // derivatives there; true: second derivatives have changed

  virtual Real aim(CVec change) = 0;                  // along A_W change; the derivative of the loss that way
  virtual std::vector<Real> values(CVec lengths) = 0; // the loss at several step lengths
  virtual void go(Real length) = 0;                   // to the last of these or to another
  virtual Index lengths_at_once() const { return 1; } // how many are worth asking for together

  // Kinks of the loss are softened by q around centres (SoftLoss).
  virtual bool kinked() const = 0;
  virtual Real softness() const = 0;
  virtual void soften(Real q) = 0;
  virtual void recentre() = 0; // the centres move to the derivatives

  // The samples themselves, if they are in memory: a model may then keep a residual over them.
  virtual const Expansion* local() const { return nullptr; }
};

} // namespace southwell
