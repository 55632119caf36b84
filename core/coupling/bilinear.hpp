// The bilinear term sum_i s_i y_i <a_i, x> between a few y and a few x: what DSPDC keeps so that it can read
//
//     margin(i) = <a_i, xe>,   xe = x + theta dx           x has last moved by dx
//     slope(j)  = <A^j, s o ye>,   ye = y + (n/m - 1) dy   y has last moved by dy
//
// Three ways to keep them, by what is cheap: the slopes, when few rows move for many columns; the margins,
// when few columns move for many rows; or two short vectors between the factors of A = U V.
#pragma once
#include "core/design/any_fibers.hpp"
#include "core/problem.hpp"
#include <memory>

namespace southwell {

class Bilinear {
public:
  virtual ~Bilinear() = default;
  virtual void reset(const Point& point) = 0; // fresh products; who has moved last stays known
  virtual Real margin(Index i) const = 0;
  virtual Real slope(Index j) const = 0;
  // These have moved, s_i y_i by change_i or x_j by change_j. Returns the entries touched.
  virtual Index moved_y(std::span<const Index> rows, CVec change) = 0;
  virtual Index moved_x(std::span<const Index> columns, CVec change) = 0;
  virtual Index read_cost(bool margins, Index k) const = 0;
};

// z = A'(s o y) is kept, and xe; the rows are walked.
class KeptSlopes final : public Bilinear {
public:
  KeptSlopes(std::unique_ptr<AnyFibers> rows, Real theta, Real stretch)
      : rows_(std::move(rows)), theta_(theta), stretch_(stretch), last_(rows_->length()) {}

  void reset(const Point& point) override {
    z_ = point.slopes;
    extrapolated_ = point.x;
    for (const auto& [j, excess] : moved_) extrapolated_[j] += excess;
  }
  Real margin(Index i) const override { return rows_->dot(i, extrapolated_); }
  Real slope(Index j) const override { return z_[j] + (stretch_ - 1) * last_.values[j]; }
  Index moved_y(std::span<const Index> rows, CVec change) override {
    for (const std::uint32_t j : last_.changed) last_.values[j] = 0;
    last_.settle();
    Index cost = 0;
    for (std::size_t t = 0; t < rows.size(); ++t)
      if (change[t] != 0) {
        rows_->add(rows[t], change[t], last_);
        cost += rows_->size(rows[t]);
      }
    for (const std::uint32_t j : last_.changed) z_[j] += last_.values[j];
    return cost;
  }
  Index moved_x(std::span<const Index> columns, CVec change) override {
    for (const auto& [j, excess] : moved_) extrapolated_[j] -= excess;
    moved_.clear();
    for (std::size_t t = 0; t < columns.size(); ++t) {
      moved_.emplace_back(columns[t], theta_ * change[t]);
      extrapolated_[columns[t]] += (1 + theta_) * change[t];
    }
    return Index(columns.size());
  }
  Index read_cost(bool margins, Index k) const override { return margins ? rows_->size(k) : 1; }

private:
  std::unique_ptr<AnyFibers> rows_;
  Real theta_, stretch_;
  std::vector<Real> z_, extrapolated_;
  Ripple last_; // A'(s o dy)
  std::vector<std::pair<Index, Real>> moved_;
};

// m = A x is kept, and s o ye; the columns are walked.
class KeptMargins final : public Bilinear {
public:
  KeptMargins(std::unique_ptr<AnyFibers> columns, CVec weights, Real theta, Real stretch)
      : columns_(std::move(columns)), weights_(weights), theta_(theta), stretch_(stretch),
        last_(columns_->length()) {}

  void reset(const Point& point) override {
    m_ = point.margins;
    extrapolated_.resize(m_.size());
    for (std::size_t i = 0; i < m_.size(); ++i) extrapolated_[i] = weights_[i] * point.y[i];
    moved_.clear();
  }
  Real margin(Index i) const override { return m_[i] + theta_ * last_.values[i]; }
  Real slope(Index j) const override { return columns_->dot(j, extrapolated_); }
  Index moved_y(std::span<const Index> rows, CVec change) override {
    for (const auto& [i, excess] : moved_) extrapolated_[i] -= excess;
    moved_.clear();
    for (std::size_t t = 0; t < rows.size(); ++t) {
      moved_.emplace_back(rows[t], (stretch_ - 1) * change[t]);
      extrapolated_[rows[t]] += stretch_ * change[t];
    }
    return Index(rows.size());
  }
  Index moved_x(std::span<const Index> columns, CVec change) override {
    for (const std::uint32_t i : last_.changed) last_.values[i] = 0;
    last_.settle();
    Index cost = 0;
    for (std::size_t t = 0; t < columns.size(); ++t)
      if (change[t] != 0) {
        columns_->add(columns[t], change[t], last_);
        cost += columns_->size(columns[t]);
      }
    for (const std::uint32_t i : last_.changed) m_[i] += last_.values[i];
    return cost;
  }
  Index read_cost(bool margins, Index k) const override { return margins ? 1 : columns_->size(k); }

private:
  std::unique_ptr<AnyFibers> columns_;
  CVec weights_;
  Real theta_, stretch_;
  std::vector<Real> m_, extrapolated_;
  Ripple last_; // A dx
  std::vector<std::pair<Index, Real>> moved_;
};

// A = U V: U'(s o y) and V x are kept, and both extrapolated (algorithm 2 of the paper).
class KeptBetween final : public Bilinear {
public:
  KeptBetween(std::unique_ptr<AnyFibers> rows_of_u, std::unique_ptr<AnyFibers> columns_of_v, CVec weights,
              Real theta, Real stretch)
      : u_(std::move(rows_of_u)), v_(std::move(columns_of_v)), weights_(weights), theta_(theta),
        stretch_(stretch) {}

  void reset(const Point& point) override {
    const auto width = std::size_t(u_->length());
    std::vector<Real> ahead(width); // theta V dx
    for (std::size_t k = 0; k < vx_.size(); ++k) ahead[k] = vxe_[k] - vx_[k];
    uy_.assign(width, 0);
    vx_.assign(width, 0);
    for (Index i = 0; i < u_->count(); ++i)
      if (const Real c = weights_[i] * point.y[i]; c != 0) u_->add(i, c, uy_);
    for (Index j = 0; j < v_->count(); ++j)
      if (point.x[j] != 0) v_->add(j, point.x[j], vx_);
    uye_ = uy_;
    vxe_ = vx_;
    for (std::size_t k = 0; k < width; ++k) vxe_[k] += ahead[k];
  }
  Real margin(Index i) const override { return u_->dot(i, vxe_); }
  Real slope(Index j) const override { return v_->dot(j, uye_); }
  Index moved_y(std::span<const Index> rows, CVec change) override {
    return moved(*u_, rows, change, stretch_ - 1, uy_, uye_);
  }
  Index moved_x(std::span<const Index> columns, CVec change) override {
    return moved(*v_, columns, change, theta_, vx_, vxe_);
  }
  Index read_cost(bool margins, Index k) const override { return margins ? u_->size(k) : v_->size(k); }

private:
  // kept += step, ahead = kept + beyond * step
  static Index moved(const AnyFibers& fibers, std::span<const Index> which, CVec change, Real beyond,
                     Vec kept, Vec ahead) {
    std::copy(kept.begin(), kept.end(), ahead.begin());
    Index cost = 0;
    for (std::size_t t = 0; t < which.size(); ++t)
      if (change[t] != 0) {
        fibers.add(which[t], change[t], kept);
        cost += fibers.size(which[t]);
      }
    for (std::size_t k = 0; k < kept.size(); ++k) ahead[k] = kept[k] + beyond * (kept[k] - ahead[k]);
    return cost;
  }

  std::unique_ptr<AnyFibers> u_, v_;
  CVec weights_;
  Real theta_, stretch_;
  std::vector<Real> uy_, uye_, vx_, vxe_;
};

} // namespace southwell
