// Block coordinate descent, on either side; a rule selects the blocks.
//
//   primal   a group moves by a proximal step: X_g = prox of g_g, step 1/L_g, at X_g - Z_g / L_g, with
//            L_g = (1/gamma) times the largest eigenvalue of A_g' diag(s) A_g. Kept: the margins M and
//            s o phi'(M), row by row as the group's columns touch them.
//   dual     a sample moves as in SDCA: y_i = argmax <y, m_i> - phi_i*(y) - (q/2)||y - y_i||^2, m_i = a_i'X,
//            X = grad g*(-Z), q = s_i ||a_i||^2 / l2. Kept: Z, and X on the groups that a row touches.
//
// An epoch costs three passes over the stored entries, k numbers wide.
#pragma once
#include "core/block_problem.hpp"
#include "core/design/any_fibers.hpp"
#include "core/drive.hpp"
#include "core/rules/rule.hpp"
#include "core/support/powers.hpp"

namespace southwell {

class BlockDescent final : public Algorithm {
public:
  BlockDescent(const BlockProblem& problem, std::unique_ptr<AnyFibers> columns, std::unique_ptr<Rule> rule,
               CVec x)
      : problem_(problem), columns_(std::move(columns)), rule_(std::move(rule)), k_(problem.width()),
        here_(problem), r_(here_.y.size()) {
    here_.x.assign(x.begin(), x.end());
    for (Index g = 0; g < blocks(); ++g) steep_.push_back(problem.loss.smoothness() * largest(g));
  }
  void epoch(Pulse& pulse) override {
    for (Index left = blocks(); left > 0; --left) {
      Index g;
      rule_->next({&g, 1});
      if (pulse.beat(move(g))) return;
    }
  }
  void locate(Point& point) override {
    point.x = here_.x;
    problem_.complete_from_primal(point);
  }
  void resync(const Point& point) override {
    here_ = point;
    for (Index i = 0; i < problem_.design.rows(); ++i) refresh(i);
  }

private:
  Index blocks() const { return problem_.penalty.count() + problem_.has_intercept(); }
  std::vector<Index> features(Index g) const {
    if (g >= problem_.penalty.count()) return {problem_.design.cols() - 1};
    const auto members = problem_.penalty.of(g);
    return {members.begin(), members.end()};
  }
  void refresh(Index i) {
    problem_.loss.derivative(i, here_.margins.data() + i * k_, r_.data() + i * k_);
    for (Index c = 0; c < k_; ++c) r_[i * k_ + c] *= problem_.loss.weights()[i];
  }
  Index move(Index g) {
    const std::vector<Index> members = features(g);
    if (!(steep_[g] > 0)) { // empty columns: x minimises the penalty alone
      for (const Index j : members) std::fill_n(here_.x.begin() + j * k_, k_, 0.0);
      return 0;
    }
    change_.resize(members.size() * std::size_t(k_));
    Index cost = 0;
    for (std::size_t t = 0; t < members.size(); ++t) {
      Real* own = change_.data() + Index(t) * k_;
      columns_->dot(members[t], r_.data(), k_, own);
      for (Index c = 0; c < k_; ++c) own[c] = here_.x[members[t] * k_ + c] - own[c] / steep_[g];
      cost += columns_->size(members[t]);
    }
    if (g < problem_.penalty.count()) problem_.penalty[g].prox(change_, 1 / steep_[g]);
    bool moved = false;
    for (std::size_t t = 0; t < members.size(); ++t)
      for (Index c = 0; c < k_; ++c) {
        Real& by = change_[t * std::size_t(k_) + std::size_t(c)];
        const Real to = by;
        by -= std::exchange(here_.x[members[t] * k_ + c], to);
        moved = moved || by != 0;
      }
    if (!moved) return cost;
    touched_.settle();
    for (std::size_t t = 0; t < members.size(); ++t)
      columns_->add(members[t], change_.data() + Index(t) * k_, k_, touched_);
    for (const std::uint32_t i : touched_.changed) {
      for (Index e = Index(i) * k_; e < (Index(i) + 1) * k_; ++e)
        here_.margins[e] += std::exchange(touched_.values[e], 0.0);
      refresh(i);
    }
    return 3 * cost;
  }
  Real largest(Index g) const { // eigenvalue of A_g' diag(s) A_g, by the power method; at most the trace
    const std::vector<Index> members = features(g);
    const CVec s = problem_.loss.weights();
    std::vector<Real> along(s.size());
    Real trace = 0;
    std::vector<Index> positions;
    std::vector<Real> values;
    for (const Index j : members) {
      columns_->copy(j, positions, values);
      for (std::size_t e = 0; e < values.size(); ++e) trace += s[positions[e]] * values[e] * values[e];
    }
    if (members.size() == 1) return trace;
    const Real value = largest_eigenvalue(Index(members.size()), 50, 1e-4, [&](std::vector<Real>& v) {
      std::fill(along.begin(), along.end(), 0.0);
      for (std::size_t t = 0; t < members.size(); ++t) columns_->add(members[t], v[t], Vec(along));
      for (std::size_t i = 0; i < along.size(); ++i) along[i] *= s[i];
      for (std::size_t t = 0; t < members.size(); ++t) v[t] = columns_->dot(members[t], along);
    });
    return value > 0 ? std::min(1.1 * value, trace) : trace;
  }

  const BlockProblem& problem_;
  std::unique_ptr<AnyFibers> columns_;
  std::unique_ptr<Rule> rule_;
  Index k_;
  Point here_;
  std::vector<Real> r_, steep_, change_;
  Ripple touched_{problem_.design.rows(), k_};
};

class BlockAscent final : public Algorithm {
public:
  // `least` is the smallest l2.
  BlockAscent(const BlockProblem& problem, std::unique_ptr<AnyFibers> rows, std::unique_ptr<Rule> rule,
              CVec y, Real least)
      : problem_(problem), rows_(std::move(rows)), rule_(std::move(rule)), k_(problem.width()),
        y_(y.begin(), y.end()), norms_(std::size_t(problem.design.rows())), marks_(problem.penalty.count()),
        least_(least), read_(std::size_t(k_)), next_(read_.size()) {
    problem.loss.into_domain(y_);
    problem.design.row_squared_norms(norms_);
  }
  void epoch(Pulse& pulse) override {
    for (Index left = problem_.design.rows(); left > 0; --left) {
      Index i;
      rule_->next({&i, 1});
      if (pulse.beat(move(i))) return;
    }
  }
  void locate(Point& point) override {
    point.y = y_;
    problem_.slopes(point.y, point.slopes);
    point.x.assign(point.x.size(), 0.0);
    for (Index g = 0; g < problem_.penalty.count(); ++g) best(g, point.slopes, point.x);
    problem_.design.apply(point.x, k_, point.margins);
  }
  void resync(const Point& point) override {
    x_ = point.x;
    z_ = point.slopes;
  }

private:
  void best(Index g, CVec z, Vec x) { // X_g = grad g_g*(-Z_g)
    const CVec own = problem_.penalty.block(z, g, buffer_);
    block_.assign(own.begin(), own.end());
    for (Real& v : block_) v = -v;
    problem_.penalty[g].conjugate_gradient(block_);
    problem_.penalty.put(block_, g, x);
  }
  Index move(Index i) {
    const Real s = problem_.loss.weights()[i], q = s * norms_[i] / least_;
    if (s == 0) return 0;
    rows_->dot(i, x_.data(), k_, read_.data());
    Real* own = y_.data() + i * k_;
    problem_.loss.maximise(i, read_.data(), own, q, next_.data());
    bool moved = false;
    for (Index c = 0; c < k_; ++c) {
      read_[c] = s * (next_[c] - own[c]);
      moved = moved || read_[c] != 0;
      own[c] = next_[c];
    }
    if (!moved) return rows_->size(i);
    rows_->add(i, read_.data(), k_, z_.data());
    rows_->copy(i, positions_, values_);
    marks_.settle();
    for (const Index j : positions_) marks_.mark(problem_.penalty.group_of(j));
    for (const std::uint32_t g : marks_.changed) best(g, z_, x_);
    return 3 * rows_->size(i);
  }

  const BlockProblem& problem_;
  std::unique_ptr<AnyFibers> rows_;
  std::unique_ptr<Rule> rule_;
  Index k_;
  std::vector<Real> y_, x_, z_, norms_;
  Ripple marks_; // which groups a row touches
  Real least_;
  std::vector<Real> read_, next_, block_, buffer_, values_;
  std::vector<Index> positions_;
};

} // namespace southwell
