// Data in the format of SVMlight and LIBSVM. A line is a row:
//     target[,target...] [qid:number] index:value index:value ... [# comment]
#pragma once
#include "core/files/growing.hpp"
#include "core/files/number.hpp"
#include "core/files/pieces.hpp"
#include <cmath>
#include <cstdint>

namespace southwell {

// `sizes` are the numbers of entries, labels and bytes of comments of each row.
struct SvmlightRows {
  Growing<double> values, labels;
  Growing<std::int32_t> indices, label_sizes;
  Growing<Index> sizes, qids, comment_sizes;
  Growing<unsigned char> comments;

  template <class Visit> static void for_each_part(Visit&& visit) {
    visit(&SvmlightRows::values), visit(&SvmlightRows::labels), visit(&SvmlightRows::indices);
    visit(&SvmlightRows::label_sizes), visit(&SvmlightRows::sizes), visit(&SvmlightRows::qids);
    visit(&SvmlightRows::comment_sizes), visit(&SvmlightRows::comments);
  }
};

// The first lines, from 1, on which something is seen; 0 where nothing was.
struct SvmlightSeen {
  Index no_label = 0, many_labels = 0, qid = 0, no_qid = 0;
  std::int32_t least = std::numeric_limits<std::int32_t>::max(), largest = -1; // of the indices

  void add(const SvmlightSeen& later, Index lines) {
    const auto first = [&](Index& line, Index other) {
      if (line == 0 && other != 0) line = lines + other;
    };
    first(no_label, later.no_label), first(many_labels, later.many_labels);
    first(qid, later.qid), first(no_qid, later.no_qid);
    least = std::min(least, later.least);
    largest = std::max(largest, later.largest);
  }
};

class SvmlightPiece {
public:
  SvmlightRows rows;
  SvmlightSeen seen;
  TextFault fault;
  Index lines = 0;

  // Reads lines; the last character is a newline. Entries are written without checks for room, as an entry
  // and a row take at least four and two characters.
  void read(const char* from, const char* to, bool keep_comments) {
    SvmlightRows::for_each_part([this](auto part) { (rows.*part).clear(); });
    seen = {};
    fault = {};
    lines = 0;
    const auto size = std::size_t(to - from);
    double* const values = rows.values.more(size / 4 + 1);
    std::int32_t* const indices = rows.indices.more(size / 4 + 1);
    Index entries = 0;
    for (const char* at = from; at < to; ++at) {
      ++lines;
      at = row(at, to, values, indices, entries, keep_comments);
      if (!at) break;
    }
    rows.values.add(std::size_t(entries));
    rows.indices.add(std::size_t(entries));
  }

private:
  static bool ends(char c) { return blank(c) || c == '\n' || c == '#'; }
  const char* fail(FaultKind kind, const char* line, const char* at) {
    fault = fault_at(kind, lines, line, at, [](char c) { return ends(c); });
    return nullptr;
  }
  // Reads the row at `line` and returns its newline, or null if it is at fault.
  const char* row(const char* line, const char* to, double* values, std::int32_t* indices, Index& entries,
                  bool keep_comments) {
    using enum FaultKind;
    const char* at = line;
    while (blank(*at)) ++at;
    if (*at == '\n') return at;
    if (*at == '#') return newline(at, to);
    if (!(at = labels(line, at))) return nullptr;
    while (blank(*at)) ++at;
    if (!(at = query(line, at))) return nullptr;
    const Index first = entries;
    std::int64_t last = -1;
    for (;;) {
      while (blank(*at)) ++at;
      if (*at == '\n' || *at == '#') break;
      const char* const token = at;
      std::uint64_t index = 0;
      while (digit(*at) && at - token < 19) index = 10 * index + std::uint64_t(*at++ - '0');
      if (at == token || (*at != ':' && !digit(*at))) return fail(FaultKind::index, line, token);
      if (index > std::uint64_t(std::numeric_limits<std::int32_t>::max()) || *at != ':')
        return fail(large, line, token);
      if (std::int64_t(index) <= last)
        return fail(std::int64_t(index) == last ? repeated : falling, line, token);
      const char* const number = at + 1;
      at = read_number(number, values[entries]);
      if (!at || !ends(*at) || !std::isfinite(values[entries])) return fail(value, line, number);
      if (last < 0) seen.least = std::min(seen.least, std::int32_t(index));
      indices[entries++] = std::int32_t(index);
      last = std::int64_t(index);
    }
    seen.largest = std::max(seen.largest, std::int32_t(last));
    rows.sizes.push(entries - first);
    const char* const end = newline(at, to);
    if (keep_comments) {
      const char* const last_of = end > at && end[-1] == '\r' ? end - 1 : end;
      const auto length = std::size_t(*at == '#' ? last_of - at - 1 : 0);
      if (length) std::memcpy(rows.comments.more(length), at + 1, length);
      rows.comments.add(length);
      rows.comment_sizes.push(Index(length));
    }
    return end;
  }
  const char* labels(const char* line, const char* at) {
    std::int32_t count = 0;
    for (;; ++at) {
      double label;
      const char* const end = read_number(at, label);
      if (count == 0 && ((end && *end == ':') || is_query(at))) break; // the row begins with an entry
      if (!end || !(ends(*end) || *end == ',') || !std::isfinite(label))
        return fail(FaultKind::target, line, at);
      rows.labels.push(label);
      ++count;
      at = end;
      if (*at != ',') break;
    }
    rows.label_sizes.push(count);
    if (count == 0 && seen.no_label == 0) seen.no_label = lines;
    if (count > 1 && seen.many_labels == 0) seen.many_labels = lines;
    return at;
  }
  static bool is_query(const char* at) {
    return at[0] == 'q' && at[1] == 'i' && at[2] == 'd' && at[3] == ':';
  }
  const char* query(const char* line, const char* at) {
    Index& first = is_query(at) ? seen.qid : seen.no_qid;
    if (first == 0) first = lines;
    if (!is_query(at)) return at;
    const char* end = at + 4;
    while (!ends(*end)) ++end;
    Index qid = 0;
    const auto read = std::from_chars(at + 4, end, qid);
    if (read.ec != std::errc() || read.ptr != end) return fail(FaultKind::qid, line, at + 4);
    rows.qids.push(qid);
    return end;
  }
};

class SvmlightReader {
public:
  SvmlightReader(bool comments, int threads) : comments_(comments), helpers_(threads - 1) {}

  // Reads whole lines and appends their rows. False if there is a fault; nothing of this text is kept then.
  bool feed(std::span<const char> text) {
    const std::span<const SvmlightPiece> pieces = read_pieces(
        pieces_, helpers_, text,
        [](const char*, const char* at, const char* end) { return newline(at, end) + 1; },
        [this](SvmlightPiece& piece, const char* from, const char* to) { piece.read(from, to, comments_); });
    Index lines = lines_;
    for (const SvmlightPiece& piece : pieces) {
      if (piece.fault) {
        fault_ = piece.fault;
        fault_.line += lines;
        return false;
      }
      lines += piece.lines;
    }
    for (const SvmlightPiece& piece : pieces) {
      seen_.add(piece.seen, lines_);
      lines_ += piece.lines;
    }
    SvmlightRows::for_each_part([&](auto part) {
      append(rows_.*part, pieces, helpers_,
             [part](const SvmlightPiece& piece) -> auto& { return piece.rows.*part; });
    });
    return true;
  }
  const TextFault& fault() const { return fault_; }
  const SvmlightSeen& seen() const { return seen_; }
  SvmlightRows& rows() { return rows_; }

private:
  bool comments_;
  Index lines_ = 0;
  SvmlightRows rows_;
  SvmlightSeen seen_;
  TextFault fault_;
  std::vector<SvmlightPiece> pieces_;
  Helpers helpers_;
};

} // namespace southwell
