// The quadratic model of the loss around X on a working set of blocks, and its minimiser: block coordinate
// sweeps find which blocks are zero, conjugate gradients where the penalty is smooth find the rest
// (manifold.hpp).
//
// Sample i bends the model by diag(h_i) or, where margins compete, by diag(h_i) - h_i h_i'/sum h_i
// (wide_loss.hpp). The squared loss is its own model: on few blocks all happens in their Gram matrix.
#pragma once
#include "core/drive.hpp"
#include "core/newton/block_gram.hpp"
#include "core/newton/block_products.hpp"
#include "core/newton/block_set.hpp"
#include "core/newton/floor.hpp"
#include "core/newton/soft_wide_loss.hpp"

namespace southwell {

class BlockModel {
public:
  // `loss`: that of the problem, without kinks.
  BlockModel(const WideProblem& problem, const SoftWideLoss& loss, const BlockSet& set)
      : problem_(problem), loss_(loss), set_(set), k_(problem.width()),
        floor_(problem.loss.piecewise() && !problem.loss.quadratic()),
        products_(problem, set.columns(), set.whole()),
        gram_(set.columns(), problem.loss.weights(), problem.has_intercept()),
        h_(std::size_t(problem.dual_size())), r_(h_.size()) {}
  BlockModel(const BlockModel&) = delete; // its parts look at each other

  const BlockProducts& products() const { return products_; }
  void begin(Pulse& pulse) {
    pulse_ = &pulse;
    left_ = false;
  }
  bool left() const { return left_; } // a coordinate that may move is left
  const std::vector<Real>& slopes() const { return z_; }

  // First and second derivatives at these margins. `certain`: y and slopes are those of a certificate.
  void linearise(Point& here, bool certain) {
    loss_.derivative(here.margins, here.y);
    loss_.curvature(here.y, h_);
    r_.assign(here.y.begin(), here.y.end());
    problem_.weigh(r_);
    if (!problem_.loss.quadratic()) bend_more();
    z_.resize(std::size_t(set_.size()));
    if (certain && set_.whole()) {
      z_ = here.slopes;
    } else {
      products_.backward(r_, {}, z_);
      spend(products_.entries() * std::min<Index>(k_, 4) + Index(h_.size()));
    }
  }
  // About what a better intercept is worth.
  Real intercept_gap() const {
    std::vector<Real> bend(static_cast<std::size_t>(k_));
    for (std::size_t i = 0; i < h_.size(); ++i) bend[i % bend.size()] += h_[i];
    Real total = 0;
    for (std::size_t c = 0; c < (problem_.has_intercept() ? bend.size() : 0); ++c) {
      const Real slope = z_[z_.size() - bend.size() + c];
      total += bend[c] > 0 ? slope * slope / bend[c] : 0;
    }
    return total;
  }
  // The minimiser, about, from x. `precision` is that of Newton steps, `target` a gap that will do, `value`
  // P.
  const std::vector<Real>& solve(const std::vector<Real>& x, Real precision, Real target, Real value) {
    u_ = x;
    diagonal_.resize(u_.size());
    precision_ = precision;
    Slots hot; // blocks that may move
    for (std::size_t b = 0; b < set_.blocks().size(); ++b) {
      const BlockAt& block = set_.blocks()[b];
      const CVec own = block.of(CVec(u_));
      const bool zero = std::all_of(own.begin(), own.end(), [](Real v) { return v == 0; });
      if (!zero || block.g.pull(block.of(CVec(z_)), 1 / 0.9) > block.g.strength)
        hot.push_back(std::int32_t(b));
    }
    if (set_.whole())
      newton();
    else if (problem_.loss.quadratic() && gram_pays(hot))
      solve_by_gram(hot, target, value);
    else
      solve_by_residual(hot);
    return u_;
  }
  // A part of the way to the minimiser was gone: 0 if none. True: there is another model to try.
  bool trust(Real part) {
    const bool again = !careful_ || (floor_.part() < 1 && !problem_.loss.quadratic());
    careful_ = careful_ || part < 0.1;
    floor_.gone(part);
    return again;
  }

private:
  using Slots = std::vector<std::int32_t>;
  static constexpr int most_sweeps = 10;

  bool spend(Index entries) { return left_ = pulse_->spend(entries) || left_; }

  // A model that is steep and straight has no minimum.
  void bend_more() {
    const CVec s = problem_.loss.weights();
    const auto k = std::size_t(k_);
    Real most = loss_.most_curvature();
    if (!std::isfinite(most)) {
      most = 0;
      for (std::size_t i = 0; i < h_.size(); ++i)
        most = s[i / k] > 0 ? std::max(most, h_[i] / s[i / k]) : most;
    }
    for (std::size_t i = 0; i < h_.size(); ++i) {
      h_[i] = (1 - floor_.part()) * h_[i] + floor_.part() * most * s[i / k];
      if (!floor_.pieces()) h_[i] = std::max(h_[i], 1e-4 * std::abs(r_[i]));
    }
  }

  // In the space of the hot blocks alone.
  bool gram_pays(const Slots& hot) const {
    Index features = 0, entries = 0;
    for (const Index b : hot) {
      const BlockAt& block = set_.blocks()[b];
      for (Index s = block.first / k_; s < (block.first + block.size) / k_; ++s) {
        ++features;
        entries += set_.columns().size(s);
      }
    }
    return features <= 4000 && features * features <= 4 * entries;
  }
  void solve_by_gram(const Slots& hot, Real target, Real value) {
    Slots slots;
    std::vector<BlockAt> blocks;
    for (const Index b : hot) {
      const BlockAt& block = set_.blocks()[b];
      blocks.push_back({Index(slots.size()) * k_, block.size, block.g});
      for (Index s = 0; s < block.size / k_; ++s) slots.push_back(std::int32_t(block.first / k_ + s));
    }
    if (gram_.form(slots, [&](Index entries) { return spend(entries); })) return;
    std::vector<Real> u(slots.size() * std::size_t(k_)), z(u.size());
    for (std::size_t s = 0; s < slots.size(); ++s) {
      std::copy_n(u_.begin() + slots[s] * k_, k_, u.begin() + Index(s) * k_);
      std::copy_n(z_.begin() + slots[s] * k_, k_, z.begin() + Index(s) * k_);
    }
    gram_.solve(blocks, k_, target, value, u, z, [&](Index entries) { return spend(entries); });
    for (std::size_t s = 0; s < slots.size(); ++s)
      std::copy_n(u.begin() + Index(s) * k_, k_, u_.begin() + slots[s] * k_);
  }

  // Sweeps that keep the residual r = s o (y + H A d), then a Newton step.
  void solve_by_residual(const Slots& hot) {
    if (products_.slots() == 0) return newton(); // there is only an intercept
    steepen(hot);
    std::vector<Real> buffer, slope;
    Real first = 0;
    set_.columns().visit([&](const auto& store) {
      for (int sweep = 0; sweep < most_sweeps && !left_; ++sweep) {
        Real moved = 0;
        for (const Index b : hot) {
          const BlockAt& block = set_.blocks()[b];
          slope.assign(std::size_t(block.size), 0.0);
          for (Index s = 0; s < block.size / k_; ++s)
            dot_wide(store[block.first / k_ + s], r_.data(), k_, slope.data() + s * k_);
          Index cost = set_.columns().size(block.first / k_) * block.size / k_;
          if (const Real worth = propose(block, k_, u_, slope, steep_[b], block.of(CVec(diagonal_)), buffer);
              worth > 0) {
            moved += worth;
            for (Index s = 0; s < block.size / k_; ++s)
              follow(store[block.first / k_ + s], buffer.data() + s * k_);
            cost *= 2;
          }
          if (spend(cost)) return;
        }
        if (sweep == 0) first = moved;
        if (moved <= 0.01 * first) break;
      }
    });
    if (!left_) newton();
  }
  // A column moves by k numbers: r_i += s_i H_i (a_i by).
  template <class F> void follow(const F& column, const Real* by) {
    if (k_ == 1) return column.visit([&](Index i, Real a) { r_[i] += h_[i] * a * *by; });
    const bool coupled = problem_.loss.coupled();
    column.visit([&](Index i, Real a) {
      const Real* h = h_.data() + i * k_;
      Real* r = r_.data() + i * k_;
      const Real mean = coupled ? problem_.loss.centre(h, by) : 0;
      for (Index c = 0; c < k_; ++c) r[c] += a * h[c] * (by[c] - mean);
    });
  }
  // A bound on the curvature of each block: of one feature, the largest of sum_i h_ic a_i^2; of several, that
  // of each added up, times how much of their trace is in the largest eigenvalue.
  void steepen(const Slots& hot) {
    products_.squares(h_, diagonal_);
    spend(products_.entries());
    steep_.resize(set_.blocks().size());
    shares_.resize(steep_.size(), 0.0);
    for (const Index b : hot) {
      const BlockAt& block = set_.blocks()[b];
      Real total = 0;
      for (Index s = 0; s < block.size / k_; ++s) {
        const auto own = diagonal_.begin() + block.first + s * k_;
        total += *std::max_element(own, own + k_);
      }
      if (shares_[b] == 0) shares_[b] = share_of_trace(block);
      steep_[b] = total * (careful_ ? 1 : shares_[b]);
    }
  }
  // By powers of A_g' diag(s) A_g; with something to spare, as h is not s.
  Real share_of_trace(const BlockAt& block) {
    const Index first = block.first / k_, count = block.size / k_;
    if (count == 1) return 1;
    const CVec s = problem_.loss.weights();
    std::vector<Real> along(s.size());
    Real value = 0, trace = 0;
    set_.columns().visit([&](const auto& store) {
      for (Index t = 0; t < count; ++t)
        trace += store[first + t].sum([&](Index i, Real a) { return s[i] * a * a; });
      value = largest_eigenvalue(count, 15, 1e-2, [&](std::vector<Real>& v) {
        std::fill(along.begin(), along.end(), 0.0);
        for (Index t = 0; t < count; ++t) store[first + t].add_to(along, v[t]);
        for (std::size_t i = 0; i < along.size(); ++i) along[i] *= s[i];
        for (Index t = 0; t < count; ++t) v[t] = store[first + t].dot(along);
      });
    });
    spend(30 * set_.columns().size(first) * count);
    return trace > 0 && value > 0 ? std::min(1.5 * value / trace, 1.0) : 1;
  }

  // Conjugate gradients where the penalty is smooth, from u_.
  void newton() {
    const std::vector<BlockAt>& blocks = set_.blocks();
    const Manifold manifold(blocks, u_, problem_.has_intercept() ? k_ : 0, problem_.loss.quadratic());
    std::vector<char> marks(std::size_t(products_.slots()), char(set_.whole()));
    if (!set_.whole())
      for (std::size_t b = 0; b < blocks.size(); ++b)
        if (manifold.active(b))
          std::fill_n(marks.begin() + blocks[b].first / k_, blocks[b].size / k_, char(1));
    // Columns are read four at a time where all are: marks pay only where they spare more than that.
    if (2 * std::count(marks.begin(), marks.end(), char(1)) > Index(marks.size())) marks.clear();
    if (!set_.whole()) products_.backward(r_, marks, z_); // sweeps have moved it
    along_.resize(h_.size());
    d_.resize(u_.size());
    image_.resize(u_.size());
    products_.diagonal(h_, diagonal_);
    const auto product = [&](CVec v, Vec out) {
      products_.forward(v, along_);
      problem_.loss.bend(h_, along_, along_);
      products_.backward(along_, marks, out);
    };
    const Index price = products_.entries() * 2 * std::min<Index>(k_, 4);
    manifold.solve(
        z_, diagonal_, product, [&] { return spend(price); }, precision_, 200, buffers_, d_, image_);
    if (!shorten(manifold, z_, product, d_, image_)) return;
    for (std::size_t e = 0; e < u_.size(); ++e) u_[e] += d_[e];
  }

  const WideProblem& problem_;
  const SoftWideLoss& loss_;
  const BlockSet& set_;
  Index k_;
  Floor floor_;
  BlockProducts products_;
  BlockGram gram_;
  std::vector<Real> h_, r_, along_;                                 // over the samples
  std::vector<Real> z_, u_, d_, image_, diagonal_, steep_, shares_; // over the set
  Manifold::Buffers buffers_;
  Pulse* pulse_ = nullptr;
  Real precision_ = 0.1;
  bool left_ = false, careful_ = false;
};

} // namespace southwell
