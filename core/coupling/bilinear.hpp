// The bilinear term sum_i s_i y_i <a_i, x> of DSPDC. It keeps products with A so that these can be read:
//
//     margin(i) = <a_i, xe>,   xe = x + theta dx           dx: the last change of x
//     slope(j)  = <A^j, s o ye>,   ye = y + (n/m - 1) dy   dy: the last change of y
//
// There are three ways: keep the slopes (cheapest if few rows and many columns move in an iteration), keep
// the margins (few columns, many rows), or keep the two short vectors between the factors of A = U V. Each
// y_i and x_j may be a row of `width` numbers.
#pragma once
#include "core/design/any_fibers.hpp"
#include "core/question.hpp"
#include <memory>

namespace southwell {

class Bilinear {
public:
  virtual ~Bilinear() = default;
  virtual void reset(const Point& point) = 0; // takes newly computed products; dx and dy stay
  virtual void margin(Index i, Real* out) const = 0;
  virtual void slope(Index j, Real* out) const = 0;
  // Called after s_i y_i or x_j has changed by `change`. Returns the entries touched.
  virtual Index moved_y(std::span<const Index> rows, CVec change) = 0;
  virtual Index moved_x(std::span<const Index> columns, CVec change) = 0;
  virtual Index read_cost(bool margins, Index k) const = 0;
  virtual void stretch(Real stretch) = 0; // replaces n/m for the dy that comes next
};

// Keeps one product: z = A'(s o y), updated along the rows that move, or m = A x, updated along the columns
// that move. The other is computed when read, as the product of the same fibers with the extrapolated x or s
// o y. Both are linear, so the frame (fiber k = stored_k + gamma_k w) costs O(width): the product is kept as
// `product_` + w tau', and <w, other> is kept too.
class KeptProduct final : public Bilinear {
public:
  // `walked` are the stored rows (to keep z) or columns (to keep m).
  KeptProduct(std::unique_ptr<AnyFibers> walked, bool rows, CVec weights, Real theta, Real stretch,
              Index width = 1)
      : fibers_(std::move(walked)), rows_(rows), width_(width), weights_(weights),
        beyond_product_(rows ? stretch - 1 : theta), beyond_other_(rows ? theta : stretch - 1),
        last_(fibers_->length(), width), common_(fibers_->common()), along_(std::size_t(width)),
        tau_(along_.size()), last_tau_(along_.size()) {}

  void reset(const Point& point) override {
    product_ = rows_ ? point.slopes : point.margins;
    other_ = rows_ ? point.x : point.y;
    if (!rows_)
      for (std::size_t i = 0; i < other_.size(); ++i) other_[i] *= weights_[i / std::size_t(width_)];
    std::fill(tau_.begin(), tau_.end(), 0.0);
    std::fill(along_.begin(), along_.end(), 0.0);
    for (std::size_t e = 0; e < (framed() ? other_.size() : 0); ++e)
      along_[e % std::size_t(width_)] += common_[e / std::size_t(width_)] * other_[e];
    for (std::size_t t = 0; t < moved_.size(); ++t)
      for (Index c = 0; c < width_; ++c) add_other(moved_[t], c, excess_[Index(t) * width_ + c]);
  }
  void margin(Index i, Real* out) const override { rows_ ? along(i, out) : kept(i, out); }
  void slope(Index j, Real* out) const override { rows_ ? kept(j, out) : along(j, out); }
  Index moved_y(std::span<const Index> rows, CVec change) override {
    return rows_ ? walk(rows, change) : note(rows, change);
  }
  Index moved_x(std::span<const Index> columns, CVec change) override {
    return rows_ ? note(columns, change) : walk(columns, change);
  }
  Index read_cost(bool margins, Index k) const override { return margins == rows_ ? fibers_->size(k) : 1; }
  void stretch(Real stretch) override { (rows_ ? beyond_product_ : beyond_other_) = stretch - 1; }

private:
  bool framed() const { return !common_.empty(); }
  void along(Index k, Real* out) const {
    width_ == 1 ? void(*out = fibers_->dot(k, other_)) : fibers_->dot(k, other_.data(), width_, out);
    if (const Real gamma = fibers_->gamma(k); gamma != 0)
      for (Index c = 0; c < width_; ++c) out[c] += gamma * along_[c];
  }
  void kept(Index k, Real* out) const {
    const Real w = framed() ? common_[k] : 0;
    for (Index c = 0, e = k * width_; c < width_; ++c, ++e)
      out[c] =
          product_[e] + beyond_product_ * last_.values[e] + w * (tau_[c] + beyond_product_ * last_tau_[c]);
  }
  void add_other(Index position, Index c, Real by) {
    other_[position * width_ + c] += by;
    if (framed()) along_[c] += common_[position] * by;
  }
  Index walk(std::span<const Index> which, CVec change) {
    for (const std::uint32_t k : last_.changed) std::fill_n(last_.values.begin() + k * width_, width_, 0.0);
    last_.settle();
    std::fill(last_tau_.begin(), last_tau_.end(), 0.0);
    Index cost = 0;
    for (std::size_t t = 0; t < which.size(); ++t) {
      const Real* by = change.data() + Index(t) * width_;
      if (std::all_of(by, by + width_, [](Real v) { return v == 0; })) continue;
      fibers_->add(which[t], by, width_, last_);
      cost += fibers_->size(which[t]);
      if (const Real gamma = fibers_->gamma(which[t]); gamma != 0)
        for (Index c = 0; c < width_; ++c) last_tau_[c] += gamma * by[c];
    }
    for (Index c = 0; c < width_; ++c) tau_[c] += last_tau_[c];
    for (const std::uint32_t k : last_.changed)
      for (Index e = k * width_; e < (k + 1) * width_; ++e) product_[e] += last_.values[e];
    return cost;
  }
  Index note(std::span<const Index> which, CVec change) {
    for (std::size_t t = 0; t < moved_.size(); ++t)
      for (Index c = 0; c < width_; ++c) add_other(moved_[t], c, -excess_[Index(t) * width_ + c]);
    moved_.assign(which.begin(), which.end());
    excess_.assign(change.begin(), change.end());
    for (std::size_t t = 0; t < which.size(); ++t)
      for (Index c = 0; c < width_; ++c) {
        Real& by = excess_[Index(t) * width_ + c];
        add_other(which[t], c, (1 + beyond_other_) * by);
        by *= beyond_other_;
      }
    return Index(which.size());
  }

  std::unique_ptr<AnyFibers> fibers_;
  bool rows_;
  Index width_;
  CVec weights_;
  Real beyond_product_, beyond_other_;
  std::vector<Real> product_, other_;        // the kept product; x, or s o y, extrapolated
  Ripple last_;                              // the last change of the product,
  std::vector<Index> moved_;                 // the coordinates of `other_` that are extrapolated,
  std::vector<Real> excess_;                 // and by how much
  std::vector<Real> common_;                 // w, or nothing
  std::vector<Real> along_, tau_, last_tau_; // <w, other>; what the frame adds, and its last change
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
  void margin(Index i, Real* out) const override { *out = u_->dot(i, vxe_); }
  void slope(Index j, Real* out) const override { *out = v_->dot(j, uye_); }
  Index moved_y(std::span<const Index> rows, CVec change) override {
    return moved(*u_, rows, change, stretch_ - 1, uy_, uye_);
  }
  Index moved_x(std::span<const Index> columns, CVec change) override {
    return moved(*v_, columns, change, theta_, vx_, vxe_);
  }
  Index read_cost(bool margins, Index k) const override { return margins ? u_->size(k) : v_->size(k); }
  void stretch(Real stretch) override { stretch_ = stretch; }

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
