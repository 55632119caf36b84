// Makes any dual point feasible; its value is then a lower bound of the optimum.
//
//  1. Unpenalised coefficients need slopes of zero. For the intercept alone, y is balanced; for others, it is
//  projected.
//  2. If l2 = 0, slopes must be within the reach of the penalty's kinks (|z_j| <= l1): y is scaled towards 0,
//  which is in every dom phi*. If l2 is tiny, larger slopes are allowed but make the bound weak: y scaled as
//  if l2 were 0 is tried too, and the better value is taken.
//
// Each sample has k margins and each column k slopes; numbers (k = 1) and blocks differ in their penalty.
#pragma once
#include "core/free_columns.hpp"
#include "core/projection.hpp"
#include <algorithm>
#include <optional>

namespace southwell {

class Feasible : public Bound {
public:
  Feasible(const LinearProblem& problem, std::function<bool()> hurry)
      : problem_(problem), k_(problem.width()), hurry_(hurry), project_(problem, std::move(hurry)),
        rounding_(1e-13 + 1e-16 * Real(problem.design.rows())), open_(problem.open_features()),
        intercept_alone_(open_.empty()) {
    if (problem.has_intercept()) open_.push_back(problem.features());
  }

  // Unpenalised coefficients may be so large that the margins, which are sums over them, have few accurate
  // digits.
  Real primal_rounding(const Point& point) final {
    if (intercept_alone_) return 0;
    y_ = point.y;
    Real total = 0;
    for (Index e = 0; e < problem_.features() * k_; ++e)
      total +=
          std::abs(point.x[e]) * (std::sqrt(norms()[e / k_]) + std::abs(problem_.design.constant(e / k_)));
    const Real error = 1e-15 * total;
    const Real bend = problem_.losses().smoothness(); // infinite for losses with kinks, of linear pieces
    return error * (weighted_norm(y_) + (std::isfinite(bend) ? bend * error : 0));
  }

  Real dual_value(const Point& point) final {
    y_ = point.y;
    z_.assign(point.slopes.begin(), point.slopes.end());
    if (problem_.has_intercept() && largest_of_intercept() > 1e-15 * mean_size()) {
      problem_.losses().balance(own_y());
      problem_.slopes(y_, z_);
    }
    if (const Real off = violation(); off > rounding_ && off < 0.1 * last_failure_) {
      project();
      last_failure_ = violation() > rounding_ ? off : infinity; // tried again at a tenth of it
    }
    rounding_share_ = 0;
    const Real debt = forgive(point.margins);
    scale_ = least_scale(true);
    Real best = value(scale_) - debt;
    if (const Real tighter = least_scale(false); tighter < scale_ && may_gain(tighter, best + debt))
      if (const Real other = value(tighter) - debt; other > best) {
        best = other;
        scale_ = tighter;
      }
    // After an overflow, if no scale is feasible, or if the debt is too large, D(0) is the bound; it always
    // holds.
    if (const bool lost = !std::isfinite(best); lost || debt > 0) {
      const Real trivial = problem_.dual_at_zero();
      if (lost || trivial > best) {
        scale_ = 0;
        std::fill(own_y().begin(), own_y().end(), 0.0); // y may hold NaN
        best = trivial;
      }
    }
    charge_ = scale_ > 0 ? rounding_share_ * debt : 0;
    return best;
  }
  CVec y() const final { return y_; }
  Real scale() const final { return scale_; }
  CVec slopes() const final { return z_; }
  Real charge() const final { return charge_; }

protected:
  // The largest scale of y that puts all slopes of penalised features in dom g*, with l2 counted in full or
  // not at all.
  virtual Real least_scale(bool with_l2) const = 0;
  virtual Real penalty_conjugate(Real scale) const = 0; // sum g*(-scale z)
  // May x_j be nothing but >= 0, or nothing but <= 0? 1 and -1; 0 if both signs may occur.
  virtual int sign(Index j) const = 0;

private:
  // Whether this scale may have a larger dual value, as far as a tangent of the conjugates tells.
  bool may_gain(Real scale, Real value) const {
    return !(-(problem_.losses().conjugate_at_least(y_, scale) + penalty_conjugate(scale)) <= value);
  }
  Real value(Real scale) const {
    return -(problem_.losses().conjugate(y_, scale) + penalty_conjugate(scale));
  }

  Vec own_y() { // a copy of the point's y, made when it is first changed
    if (y_.data() != changed_y_.data()) changed_y_.assign(y_.begin(), y_.end());
    y_ = changed_y_;
    return changed_y_;
  }
  Real largest_of_intercept() const {
    Real most = 0;
    for (const Real z : CVec(z_).last(std::size_t(k_))) most = std::max(most, std::abs(z));
    return most;
  }
  // sum_i s_i sum_c term(e), e = i k + c; samples without weight may have any y.
  template <class Term> Real over_samples(Term&& term) const {
    const CVec s = problem_.losses().weights();
    if (k_ == 1) return unrolled(Index(s.size()), [&](Index i) { return s[i] > 0 ? s[i] * term(i) : 0; });
    Real total = 0;
    for (Index i = 0; i < Index(s.size()); ++i) {
      if (!(s[i] > 0)) continue;
      Real own = 0;
      for (Index e = i * k_; e < (i + 1) * k_; ++e) own += term(e);
      total += s[i] * own;
    }
    return total;
  }
  Real mean_size() const {
    return over_samples([&](Index e) { return std::abs(y_[e]); });
  }
  Real weighted_norm(CVec v) const {
    const auto square = [&](Real unit) {
      return over_samples([&](Index e) { return (v[e] / unit) * (v[e] / unit); });
    };
    if (const Real plain = square(1); plain > 1e-280 && plain < 1e280) return std::sqrt(plain);
    const Real most = largest(v); // squares of its numbers may overflow or vanish
    return most > 0 && std::isfinite(most) ? most * std::sqrt(square(most)) : most;
  }
  Real largest(CVec v) const {
    const CVec s = problem_.losses().weights();
    Real most = 0;
    for (std::size_t e = 0; e < v.size(); ++e)
      if (s[e / std::size_t(k_)] > 0) most = std::max(most, std::abs(v[e]));
    return most;
  }
  Real norm_of_targets() const { // and of offsets; classes: of e_b
    const CVec b = problem_.losses().targets(), o = problem_.losses().offsets();
    return (b.empty() ? 1 : weighted_norm(b)) + (o.empty() ? 0 : weighted_norm(o));
  }
  Real squared_norm(Index j) { // of column j; the intercept's is known without a pass over the data
    return j >= problem_.features() ? 1 : norms()[j];
  }
  CVec norms() {
    if (norms_.empty()) {
      norms_.resize(std::size_t(problem_.design.cols()));
      const CVec weights = problem_.losses().weights();
      problem_.design.column_squared_norms(weights, norms_);
      std::vector<Index> names(open_.begin(), open_.end() - problem_.has_intercept());
      measure_small_columns(problem_.design, weights, problem_.has_intercept(), std::move(names), norms_);
    }
    return norms_;
  }
  // `work(e, j)` for each slope e of a column j that must vanish, but does not.
  template <class Work> void each_violation(Work&& work) {
    for (const Index j : open_)
      for (Index e = j * k_; e < (j + 1) * k_; ++e)
        if (z_[e] != 0 && problem_.open(j, -z_[e])) work(e, j);
  }

  // Where columns are nearly dependent, shifts along the inverse of their Gram matrix may be so large that
  // they drown in rounding; those along its diagonal are not.
  void project() {
    if (!free_) find_free();
    if (!columns_) columns_.emplace(problem_, open_);
    for (const bool diagonal : {false, true}) {
      if (diagonal || inner_ == 0)
        project_(
            own_y(), *columns_, [&](CVec r, Vec out) { precondition(r, out, diagonal); },
            [&](Index j, Real z) { return problem_.open(j, -z); },
            [&, size = weighted_norm(y_)](Index j) {
              return (0.3 * rounding_ * std::sqrt(squared_norm(j)) + slope_error(j)) * size;
            });
      problem_.slopes(y_, z_);
      if (!(violation() > rounding_)) return;
    }
  }
  void precondition(CVec r, Vec out, bool diagonal) { // about (A'diag(s) A)^-1 r
    for (std::size_t e = 0; e < out.size(); ++e)
      out[e] = r[e] / std::max(squared_norm(open_[e / std::size_t(k_)]), 1e-300);
    if (!diagonal) free_->precondition(r, k_, [&](Index j) { return columns_->place(j); }, out);
  }

  Real slope_error(Index j) const { // relative to ||y||; the intercept's constant is its column
    return j < problem_.features() ? FreeColumns::slope_error(problem_.design, j) : 0;
  }
  // The largest slope of an unpenalised feature, relative to the norms of its column and of y.
  Real violation() {
    Real most = 0, size = -1;
    each_violation([&](Index e, Index j) {
      if (size < 0) size = weighted_norm(y_);
      const Real unit = std::sqrt(squared_norm(j)) * size;
      if (unit == 0) return; // it is no column, and its slope is rounding
      most = std::max(most, unit > 0 ? (std::abs(z_[e]) - slope_error(j) * size) / unit : infinity);
    });
    return most;
  }
  // Do slopes of unpenalised features vanish because they are too small for numbers, at a y that is?
  bool drowned() {
    if (intercept_alone_ || open_.empty()) return false;
    const Real size = weighted_norm(y_);
    return size > 0 && size < 1e-100 &&
           std::ranges::any_of(
               open_,
               [&](Index j) {
                 const Real unit = std::sqrt(squared_norm(j));
                 return unit > 0 && unit * size < 1e-290;
               });
  }
  // If all those slopes are zero up to rounding, sets them to zero. A feasible point is within distance q of
  // y (see FreeColumns), and D there is lower by at most q times the norm of the margins plus a term for the
  // curvature of phi*. Returns this amount, the debt; infinity if there is no such point near y.
  Real forgive(CVec margins) {
    if (drowned() || !(violation() <= rounding_)) return infinity;
    std::vector<Real> off(z_.size());
    bool any = false;
    each_violation([&](Index e, Index) {
      off[e] = std::exchange(z_[e], 0.0);
      any = true;
    });
    // Slopes that are computed as zero are known up to rounding too, except the sum of y, which is exact.
    if (!any && (intercept_alone_ || open_.empty())) return 0;
    if (!free_) find_free();
    if (inner_ > 0) { // use the slopes of the columns of U instead
      off.assign(std::size_t(inner_), 0.0);
      problem_.design.left()->adjoint(problem_.losses().weights(), y_, off);
    }
    const Real size = weighted_norm(y_), q = free_->part_in_span(off, k_, size);
    if (!(q <= 1e-4 * size)) return infinity;       // nearly dependent columns: no useful bound
    if (!intercept_alone_) widen(q - 1e-14 * size); // slopes have rounding errors of that size anyway
    rounding_share_ = q > 0 ? std::min(8 * free_->rounding_part(k_, size) / q, 1.0) : 0;
    const Real steepness = 1 / problem_.losses().smoothness();                 // of the derivative of phi*
    if (intercept_alone_) return q * (weighted_norm(margins) + q * steepness); // y is that of the margins
    // The margins of a solution count, and those of this point stand for them. A projection may have taken y
    // far from the derivatives at the latter: those that belong to y are then bounded by the targets and by y
    // itself.
    const Real known = weighted_norm(margins) + norm_of_targets();
    return 2 * q * (known * reach() + (size + q) * steepness);
  }
  // How many times farther than here the margins of a solution may be. A loss that becomes flat, as the hinge
  // does where 0 is an end of dom phi*, does not bound them: the curvature along the unpenalised columns
  // tells whether they are held here.
  Real reach() {
    if (!flat()) return 1;
    const LossSum& losses = problem_.losses();
    std::vector<Real> h(y_.size()), held(std::size_t(losses.samples())), squares(norms().size());
    const Real most = largest(y_);
    std::vector<Real> y(y_.begin(), y_.end()); // without what is rounding: no sample is held by that
    for (Real& v : y)
      if (std::abs(v) < 1e-12 * most) v = 0;
    losses.smooth() ? losses.curvature(y, h) : losses.inside(y, h);
    for (std::size_t i = 0; i < held.size(); ++i) {
      const CVec own = CVec(h).subspan(i * std::size_t(k_), std::size_t(k_));
      const Real total = losses.coupled() ? std::reduce(own.begin(), own.end()) : 0;
      for (const Real v : own) held[i] += (total > 0 ? v * (1 - v / total) : v) / Real(k_);
    }
    problem_.design.column_squared_norms(held, squares);
    const Real bend = losses.smooth() ? losses.smoothness() : 1;
    const Real full = std::isfinite(bend) ? bend : norm_of_targets();
    Real least = 1;
    for (const Index j : open_)
      if (const Real all = squared_norm(j); all > 0) {
        const Real own = j < problem_.features() ? squares[j] : std::reduce(held.begin(), held.end());
        least = std::min(least, own / (all * full));
      }
    return std::clamp(0.01 / least, 1.0, 1e4);
  }
  bool flat() {
    for (const Real sign : {1.0, -1.0}) {
      if (flat_.value_or(false)) break;
      std::vector<Real> probe(y_.size(), sign);
      problem_.losses().into_domain(probe);
      flat_ = std::ranges::any_of(probe, [&](Real v) { return !(v * sign > 0); });
    }
    return *flat_;
  }
  // The feasible point at distance q has other slopes of penalised features too, by up to ||A_j|| q. They are
  // moved that far to where g* is larger. Without it the debt would have to bound A_U x_U = m - A_P x_P,
  // which may be far larger than m where a weak penalty lets x_P grow.
  void widen(Real q) {
    if (!(q > 0)) return;
    auto next = open_.begin();
    for (Index j = 0; j < problem_.features(); ++j) {
      if (next != open_.end() && *next == j) {
        ++next; // such slopes are as they must be
        continue;
      }
      const Real by = std::sqrt(squared_norm(j)) * q;
      for (Index e = j * k_; e < (j + 1) * k_; ++e)
        z_[e] += sign(j) != 0 ? -sign(j) * by : std::copysign(by, z_[e]);
    }
  }
  // Collects the unpenalised columns; or, if A = U V and they are more than the columns of U, those of U,
  // which span them.
  void find_free() {
    const CVec weights = problem_.losses().weights();
    const std::vector<Index> inner = inner_columns();
    if (!inner.empty() && inner.size() < open_.size()) {
      const Design& left = *problem_.design.left();
      inner_ = left.cols();
      lone_norms_.resize(std::size_t(inner_));
      left.column_squared_norms(weights, lone_norms_);
      free_.emplace(left, weights, problem_.has_intercept(), inner, lone_norms_, hurry_);
    } else {
      free_.emplace(problem_.design, weights, problem_.has_intercept(), open_, norms_of_free(), hurry_);
    }
  }
  std::vector<Index> inner_columns() const { // the columns of U that these columns combine
    const Design* right = problem_.design.right();
    if (!right) return {};
    std::vector<Real> those(std::size_t(problem_.design.cols())), sizes(std::size_t(right -> rows()));
    for (const Index j : open_) those[j] = 1;
    right->apply_sizes(those, 1, sizes);
    std::vector<Index> inner;
    for (std::size_t k = 0; k < sizes.size(); ++k)
      if (sizes[k] > 0) inner.push_back(Index(k));
    return inner;
  }
  CVec norms_of_free() { // that of an intercept is known without a pass over the data
    if (!intercept_alone_) return norms();
    lone_norms_.assign(std::size_t(problem_.design.cols()), 1.0);
    return lone_norms_;
  }

  const LinearProblem& problem_;
  const Index k_;
  std::function<bool()> hurry_;
  Projection project_;
  const Real rounding_;     // relative to ||column|| ||y||: a slope below this counts as zero
  std::vector<Index> open_; // columns that are open, in one direction at least; an intercept is the last
  const bool intercept_alone_;
  std::optional<FreeColumns> free_;
  std::optional<OpenColumns> columns_;
  Index inner_ = 0; // the number of columns of U, if `free_` holds those
  std::optional<bool> flat_;
  CVec y_; // refers to the point's y, or to `changed_y_`
  std::vector<Real> changed_y_, norms_, lone_norms_;
  // The last debt as far as rounding accounts for it, and the share that this is.
  Real charge_ = 0, rounding_share_ = 0;
  Real scale_ = 1, last_failure_ = infinity;

protected:
  std::vector<Real> z_; // slopes, those that must vanish set to zero
};

} // namespace southwell
