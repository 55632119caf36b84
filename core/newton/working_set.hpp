// The working set W: which units of the penalty (features, or groups of them) are in it, under which penalty,
// and which join it.
//
// Coefficients of W are one vector, k numbers for each feature in the order in which features joined; over
// groups the intercept, which is not a unit of theirs, comes last.
#pragma once
#include "core/newton/joining.hpp"
#include "core/newton/working_columns.hpp"
#include "core/policy.hpp"
#include "core/screening.hpp"

namespace southwell {

// What holds the columns of W: those of a design, unless the problem says that others hold them.
template <class P> struct ColumnsOf {
  using Type = WorkingColumns;
};
template <class P>
  requires requires { typename P::Columns; }
struct ColumnsOf<P> {
  using Type = typename P::Columns;
};

template <class P> class WorkingSet {
public:
  using Columns = typename ColumnsOf<P>::Type;
  using Unit = typename PenaltyOf<P>::Unit;

  WorkingSet(const P& problem, const Policy& policy, CVec x)
      : problem_(&problem), policy_(policy), k_(problem.width()), whole_(problem.penalty.whole()),
        columns_(problem.design, policy),
        slot_(std::size_t(problem.penalty.units(problem.design.cols())), -1) {
    std::vector<Index> names;
    for (Index u = 0; u < Index(slot_.size()); ++u)
      if (whole_ || nonzero(u, x) || !problem.penalty.kinked(u)) names.push_back(u);
    enter(names);
  }
  WorkingSet(const WorkingSet&) = delete; // models refer to it

  bool full() const { return names_.size() == slot_.size(); } // is everything in it?
  bool whole() const { return whole_; } // will everything always be in it, because the penalty has no kinks?
  bool eased() const { return ease_ != 1; }
  const Columns& columns() const { return columns_; }
  Index count() const { return Index(names_.size()); } // units
  Index name(Index b) const { return names_[b]; }
  Index first(Index b) const { return starts_[b] * k_; } // of its coefficients
  Index size(Index b) const { return (starts_[b + 1] - starts_[b]) * k_; }
  Unit penalty(Index b) const { return problem_->penalty.eased(names_[b], ease_); }
  Index slot(Index u) const { return slot_[u]; } // where in W a unit is, or -1
  Index size() const { return (starts_.back() + apart()) * k_; }

  // Coefficients of W out of those of all features, and back. With everything in it they are the same.
  std::vector<Real> taken(CVec all) const {
    if (whole_) return {all.begin(), all.end()};
    std::vector<Real> x(std::size_t(size()), 0.0);
    for (std::size_t s = 0; s < features_.size(); ++s)
      std::copy_n(all.begin() + features_[s] * k_, k_, x.begin() + Index(s) * k_);
    if (apart()) std::copy(all.end() - k_, all.end(), x.end() - k_);
    return x;
  }
  void put_back(CVec x, Vec all) const {
    if (whole_) return void(std::copy(x.begin(), x.end(), all.begin()));
    for (std::size_t s = 0; s < features_.size(); ++s)
      std::copy_n(x.begin() + Index(s) * k_, k_, all.begin() + features_[s] * k_);
    if (apart()) std::copy(x.end() - k_, x.end(), all.end() - k_);
  }

  // Of coefficients that are expected those of W, where units that would pass zero stop there.
  std::vector<Real> ahead(CVec from, CVec expected) const {
    std::vector<Real> to = taken(expected);
    const std::vector<Real> x = taken(from);
    for (Index b = 0; b < (whole_ ? 0 : count()); ++b) {
      Real along = 0;
      for (Index e = first(b); e < first(b) + size(b); ++e) along += x[e] * to[e];
      if (!(along > 0) && problem_->penalty.kinked(names_[b]))
        std::fill_n(to.begin() + first(b), size(b), 0.0);
    }
    return to;
  }

  // From zero a small penalty is reached by way of larger ones, a quarter of the last each round: with all
  // slopes far above it, too many units would join W, and the wrong ones. Where W may hold them all, that
  // does no harm.
  void ease(CVec x, CVec slopes) {
    if (whole_) return;
    ease_ = std::max((fresh_ ? largest_violation(x, slopes) : ease_) / policy_.ease_by, 1.0);
    fresh_ = false;
  }
  // Units whose slopes break their optimality condition join, the worst first. True: they are few, and all.
  bool choose(CVec x, CVec slopes, Screening<P>& screening) {
    if (whole_) return true;
    if (full()) { // nothing is left to join, and no norms are needed to choose it
      strong_ = 1;
      return !eased();
    }
    Joining joining = joining_beyond(strong_, x, slopes, screening);
    // Sparse data stored by rows are read as a whole for any unit that joins: features that the next few
    // points of a path will need come along.
    if (foreseen() && !joining.names.empty() && problem_->design.lies_by_rows() && !all_few())
      joining.names = joining_beyond(std::pow(strong_, policy_.foresight), x, slopes, screening).names;
    enter(joining.names);
    strong_ = 1;
    return !eased() && joining.complete;
  }
  // Has the strong rule (Tibshirani et al. 2012) named the units that will join? Ask before `choose`.
  bool foreseen() const { return strong_ < 1; }
  Real kink() const { return problem_->penalty.kink(); }
  void repenalise(const P& problem) {
    const Real before = problem_->penalty.kink(), now = problem.penalty.kink();
    strong_ = now > 0 && now < before ? std::max(2 - before / now, 0.0) : 1;
    problem_ = &problem;
    ease_ = 1;
  }

private:
  bool all_few() const { return few(problem_->design.cols() * k_, policy_); }
  bool apart() const { return PenaltyOf<P>::intercept_apart && problem_->has_intercept(); }
  bool nonzero(Index u, CVec x) const {
    bool any = false;
    problem_->penalty.each_feature(u, [&](Index j) {
      for (Index c = 0; c < k_; ++c) any = any || x[j * k_ + c] != 0;
    });
    return any;
  }
  void enter(std::span<const Index> units) {
    std::vector<Index> features;
    for (const Index u : units) {
      slot_[u] = std::int32_t(names_.size());
      names_.push_back(u);
      problem_->penalty.each_feature(u, [&](Index j) { features.push_back(j); });
      starts_.push_back(Index(features_.size() + features.size()));
    }
    features_.insert(features_.end(), features.begin(), features.end());
    if (!whole_ && !features.empty()) columns_.join(features);
  }
  // The factor by which the penalty would have to be stronger for no unit to join, if x = 0; otherwise 1.
  Real largest_violation(CVec x, CVec slopes) const {
    Real most = 1;
    if (all_few()) return most;
    for (Index u = 0; u < Index(slot_.size()); ++u) {
      if (!problem_->penalty.kinked(u)) continue;
      if (nonzero(u, x)) return 1;
      most = std::max(most, problem_->penalty.times_needed(u, slopes));
    }
    return most;
  }
  // Units whose slopes are beyond this part of their kink.
  Joining joining_beyond(Real part, CVec x, CVec slopes, Screening<P>& screening) const {
    const CVec norms = screening.unit_norms();
    return choose_joining(
        slot_, [&](Index u) { return nonzero(u, x); }, norms, screening.total_norm(),
        [&](Index u) { return screening.zero(u) ? 0 : problem_->penalty.violation(u, slopes, ease_ * part); },
        all_few(), policy_);
  }

  const P* problem_;
  const Policy& policy_;
  Index k_;
  bool whole_;
  Columns columns_;
  std::vector<std::int32_t> slot_; // where in W a unit is, or -1
  std::vector<Index> names_;       // of the units in W
  std::vector<Index> starts_{0};   // of their features
  std::vector<Index> features_;
  Real ease_ = 1;     // kinks of the penalty are this many times as strong, for now
  bool fresh_ = true; // has nothing moved yet?
  // Slopes beyond this part of the kink make a unit join; at a new penalty, by the strong rule
  // |z_j| > 2 l1 - l1_before, it is less than one.
  Real strong_ = 1;
};

} // namespace southwell
