// Text that is read in pieces of whole lines, by several threads.
#pragma once
#include "core/concepts.hpp"
#include "core/files/growing.hpp"
#include "core/support/enumeration.hpp"
#include "core/support/helpers.hpp"
#include <cstring>
#include <span>
#include <string>
#include <vector>

namespace southwell {

#define SOUTHWELL_TEXT_FAULTS(one)                                                                           \
  one(none) one(target) one(index) one(value) one(repeated) one(falling) one(large) one(qid) one(fields)     \
      one(quote)
SOUTHWELL_ENUMERATION(FaultKind, SOUTHWELL_TEXT_FAULTS)

// What is wrong with a text, and where: lines and columns count from 1.
struct TextFault {
  FaultKind kind = FaultKind::none;
  Index line = 0, column = 0;
  std::string token;
  explicit operator bool() const { return kind != FaultKind::none; }
};

// Spaces as Python's `bytes.split` has them, but for the newline.
inline bool blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f'; }
inline const char* newline(const char* at, const char* end) {
  return static_cast<const char*>(std::memchr(at, '\n', std::size_t(end - at)));
}

// A fault at `at`, with what stands there up to a character that ends it.
template <class Ends>
TextFault fault_at(FaultKind kind, Index line, const char* begin, const char* at, Ends&& ends) {
  constexpr Index longest = 60;
  const char* end = at;
  while (*end != '\n' && !ends(*end) && end - at < longest) ++end;
  return {.kind = kind, .line = line, .column = at - begin + 1, .token = std::string(at, end)};
}

inline constexpr Index piece_bytes = Index{1} << 18; // text and numbers of a piece stay in the cache

// Cuts text of whole lines, and reads all pieces: `cut(from, to)` is the end of the line that a piece may end
// with. Pieces are kept from call to call, with their memory.
template <class Piece, class Cut, class Read>
std::span<Piece> read_pieces(std::vector<Piece>& pieces, Helpers& helpers, std::span<const char> text,
                             Cut&& cut, Read&& read) {
  std::vector<const char*> ends = {text.data()};
  const char* const end = text.data() + text.size();
  while (ends.back() < end) {
    const char* const from = ends.back();
    ends.push_back(end - from <= piece_bytes ? end : cut(from, from + piece_bytes, end));
  }
  const std::size_t count = ends.size() - 1;
  if (pieces.size() < count) pieces.resize(count);
  helpers(int(count),
          [&](int k) { read(pieces[std::size_t(k)], ends[std::size_t(k)], ends[std::size_t(k) + 1]); });
  return {pieces.data(), count};
}

// Appends to `whole` the array `part(piece)` of each piece.
template <class T, class Piece, class Part>
void append(Growing<T>& whole, std::span<const Piece> pieces, Helpers& helpers, Part&& part) {
  std::vector<std::size_t> starts = {0};
  for (const Piece& piece : pieces) starts.push_back(starts.back() + part(piece).size());
  if (starts.back() == 0) return;
  T* const to = whole.more(starts.back());
  helpers(int(pieces.size()), [&](int piece) {
    const auto k = std::size_t(piece);
    const Growing<T>& from = part(pieces[k]);
    std::copy(from.begin(), from.end(), to + starts[k]);
  });
  whole.add(starts.back());
}

} // namespace southwell
