// Tables as text: records of fields between delimiters. A field may stand between quotes, where a doubled
// quote is one of its characters.
#pragma once
#include "core/files/number.hpp"
#include "core/files/pieces.hpp"
#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace southwell {

// Where whole records end: after the last newline outside of quotes. 0 if there is none.
inline Index records_end(std::span<const char> text) {
  bool inside = std::count(text.begin(), text.end(), '"') % 2 == 1;
  for (std::size_t k = text.size(); k-- > 0;) {
    if (text[k] == '"')
      inside = !inside;
    else if (text[k] == '\n' && !inside)
      return Index(k) + 1;
  }
  return 0;
}

// Rows of `columns` numbers, NaN where there is none; of each column of text, in each row, where the field
// starts in the text that was read, and its length, which is -1 - length if it has doubled quotes.
struct TableRows {
  Growing<double> values;
  Growing<Index> starts, lengths;
};

// Of one column: the first row, from 0, without a value, and the first field that is no finite number.
struct TableColumn {
  Index missing = -1, count_missing = 0;
  TextFault odd;
};

struct TableForm {
  char delimiter;
  std::vector<bool> text; // of each column

  bool ends(char c) const { return c == delimiter || c == '\n'; }
  bool space(char c) const { return blank(c) && c != delimiter; }
};

class TablePiece {
public:
  TableRows rows;
  std::vector<TableColumn> columns;
  TextFault fault;
  Index lines = 0, count = 0;

  void read(const TableForm& form, const char* text, const char* from, const char* to) {
    rows.values.clear(), rows.starts.clear(), rows.lengths.clear();
    columns.assign(form.text.size(), {});
    fault = {};
    lines = count = 0;
    for (const char* at = from; at < to && !fault; ++at) {
      line_ = at;
      ++lines;
      if (only_blank(form, at)) continue;
      record(form, text, at, to);
      ++count;
    }
  }

private:
  // Moves to the newline if there is nothing before it.
  static bool only_blank(const TableForm& form, const char*& at) {
    const char* end = at;
    while (form.space(*end)) ++end;
    if (*end != '\n') return false;
    at = end;
    return true;
  }
  void fail(FaultKind kind, const TableForm& form, const char* at) {
    fault = fault_at(kind, lines, line_, at, [&](char c) { return c == form.delimiter; });
  }
  void record(const TableForm& form, const char* text, const char*& at, const char* to) {
    const std::size_t width = form.text.size();
    double* const values = rows.values.more(width);
    for (std::size_t j = 0;; ++j) {
      if (j == width) return fail(FaultKind::fields, form, at);
      values[j] = std::numeric_limits<double>::quiet_NaN();
      if (!field(form, text, j, values[j], at, to)) return;
      if (*at == '\n') {
        if (j + 1 != width) return fail(FaultKind::fields, form, at);
        break;
      }
      ++at;
    }
    rows.values.add(width);
  }
  // Reads the field at `at`, which then is where it ends.
  bool field(const TableForm& form, const char* text, std::size_t j, double& value, const char*& at,
             const char* to) {
    const char* from = at;
    while (form.space(*from)) ++from;
    if (!form.text[j] && *from != '"') { // most fields
      const char* end = read_number(from, value);
      while (end && form.space(*end)) ++end;
      if (end && form.ends(*end) && std::isfinite(value)) {
        at = end;
        return true;
      }
      value = std::numeric_limits<double>::quiet_NaN();
    }
    const char* end = from;
    bool doubled = false;
    if (*from == '"') {
      if (!(end = closing(form, ++from, to, doubled, at))) return false;
    } else {
      for (; !form.ends(*end); ++end)
        if (*end == '"') return fail(FaultKind::quote, form, end), false;
      at = end;
      while (end > from && blank(end[-1])) --end;
    }
    found(form, text, j, value, from, end, doubled);
    return true;
  }
  // The closing quote of a field that begins at `from`; `at` becomes where the field ends.
  const char* closing(const TableForm& form, const char* from, const char* to, bool& doubled,
                      const char*& at) {
    for (const char* end = from; end < to; ++end) {
      if (*end == '\n') ++lines;
      if (*end != '"') continue;
      if (end[1] == '"') {
        doubled = true;
        ++end;
        continue;
      }
      at = end + 1;
      while (form.space(*at)) ++at;
      if (form.ends(*at)) return end;
      return fail(FaultKind::quote, form, at), nullptr;
    }
    return fail(FaultKind::quote, form, from), nullptr;
  }
  void found(const TableForm& form, const char* text, std::size_t j, double& value, const char* from,
             const char* end, bool doubled) {
    const bool missing = is_missing(std::string_view(from, std::size_t(end - from)));
    if (missing) {
      if (columns[j].missing < 0) columns[j].missing = count;
      ++columns[j].count_missing;
    }
    if (form.text[j]) {
      const Index length = missing ? 0 : Index(end - from);
      rows.starts.push(Index(from - text));
      rows.lengths.push(doubled ? -1 - length : length);
    } else if (!missing) {
      const char* const stop = read_number(from, value); // a number between quotes ends at the quote
      if (stop == end && std::isfinite(value)) return;
      value = std::numeric_limits<double>::quiet_NaN();
      if (!columns[j].odd)
        columns[j].odd = {.kind = FaultKind::value,
                          .line = lines,
                          .column = from - line_ + 1,
                          .token = std::string(from, std::min(end, from + 60))};
    }
  }
  static bool is_missing(std::string_view field) {
    constexpr std::string_view names[] = {"", "NA", "N/A", "NaN", "nan", "NULL", "null", "None", "?"};
    return field.size() < 5 && std::find(std::begin(names), std::end(names), field) != std::end(names);
  }

  const char* line_ = nullptr;
};

class TableReader {
public:
  TableReader(TableForm form, int threads)
      : form_(std::move(form)), columns_(form_.text.size()), helpers_(threads - 1) {}

  // Reads whole records and appends their rows; fields of text are those of this text alone. False if there
  // is a fault.
  bool feed(std::span<const char> text) {
    rows_.starts.clear(), rows_.lengths.clear();
    const bool quotes = std::memchr(text.data(), '"', text.size()) != nullptr;
    const auto cut = [quotes](const char* from, const char* at, const char* end) {
      bool inside = false;
      for (;;) { // a newline between quotes ends no record
        const char* const next = newline(at, end) + 1;
        inside ^= quotes && std::count(from, next, '"') % 2 == 1;
        if (!inside || next == end) return next;
        from = at = next;
      }
    };
    const std::span<const TablePiece> pieces =
        read_pieces(pieces_, helpers_, text, cut, [&](TablePiece& piece, const char* from, const char* to) {
          piece.read(form_, text.data(), from, to);
        });
    for (const TablePiece& piece : pieces) {
      add(piece);
      if (fault_) return false;
    }
    append(rows_.values, pieces, helpers_, [](const TablePiece& p) -> auto& { return p.rows.values; });
    append(rows_.starts, pieces, helpers_, [](const TablePiece& p) -> auto& { return p.rows.starts; });
    append(rows_.lengths, pieces, helpers_, [](const TablePiece& p) -> auto& { return p.rows.lengths; });
    return true;
  }
  const TextFault& fault() const { return fault_; }
  const std::vector<TableColumn>& columns() const { return columns_; }
  TableRows& rows() { return rows_; }

private:
  void add(const TablePiece& piece) {
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      TableColumn& whole = columns_[j];
      const TableColumn& part = piece.columns[j];
      if (whole.missing < 0 && part.missing >= 0) whole.missing = count_ + part.missing;
      whole.count_missing += part.count_missing;
      if (!whole.odd && part.odd) {
        whole.odd = part.odd;
        whole.odd.line += lines_;
      }
    }
    if (piece.fault) {
      fault_ = piece.fault;
      fault_.line += lines_;
    }
    lines_ += piece.lines;
    count_ += piece.count;
  }

  TableForm form_;
  Index lines_ = 0, count_ = 0;
  TableRows rows_;
  std::vector<TableColumn> columns_;
  TextFault fault_;
  std::vector<TablePiece> pieces_;
  Helpers helpers_;
};

} // namespace southwell
