// The compact matrix A[active rows, active columns], kept by rows and by columns while rows and columns enter
// and leave.
//
// An active row or column has a slot (its number in the compact matrix); its line holds slots and values of
// its entries there. Entering costs a pass over the full row or column; leaving costs one pass over the
// compact matrix for all rows and columns that leave at the same time.
#pragma once
#include "core/design/any_fibers.hpp"
#include "core/design/fiber.hpp"
#include <utility>

namespace southwell {

class ActiveMatrix {
public:
  using Slot = std::uint32_t;
  struct Line { // slots increase
    Index name; // the row or column of A
    std::vector<Slot> slots;
    std::vector<Real> values;

    Index size() const { return Index(slots.size()); }
    bool meets_all(std::size_t others) const { return slots.size() == others; } // then slot k is k
    template <class H> SOUTHWELL_INLINE void visit(H&& h) const {
      for (std::size_t k = 0; k < slots.size(); ++k) h(slots[k], values[k]);
    }
    Real dot(CVec v) const {
      if (meets_all(v.size())) return kernels::dot(values.data(), v.data(), size());
      return SparseFiber<Real, Slot>(values.data(), slots.data(), size()).dot(v);
    }
  };

  // The lines along one axis, and where each row or column of A is among them.
  struct Side {
    const AnyFibers& fibers;
    std::vector<Line> lines;
    std::vector<std::int32_t> slot; // -1: not active

    explicit Side(const AnyFibers& all) : fibers(all), slot(all.count(), -1) {}
    bool has(Index name) const { return slot[name] >= 0; }
    Index size() const { return Index(lines.size()); }
  };

  ActiveMatrix(const AnyFibers& rows, const AnyFibers& columns) : rows_(rows), columns_(columns) {}

  const Side& rows() const { return rows_; }
  const Side& columns() const { return columns_; }
  const Line& enter_row(Index i) { return enter(rows_, columns_, i); }
  const Line& enter_column(Index j) { return enter(columns_, rows_, j); }

  // Removes the rows and columns whose mark is 0; the others keep their order.
  void keep(const std::vector<char>& rows, const std::vector<char>& columns) {
    const auto new_row = renumber(rows), new_column = renumber(columns);
    close_ranks(rows_, new_row, new_column);
    close_ranks(columns_, new_column, new_row);
  }

private:
  static constexpr Slot gone = ~Slot{0};

  Line& enter(Side& side, Side& other, Index name) {
    const auto slot = Slot(side.lines.size());
    side.slot[name] = std::int32_t(slot);
    Line& line = side.lines.emplace_back(Line{name, {}, {}});
    side.fibers.copy(name, positions_, values_);
    met_.clear();
    for (std::size_t k = 0; k < positions_.size(); ++k)
      if (const std::int32_t at = other.slot[positions_[k]]; at >= 0) met_.emplace_back(Slot(at), values_[k]);
    std::sort(met_.begin(), met_.end());
    std::size_t last = 0; // where the frame adds to a stored entry, both are summed into one
    for (std::size_t k = 1; k < met_.size(); ++k)
      if (met_[k].first == met_[last].first)
        met_[last].second += met_[k].second;
      else
        met_[++last] = met_[k];
    if (!met_.empty()) met_.resize(last + 1);
    for (const auto& [at, value] : met_) {
      line.slots.push_back(at);
      line.values.push_back(value);
      other.lines[at].slots.push_back(slot);
      other.lines[at].values.push_back(value);
    }
    return line;
  }
  static std::vector<Slot> renumber(const std::vector<char>& kept) {
    std::vector<Slot> renumbered(kept.size(), gone);
    Slot next = 0;
    for (std::size_t slot = 0; slot < kept.size(); ++slot)
      if (kept[slot]) renumbered[slot] = next++;
    return renumbered;
  }
  static void close_ranks(Side& side, const std::vector<Slot>& own, const std::vector<Slot>& others) {
    for (std::size_t slot = 0; slot < own.size(); ++slot) {
      Line& line = side.lines[slot];
      side.slot[line.name] = own[slot] == gone ? -1 : std::int32_t(own[slot]);
      if (own[slot] == gone) continue;
      std::size_t kept = 0;
      for (std::size_t k = 0; k < line.slots.size(); ++k)
        if (const Slot at = others[line.slots[k]]; at != gone) {
          line.slots[kept] = at;
          line.values[kept++] = line.values[k];
        }
      line.slots.resize(kept);
      line.values.resize(kept);
      if (own[slot] != slot) side.lines[own[slot]] = std::move(line);
    }
    const auto left = std::count_if(own.begin(), own.end(), [](Slot slot) { return slot != gone; });
    side.lines.resize(std::size_t(left));
  }

  Side rows_, columns_;
  std::vector<Index> positions_; // scratch
  std::vector<Real> values_;
  std::vector<std::pair<Slot, Real>> met_;
};

} // namespace southwell
