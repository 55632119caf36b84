// Block coordinate descent, on either side; a rule selects the blocks.
//
//   primal   a group moves by a proximal step: X_g = prox of g_g, step 1/L_g, at X_g - Z_g / L_g, with
//            L_g = (1/gamma) times the largest eigenvalue of A_g' diag(s) A_g. Kept: the margins M and
//            s o phi'(M), row by row as the group's columns touch them; of the squared loss the latter alone.
//   dual     a sample moves as in SDCA: y_i = argmax <y, m_i> - phi_i*(y) - (q/2)||y - y_i||^2, m_i = a_i'X,
//            X = grad g*(-Z), q = s_i ||a_i||^2 / l2. Kept: Z, and X on the groups that a row touches.
//
// An epoch costs three passes over the stored entries, k numbers wide. What the frame adds costs O(k) a move
// for the squared loss (primal) and for l2 alone (dual); otherwise a move of a centred column changes all
// margins, and one of a row that has a constant everywhere all slopes.
#pragma once
#include "core/block_problem.hpp"
#include "core/coupling/wide_mirror.hpp"
#include "core/drive.hpp"
#include "core/rules/rule.hpp"
#include "core/support/powers.hpp"

namespace southwell {

class BlockDescent final : public Algorithm {
public:
  BlockDescent(const BlockProblem& problem, std::unique_ptr<AnyFibers> columns, std::unique_ptr<Rule> rule,
               CVec x)
      : problem_(problem), columns_(std::move(columns)), rule_(std::move(rule)), k_(problem.width()),
        x_(x.begin(), x.end()), row_(std::size_t(k_)),
        mirror_(*columns_, k_, rates(problem.loss.quadratic())) {
    norms_.resize(std::size_t(problem.design.cols()));
    problem.design.column_squared_norms(problem.loss.weights(), norms_);
    WideMirror along(*columns_, 1, rates(true));
    for (Index g = 0; g < blocks(); ++g) steep_.push_back(problem.loss.smoothness() * largest(g, along));
  }
  void epoch(Pulse& pulse) override {
    for (Index left = blocks(); left > 0; --left) {
      Index g;
      rule_->next({&g, 1});
      if (pulse.beat(move(g))) return;
    }
  }
  void locate(Point& point) override {
    point.x = x_;
    problem_.complete_from_primal(point);
  }
  void resync(const Point& point) override {
    x_ = point.x;
    std::vector<Real> image(point.margins.size());
    for (Index i = 0; i < problem_.design.rows(); ++i)
      weigh(i, point.margins.data() + i * k_, image.data() + i * k_);
    mirror_.reset(image, point.margins);
  }

private:
  Index blocks() const { return problem_.penalty.count() + problem_.has_intercept(); }
  std::vector<Index> features(Index g) const {
    if (g >= problem_.penalty.count()) return {problem_.design.cols() - 1};
    const auto members = problem_.penalty.of(g);
    return {members.begin(), members.end()};
  }
  std::vector<Real> rates(bool linear) const {
    const CVec s = problem_.loss.weights();
    return linear ? std::vector<Real>(s.begin(), s.end()) : std::vector<Real>();
  }
  void weigh(Index i, const Real* margins, Real* out) const { // s_i phi_i'
    problem_.loss.derivative(i, margins, out);
    for (Index c = 0; c < k_; ++c) out[c] *= problem_.loss.weights()[i];
  }
  Index move(Index g) {
    const std::vector<Index> members = features(g);
    if (!(steep_[g] > 0)) { // empty columns: x minimises the penalty alone
      for (const Index j : members) std::fill_n(x_.begin() + j * k_, k_, 0.0);
      return 0;
    }
    change_.resize(members.size() * std::size_t(k_));
    Index cost = 0;
    for (std::size_t t = 0; t < members.size(); ++t) {
      Real* own = change_.data() + Index(t) * k_;
      mirror_.read(members[t], own);
      for (Index c = 0; c < k_; ++c) own[c] = x_[members[t] * k_ + c] - own[c] / steep_[g];
      cost += columns_->size(members[t]);
    }
    if (g < problem_.penalty.count()) problem_.penalty[g].prox(change_, 1 / steep_[g]);
    bool moved = false;
    for (std::size_t t = 0; t < members.size(); ++t)
      for (Index c = 0; c < k_; ++c) {
        Real& by = change_[t * std::size_t(k_) + std::size_t(c)];
        const Real to = by;
        by -= std::exchange(x_[members[t] * k_ + c], to);
        moved = moved || by != 0;
      }
    if (!moved) return cost;
    return cost + 2 * mirror_.move(members, change_, [&](std::span<const std::uint32_t> samples) {
      for (const std::uint32_t i : samples) {
        weigh(i, mirror_.potential(i), row_.data());
        mirror_.put(i, row_.data());
      }
    });
  }
  Real
  largest(Index g,
          WideMirror& along) const { // eigenvalue of A_g' diag(s) A_g, by the power method; at most the trace
    const std::vector<Index> members = features(g);
    Real trace = 0;
    for (const Index j : members) trace += norms_[j];
    if (members.size() == 1) return trace;
    const std::vector<Real> nothing(std::size_t(problem_.design.rows()));
    const Real value = largest_eigenvalue(Index(members.size()), 50, 1e-4, [&](std::vector<Real>& v) {
      along.reset(nothing, {});
      along.move(members, v, [](auto) {});
      for (std::size_t t = 0; t < members.size(); ++t) along.read(members[t], &v[t]);
    });
    return value > 0 ? std::min(1.1 * value, trace) : trace;
  }

  const BlockProblem& problem_;
  std::unique_ptr<AnyFibers> columns_;
  std::unique_ptr<Rule> rule_;
  Index k_;
  std::vector<Real> x_, norms_, steep_, change_, row_;
  WideMirror mirror_;
};

class BlockAscent final : public Algorithm {
public:
  // `least` is the smallest l2.
  BlockAscent(const BlockProblem& problem, std::unique_ptr<AnyFibers> rows, std::unique_ptr<Rule> rule,
              CVec y, Real least)
      : problem_(problem), rows_(std::move(rows)), rule_(std::move(rule)), k_(problem.width()),
        y_(y.begin(), y.end()), norms_(std::size_t(problem.design.rows())), marks_(problem.penalty.count()),
        least_(least), read_(std::size_t(k_)), next_(read_.size()), mirror_(*rows_, k_, rates()) {
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
    for (Index g = 0; g < problem_.penalty.count(); ++g) {
      best(g, point.slopes);
      problem_.penalty.put(block_, g, point.x);
    }
    problem_.design.apply(point.x, k_, point.margins);
  }
  void resync(const Point& point) override { mirror_.reset(point.x, point.slopes); }

private:
  // Of X = -Z / l2, where there is only l2.
  std::vector<Real> rates() const {
    std::vector<Real> rates;
    for (Index j = 0; problem_.penalty.smooth() && j < problem_.penalty.penalised(); ++j)
      rates.push_back(-1 / problem_.penalty[problem_.penalty.group_of(j)].l2());
    return rates;
  }
  void best(Index g, CVec z) { // X_g = grad g_g*(-Z_g), into `block_`
    const CVec own = problem_.penalty.block(z, g, buffer_);
    block_.assign(own.begin(), own.end());
    for (Real& v : block_) v = -v;
    problem_.penalty[g].conjugate_gradient(block_);
  }
  Index move(Index i) {
    const Real s = problem_.loss.weights()[i], q = s * norms_[i] / least_;
    if (s == 0) return 0;
    mirror_.read(i, read_.data());
    Real* own = y_.data() + i * k_;
    problem_.loss.maximise(i, read_.data(), own, q, next_.data());
    bool moved = false;
    for (Index c = 0; c < k_; ++c) {
      read_[c] = s * (next_[c] - own[c]);
      moved = moved || read_[c] != 0;
      own[c] = next_[c];
    }
    if (!moved) return rows_->size(i);
    return rows_->size(i) + 2 * mirror_.move({&i, 1}, read_, [&](std::span<const std::uint32_t> features) {
      marks_.settle();
      for (const std::uint32_t j : features) marks_.mark(problem_.penalty.group_of(j));
      for (const std::uint32_t g : marks_.changed) {
        best(g, mirror_.potential());
        const auto members = problem_.penalty.of(g);
        for (std::size_t t = 0; t < members.size(); ++t)
          mirror_.put(members[t], block_.data() + Index(t) * k_);
      }
    });
  }

  const BlockProblem& problem_;
  std::unique_ptr<AnyFibers> rows_;
  std::unique_ptr<Rule> rule_;
  Index k_;
  std::vector<Real> y_, norms_;
  Ripple marks_; // which groups a row touches
  Real least_;
  std::vector<Real> read_, next_, block_, buffer_;
  WideMirror mirror_;
};

} // namespace southwell
