// A problem over numbers whose samples are in parts, and its certificate from sums over the parts: nothing
// here has the length of the samples.
//
//   P(x)   = sum_k value_k + g(x)
//   D(t y) = - sum_k conjugates_k(t) - g*(-t z),    z = sum_k slopes_k,    t the largest scale with -t z in
//   dom g*
//
// With an intercept y is balanced; what is left of its slope q >= 0 up to rounding lowers D by at most
// q (||m|| + q / smoothness) in the s-weighted norm, as in feasible.hpp.
#pragma once
#include "core/newton/part_in_file.hpp"

namespace southwell {

// What of the data of all parts has the length of the features.
class DesignInParts {
public:
  // `mapped`: for each part the bytes of files that its data are in, if they are to be let go; or none at
  // all.
  DesignInParts(std::vector<const Problem*> parts, std::vector<Mapped> mapped)
      : parts_(std::move(parts)), mapped_(std::move(mapped)) {}

  const std::vector<const Problem*>& parts() const { return parts_; }
  const std::vector<Mapped>& mapped() const { return mapped_; }
  Index rows() const { return 0; } // that this process knows one by one
  Index cols() const { return parts_.front()->design.cols(); }
  Index stored() const {
    Index total = 0;
    for (const Problem* part : parts_) total += part->design.stored();
    return total;
  }
  bool lies_by_rows() const { return false; }      // to a driver: features join as they are needed
  void column_squared_norms(CVec, Vec out) const { // each part has its weights
    std::fill(out.begin(), out.end(), 0.0);
    std::vector<Real> own(out.size());
    for (std::size_t k = 0; k < parts_.size(); ++k) {
      parts_[k]->design.column_squared_norms(parts_[k]->loss.weights(), own);
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += own[j];
      if (!mapped_.empty()) mapped_[k].let_go();
    }
  }

private:
  std::vector<const Problem*> parts_;
  std::vector<Mapped> mapped_;
};

// What a loss says about itself.
class LossTraits {
public:
  explicit LossTraits(const SampleLoss& loss) : loss_(loss) {}
  bool quadratic() const { return loss_.quadratic(); }
  bool piecewise() const { return loss_.piecewise(); }
  Real smoothness() const { return loss_.smoothness(); }
  CVec weights() const { return {}; }

private:
  const SampleLoss& loss_;
};

struct ProblemInParts final : Question {
  using Columns = FeatureNames;

  DesignInParts design;
  LossTraits loss;
  const ElasticNet& penalty;

  // Each part is a problem over its rows, with the same loss and penalty, and with the weights that its
  // samples have among all.
  explicit ProblemInParts(std::vector<const Problem*> parts, std::vector<Mapped> mapped = {})
      : design(checked(std::move(parts)), std::move(mapped)), loss(first().loss), penalty(first().penalty) {}

  bool has_intercept() const { return first().has_intercept(); }
  Index width() const { return 1; }
  Index primal_size() const override { return design.cols(); }
  Index dual_size() const override { return 0; }
  Index stored() const override { return design.stored(); }
  Real value(const Point& point) const override { return at(point).objective() + penalty.value(point.x); }
  Real terms(const Point& point) const override { return at(point).sums().terms; }
  Index nonzeros(CVec x) const override { return first().nonzeros(x); }
  Unit unit(Point& scratch) const override {
    for (Index j = 0; j < penalty.penalised(); ++j) scratch.x[j] = clip(0, penalty[j].domain());
    SamplesInParts samples = in_memory(Policy());
    samples.place_all(scratch.x);
    const Real trivial = dual_at_zero(samples), null = samples.objective() + penalty.value(scratch.x);
    return unit_of(null, trivial, samples.sums().terms);
  }
  std::unique_ptr<Bound> bound(std::function<bool()> hurry) const override;

  Real dual_at_zero(Samples& samples) const {
    Real penalty_part = 0;
    for (Index j = 0; j < penalty.penalised(); ++j) penalty_part += penalty[j].conjugate(0);
    return -samples.conjugates(std::vector<Real>{0}).front() - penalty_part;
  }
  // `softness` of kinks of the loss; any serves where only certificates are wanted.
  SamplesInParts in_memory(const Policy& policy, Real softness = 1,
                           const FeatureNames* names = nullptr) const {
    SamplesInParts::Parts parts;
    const std::vector<Mapped>& mapped = design.mapped();
    for (std::size_t k = 0; k < design.parts().size(); ++k) {
      const Problem& part = *design.parts()[k];
      if (mapped.empty())
        parts.push_back(std::make_unique<PartInMemory>(part, softness, policy));
      else
        parts.push_back(
            std::make_unique<PartInFile>(part, softness, policy, mapped[k], mapped[(k + 1) % mapped.size()]));
    }
    return {std::move(parts), first().loss, has_intercept(), design.cols(), softness, names};
  }
  static Samples& at(const Point& point) {
    if (!point.samples)
      throw std::logic_error("a point of a problem in parts needs the samples that stand at it");
    return *point.samples;
  }

private:
  const Problem& first() const { return *design.parts().front(); }
  static std::vector<const Problem*> checked(std::vector<const Problem*> parts) {
    if (parts.empty()) throw std::invalid_argument("samples in parts need at least one part");
    const Problem& one = *parts.front();
    for (Index j = 0; j < one.penalty.penalised(); ++j)
      if (std::min(one.penalty[j].feasible_scale(1), one.penalty[j].feasible_scale(-1)) == 0)
        throw std::invalid_argument("samples in parts need a penalty on every feature but the intercept: the "
                                    "certificate projects dual points on columns of unpenalised features");
    for (const Problem* part : parts) {
      if (part->design.cols() != one.design.cols() || part->has_intercept() != one.has_intercept())
        throw std::invalid_argument("all parts must have the same features");
      if (part->penalty.kink() != one.penalty.kink() || part->penalty.ridge() != one.penalty.ridge())
        throw std::invalid_argument("all parts must have the same penalty");
      for (Index j = 0; j < one.penalty.penalised(); ++j)
        if (!(part->penalty[j] == one.penalty[j]))
          throw std::invalid_argument("all parts must have the same penalty: weights or bounds differ");
      for (Index j = 0; j < one.design.cols(); ++j)
        if (part->design.constant(j) != one.design.constant(j))
          throw std::invalid_argument("all parts must be centred alike");
    }
    return parts;
  }
};

class BoundInParts final : public Bound {
public:
  explicit BoundInParts(const ProblemInParts& problem) : problem_(problem) {}

  Real dual_value(const Point& point) override {
    Samples& samples = ProblemInParts::at(point);
    z_ = point.slopes;
    const ElasticNet& g = problem_.penalty;
    const Samples::Sums sums = samples.sums();
    const Real norm = std::sqrt(sums.square);
    Real debt = 0;
    if (problem_.has_intercept()) {
      const Real q = std::abs(std::exchange(z_.back(), 0.0));
      debt = q * (std::sqrt(sums.margins) + q / problem_.loss.smoothness());
      if (!(q <= 1e-4 * norm) && q > 0) debt = infinity; // y is not balanced
    }
    const std::vector<Real> scales{g.feasible_scale(z_, true), g.feasible_scale(z_, false)},
        losses = samples.conjugates(scales);
    const auto value_at = [&](std::size_t k) { return -(losses[k] + g.conjugate(z_, scales[k]) + debt); };
    scale_ = scales[0];
    Real best = value_at(0);
    if (scales[1] < scale_)
      if (const Real value = value_at(1); value > best) {
        best = value;
        scale_ = scales[1];
      }
    // After an overflow, if no scale is feasible, or if the debt is too large, D(0) is the bound; it always
    // holds.
    if (const bool lost = !std::isfinite(best); lost || debt > 0)
      if (const Real trivial = problem_.dual_at_zero(samples); lost || trivial > best) {
        scale_ = 0;
        best = trivial;
      }
    return best;
  }
  CVec y() const override { return {}; } // the parts have it
  Real scale() const override { return scale_; }
  CVec slopes() const override { return z_; }

private:
  const ProblemInParts& problem_;
  std::vector<Real> z_;
  Real scale_ = 1;
};

inline std::unique_ptr<Bound> ProblemInParts::bound(std::function<bool()>) const {
  return std::make_unique<BoundInParts>(*this);
}

} // namespace southwell
