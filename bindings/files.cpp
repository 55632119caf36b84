// Readers of text, and statistics of columns, as Python sees them.
#include "bindings/files.hpp"
#include "bindings/arrays.hpp"
#include "bindings/lock.hpp"
#include "core/files/column_statistics.hpp"
#include "core/files/svmlight.hpp"
#include "core/files/table.hpp"
#include <algorithm>
#include <cstdlib>
#include <memory>

namespace nb = nanobind;
using namespace nb::literals;

namespace southwell {

namespace {

using Text = Array<std::uint8_t>;
std::span<const char> characters(const Text& text) {
  return {reinterpret_cast<const char*>(text.data()), text.shape(0)};
}

// The numbers, without a copy; the array is empty then.
template <class Value> auto taken(Growing<Value>& values) {
  const std::size_t size = values.size();
  std::unique_ptr<Value, decltype(&std::free)> memory(values.release(), &std::free);
  nb::capsule owner(memory.get(), [](void* p) noexcept { std::free(p); });
  return nb::ndarray<nb::numpy, Value, nb::ndim<1>>(memory.release(), {size}, owner);
}

std::span<const char> whole_lines(const Text& text) {
  const std::span<const char> given = characters(text);
  if (given.empty() || given.back() != '\n') throw std::invalid_argument("text that ends within a line");
  return given;
}

nb::object described(const TextFault& fault) {
  if (!fault) return nb::none();
  const std::string_view kind = name_of(fault.kind);
  return nb::make_tuple(nb::str(kind.data(), kind.size()), fault.line, fault.column,
                        nb::bytes(fault.token.data(), fault.token.size()));
}

template <class Reader> bool feed(Reader& reader, const Text& text) {
  const auto lines = whole_lines(text);
  const Unlocked unlocked;
  return reader.feed(lines);
}

void def_svmlight(nb::module_& m) {
  nb::class_<SvmlightReader>(m, "SvmlightReader", "Reads text of SVMlight's format, some lines at a time.")
      .def(nb::init<bool, int>(), "comments"_a, "threads"_a)
      .def("feed", &feed<SvmlightReader>, "text"_a, "Reads whole lines; False if there is a fault.")
      .def_prop_ro(
          "fault", [](const SvmlightReader& r) { return described(r.fault()); },
          "Kind, line, column and what stands there, or None.")
      .def_prop_ro("entries", [](SvmlightReader& r) { return r.rows().values.size(); })
      .def_prop_ro(
          "least", [](const SvmlightReader& r) { return r.seen().least; }, "The least index.")
      .def_prop_ro(
          "largest", [](const SvmlightReader& r) { return r.seen().largest; }, "The largest one.")
      .def_prop_ro(
          "first_lines",
          [](const SvmlightReader& r) {
            const SvmlightSeen& seen = r.seen();
            return nb::make_tuple(seen.no_label, seen.many_labels, seen.qid, seen.no_qid);
          },
          "The first lines without a target, with several, with a qid and without one; 0 if there are none.")
      .def(
          "take",
          [](SvmlightReader& r) {
            SvmlightRows& rows = r.rows();
            nb::list parts;
            SvmlightRows::for_each_part([&](auto part) { parts.append(taken(rows.*part)); });
            return nb::tuple(parts);
          },
          "values, labels, indices, label_sizes, sizes, qids, comment_sizes and comments of the rows that "
          "were\n"
          "read since the last call.");
}

TableForm table_form(const char* delimiter, const Array<bool>& text) {
  return {.delimiter = delimiter[0], .text = std::vector<bool>(text.data(), text.data() + text.shape(0))};
}

void def_table(nb::module_& m) {
  nb::class_<TableReader>(m, "TableReader", "Reads a table from text, some records at a time.")
      .def(
          "__init__",
          [](TableReader* self, const char* delimiter, Array<bool> text, int threads) {
            new (self) TableReader(table_form(delimiter, text), threads);
          },
          "delimiter"_a, "text"_a, "threads"_a)
      .def("feed", &feed<TableReader>, "text"_a, "Reads whole records; False if there is a fault.")
      .def_prop_ro(
          "fault", [](const TableReader& r) { return described(r.fault()); },
          "Kind, line, column and what stands there, or None.")
      .def_prop_ro(
          "columns",
          [](const TableReader& r) {
            nb::list found;
            for (const TableColumn& column : r.columns())
              found.append(nb::make_tuple(column.missing, column.count_missing, described(column.odd)));
            return found;
          },
          "Of each column: the first row without a value or -1, the number of such rows, and the first "
          "field\n"
          "that is no number.")
      .def(
          "fields",
          [](TableReader& r) {
            TableRows& rows = r.rows();
            return nb::make_tuple(taken(rows.starts), taken(rows.lengths));
          },
          "Of the text that was read last: the starts and lengths of fields of text, row by row.")
      .def(
          "take", [](TableReader& r) { return taken(r.rows().values); },
          "The numbers of the rows that were read since the last call, row by row.");
  m.def(
      "records_end",
      [](Text text) {
        const Unlocked unlocked;
        return records_end(characters(text));
      },
      "text"_a, "Where whole records of a table end.");
}

template <class Value> void def_add(nb::class_<ColumnStatistics>& statistics) {
  statistics.def(
      "add",
      [](ColumnStatistics& s, Array<Value> values, Array<std::int32_t> indices) {
        const Index entries = Index(values.shape(0));
        if (Index(indices.shape(0)) != entries) throw std::invalid_argument("an array of the wrong length");
        const std::int32_t* const first = indices.data();
        if (std::any_of(first, first + entries, [](std::int32_t index) { return index < 0; }))
          throw std::invalid_argument("a negative index");
        const Unlocked unlocked;
        s.add(values.data(), first, entries);
      },
      "values"_a.noconvert(), "indices"_a.noconvert(), "Counts these entries.");
}

void def_statistics(nb::module_& m) {
  nb::class_<ColumnStatistics> statistics(m, "ColumnStatistics",
                                          "Counts, sums, squares and maxima of columns.");
  statistics.def(nb::init<>())
      .def_prop_ro("bytes", &ColumnStatistics::bytes, "The memory that it takes.")
      .def(
          "take",
          [](ColumnStatistics& s) {
            Growing<std::int32_t> columns;
            Growing<Index> counts;
            Growing<double> sums, squares, largest;
            s.each([&](std::int32_t column, const ColumnMoments& moments) {
              columns.push(column);
              counts.push(moments.count);
              sums.push(moments.sum);
              squares.push(moments.squares);
              largest.push(moments.largest);
            });
            s.clear();
            return nb::make_tuple(taken(columns), taken(counts), taken(sums), taken(squares), taken(largest));
          },
          "The columns that have entries, increasing, and their counts, sums, sums of squares and largest\n"
          "magnitudes; it is empty then.");
  def_add<float>(statistics);
  def_add<double>(statistics);
}

} // namespace

void def_files(nb::module_& m) {
  def_svmlight(m);
  def_table(m);
  def_statistics(m);
}

} // namespace southwell
