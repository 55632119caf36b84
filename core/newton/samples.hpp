// What Newton's method asks of the samples. Vectors of the length of the samples (margins, derivatives,
// curvatures, dual points, centres of softened kinks) live behind this interface; the driver, its models and
// the certificate hold only what has the length of the working set W or of all features. Every answer is a
// sum (or a maximum) over rows, so samples in several parts answer by combining the answers of the parts in a
// fixed order (samples_in_parts.hpp).
//
// docs/architecture.md has the interface on one page, with the length and the cost of each answer.
#pragma once
#include "core/design/design.hpp"
#include "core/newton/expansion.hpp"
#include "core/question.hpp"
#include "core/sample_loss.hpp"
#include <functional>
#include <span>

namespace southwell {

// Products with the columns of the working set, k numbers wide.
class SetProducts {
public:
  virtual ~SetProducts() = default;
  virtual void forward(CVec u, Vec out) const = 0; // out = A_W u
};

class Samples {
public:
  using Slots = std::span<const std::int32_t>;
  // Counts the entries that an answer touches; true: it is abandoned.
  using Spend = std::function<bool(Index)>;

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

  // The samples themselves, if they are in memory: a model may then keep a residual over them. Without them
  // it asks the questions that follow, which samples of one margin each answer.
  virtual const Expansion* local() const { return nullptr; }

  // W, its columns with their frame, in the second-order expansion that `expand` made.
  virtual void join(std::span<const Index>) { refuse(); } // these features have joined W, in this order
  virtual Index entries() { refuse(); }                   // stored in its columns
  // Along each column the sums of r_i a_i (its slope), h_i a_i and h_i a_i^2 (its curvature).
  virtual void moments(std::span<Design::Moments>) { refuse(); }
  // The lines from `from` on of the lower triangle of H = A_S' diag(h) A_S, each up to its diagonal, one
  // after the other. Ask for `moments` first. False: abandoned.
  virtual bool gram(Slots, Index, Vec, const Spend&) { refuse(); }
  virtual bool product(Slots, CVec, Vec, const Spend&) { refuse(); } // H v; false: abandoned

  // Sums that a certificate needs, at the last place.
  struct Sums {
    Real terms = 0;   // sum s_i |y_i| (|m_i| + |b_i|): what the gap is a difference of
    Real square = 0;  // sum s_i y_i^2
    Real margins = 0; // sum s_i m_i^2
  };
  virtual Sums sums() { refuse(); }
  virtual Real objective() { refuse(); } // the loss itself, its kinks not softened, at its best intercept
  virtual std::vector<Real> conjugates(CVec) { refuse(); } // sum s_i phi_i*(t y_i) for each t

  // What `place` consists of, for samples in parts: between these steps the answers of the parts are
  // combined.
  virtual void put(CVec) { refuse(); }     // margins of these coefficients of W
  virtual void put_all(CVec) { refuse(); } // margins of these coefficients of all features
  virtual Slope along_intercept(Real) {
    refuse();
  } // both derivatives of the loss in a shift of all margins, there
  virtual Real value_shifted(Real) { refuse(); } // the loss there, its kinks not softened
  virtual Real largest() { refuse(); }           // |margin| or |target|
  virtual void shift(Real) { refuse(); }         // all margins; y are the derivatives there
  struct Signs {
    Real above = 0, below = 0; // sum s_i |y_i| of those y_i > 0, and of the others
  };
  virtual Signs signs() { refuse(); }
  virtual void scale(Signs) { refuse(); } // both halves of y, by these factors
  // What `expand` consists of: the largest curvature of a sample, and the expansion when that of all parts is
  // known.
  virtual Real steepest() { refuse(); }
  virtual bool expand(const Floor&, Real) { refuse(); }

private:
  [[noreturn]] static void refuse() { throw std::logic_error("these samples do not answer this question"); }
};

} // namespace southwell
