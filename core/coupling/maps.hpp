// Maps from the product p that a coupling keeps to its image, the vector that fibers are multiplied with. It
// is the gradient of a separable function at p.
//
//   primal side   p = A x          image = s o phi'(p)           slope of coordinate j  = <A^j, image>
//   dual side     p = A'(s o y)    image = grad g*(-p) = x       margin of coordinate i = <a_i, image>
//
// For a linear map only the image is kept; for a curved one p too.
#pragma once
#include "core/penalties/all.hpp"
#include "core/sample_loss.hpp"
#include <utility>
#include <vector>

namespace southwell {

// Squared loss: image_i = s_i (p_i - b_i), the weighted residual. Offsets are in the targets.
class ResidualMap {
public:
  static constexpr bool linear = true;
  explicit ResidualMap(const SampleLoss& loss)
      : targets_(loss.targets()), weights_(loss.weights()), uniform_(southwell::uniform(weights_)) {}
  Real at(Index i, Real p) const { return weights_[i] * (p - targets_[i]); }
  Real rate(Index i) const { return weights_[i]; } // d image / d p
  bool uniform() const { return uniform_; }        // then a move adds a multiple of the fiber itself

private:
  CVec targets_, weights_;
  bool uniform_;
};

// Any smooth loss: image_i = s_i phi'(p_i).
template <SmoothLoss L> class DerivativeMap {
public:
  static constexpr bool linear = false;
  DerivativeMap(L loss, const SampleLoss& over)
      : loss_(loss), targets_(over.targets()), weights_(over.weights()), offsets_(over.offsets()) {}
  SOUTHWELL_INLINE Real at(Index i, Real p) const {
    return weights_[i] * loss_.derivative(offsets_.empty() ? p : p + offsets_[i], targets_[i]);
  }
  // s_i phi''(p_i), computed from the image, which saves an exponential.
  SOUTHWELL_INLINE Real curvature(Index i, Real image) const {
    return weights_[i] > 0 ? weights_[i] * loss_.curvature(image / weights_[i], targets_[i]) : 0;
  }

private:
  L loss_;
  CVec targets_, weights_, offsets_;
};

// The map of the dual side: image_j = argmax_x -p x - g_j(x) - (mu_j/2)(x - c_j)^2.
//
// If l2 is large enough, mu = 0. If l2 = 0 (pure L1, unpenalised, the intercept) g* has no gradient. A
// proximal term with centre c_j (the anchor) is added, and `recentre` moves the anchor to the current x_j:
// the proximal point method (Rockafellar 1976), which is the method of multipliers for the constraints that
// g* puts on the slopes.
class ConjugateMap {
public:
  // `anchor` holds the first centres, `firmness` is the least l2 + mu of stored columns, `intercept_firmness`
  // the mu of the intercept. With `momentum`, c = x + momentum (x - x at the last recentring): the
  // accelerated proximal point method.
  ConjugateMap(const ElasticNet& penalty, CVec anchor, Real firmness, Real intercept_firmness,
               Real momentum = 0)
      : penalty_(penalty), first_anchored_(Index(anchor.size())), momentum_(momentum) {
    const Index coordinates = Index(anchor.size());
    const auto mu = [&](Index j) {
      return j < penalty.penalised() ? std::max(firmness - penalty[j].strong_convexity(), 0.0)
                                     : intercept_firmness;
    };
    for (Index j = coordinates; j-- > 0;)
      if (mu(j) > 0) first_anchored_ = j;
    for (Index j = first_anchored_; j < coordinates; ++j) {
      mu_.push_back(mu(j));
      anchor_.push_back(clip(anchor[j], penalty[j].domain()));
    }
    if (momentum > 0) last_ = anchor_;
  }

  SOUTHWELL_INLINE Real at(Index j, Real p) const {
    const ScalarElasticNet g = penalty_[j];
    if (j < first_anchored_) return g.conjugate_gradient(-p);
    return g.conjugate_gradient(-p, mu_[j - first_anchored_], anchor_[j - first_anchored_]);
  }
  Real rate(Index j) const { return -1 / (penalty_[j].curvature(0) + mu(j)); } // where the map is linear
  Real mu(Index j) const { return j < first_anchored_ ? 0 : mu_[j - first_anchored_]; }

  bool anchored() const { return !anchor_.empty(); }
  Index first_anchored() const { return first_anchored_; }
  void recentre(Index j, Real x) {
    Real& anchor = anchor_[j - first_anchored_] = x;
    if (momentum_ > 0) anchor += momentum_ * (x - std::exchange(last_[j - first_anchored_], x));
  }
  Real anchor(Index j) const { return anchor_[j - first_anchored_]; }

protected:
  const ElasticNet& penalty_;
  Index first_anchored_;
  Real momentum_;
  std::vector<Real> mu_, anchor_, last_;
};

// With l1 or bounds the map is curved; without, it is linear.
struct CurvedConjugateMap : ConjugateMap {
  static constexpr bool linear = false;
  using ConjugateMap::ConjugateMap;
};
struct LinearConjugateMap : ConjugateMap {
  static constexpr bool linear = true;
  using ConjugateMap::ConjugateMap;
  bool uniform() const { return !penalty_.weighted(); } // over the stored columns
};

} // namespace southwell
