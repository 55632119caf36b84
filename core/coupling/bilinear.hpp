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

// One product is kept, by walking the fibers of whoever moves: z = A'(s o y) with the rows, m = A x with the
// columns. The other side is kept as a vector, extrapolated, and read with the same fibers.
class KeptProduct final : public Bilinear {
public:
  // `walked` are the rows, or the columns.
  KeptProduct(std::unique_ptr<AnyFibers> walked, bool rows, CVec weights, Real theta, Real stretch)
      : fibers_(std::move(walked)), rows_(rows), weights_(weights),
        beyond_product_(rows ? stretch - 1 : theta), beyond_other_(rows ? theta : stretch - 1),
        last_(fibers_->length()) {}

  void reset(const Point& point) override {
    product_ = rows_ ? point.slopes : point.margins;
    other_ = rows_ ? point.x : point.y;
    if (!rows_)
      for (std::size_t i = 0; i < other_.size(); ++i) other_[i] *= weights_[i];
    for (const auto& [k, excess] : moved_) other_[k] += excess;
  }
  Real margin(Index i) const override { return rows_ ? along(i) : kept(i); }
  Real slope(Index j) const override { return rows_ ? kept(j) : along(j); }
  Index moved_y(std::span<const Index> rows, CVec change) override {
    return rows_ ? walk(rows, change) : note(rows, change);
  }
  Index moved_x(std::span<const Index> columns, CVec change) override {
    return rows_ ? note(columns, change) : walk(columns, change);
  }
  Index read_cost(bool margins, Index k) const override { return margins == rows_ ? fibers_->size(k) : 1; }

private:
  Real along(Index k) const { return fibers_->dot(k, other_); }
  Real kept(Index k) const { return product_[k] + beyond_product_ * last_.values[k]; }
  Index walk(std::span<const Index> which, CVec change) {
    for (const std::uint32_t k : last_.changed) last_.values[k] = 0;
    last_.settle();
    Index cost = 0;
    for (std::size_t t = 0; t < which.size(); ++t)
      if (change[t] != 0) {
        fibers_->add(which[t], change[t], last_);
        cost += fibers_->size(which[t]);
      }
    for (const std::uint32_t k : last_.changed) product_[k] += last_.values[k];
    return cost;
  }
  Index note(std::span<const Index> which, CVec change) {
    for (const auto& [k, excess] : moved_) other_[k] -= excess;
    moved_.clear();
    for (std::size_t t = 0; t < which.size(); ++t) {
      moved_.emplace_back(which[t], beyond_other_ * change[t]);
      other_[which[t]] += (1 + beyond_other_) * change[t];
    }
    return Index(which.size());
  }

  std::unique_ptr<AnyFibers> fibers_;
  bool rows_;
  CVec weights_;
  Real beyond_product_, beyond_other_;
  std::vector<Real> product_, other_;         // the kept product; x, or s o y, extrapolated
  Ripple last_;                               // how the product has last moved,
  std::vector<std::pair<Index, Real>> moved_; // and by how much the others are ahead
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
