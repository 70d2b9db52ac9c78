// SPDX-License-Identifier: Apache-2.0
#include "cli/output/output.h"

#include "base/text.h"
#include "cli/output/az_format.h"
#include "cli/output/table.h"
#include "lang/jmespath/jmespath.h"
#include "wire/yaml/asset.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

constexpr std::array<std::pair<std::string_view, Format>, 7> kFormats = {{
    {"json", Format::Json},
    {"jsonc", Format::Jsonc},
    {"yaml", Format::Yaml},
    {"yamlc", Format::Yamlc},
    {"table", Format::Table},
    {"tsv", Format::Tsv},
    {"none", Format::None},
}};

const json::value* find_path(const json::value& value, std::string_view path) {
  const json::value* found = &value;
  for (const std::string_view key : split(path, '.')) {
    const json::object* object = found->if_object();
    found = object == nullptr ? nullptr : object->if_contains(key);
    if (found == nullptr) return nullptr;
  }
  return found;
}

/// "2026-11-16T00:45:12.345Z" is easier on the eye as "2026-11-16 00:45:12".
std::string for_people(const json::value& value) {
  if (value.is_null()) return "";
  std::string text = scalar_text(value);
  const bool is_time = text.size() >= 20 && text[4] == '-' && text[10] == 'T' && text[13] == ':' &&
                       (text.back() == 'Z' || text.ends_with("+00:00"));
  if (!is_time) return text;
  text.resize(19);
  text[10] = ' ';
  return text;
}

/// A summary has lines for all it might show; as a table, only those that it has and that fit a
/// cell.
std::vector<Column> filled_columns(const json::value& row, std::span<const Column> columns) {
  std::vector<Column> filled;
  for (const Column& column : columns) {
    const json::value* found = find_path(row, column.path);
    const bool is_empty = found == nullptr || found->is_null() || found->is_structured() ||
                          (found->is_string() && found->get_string().empty());
    if (!is_empty) filled.push_back(column);
  }
  return filled;
}

Table table_of(std::span<const json::value> rows, std::span<const Column> columns) {
  Table table;
  for (const Column& column : columns) table.titles.emplace_back(column.title);
  for (const json::value& row : rows) {
    auto& cells = table.rows.emplace_back();
    for (const Column& column : columns) {
      const json::value* found = find_path(row, column.path);
      cells.push_back(found == nullptr ? "" : for_people(*found));
    }
  }
  return table;
}

std::string table_text(const json::value& value, const Answer& answer, bool is_queried,
                       const Console& console) {
  const std::span<const json::value> rows =
      value.is_array()
          ? std::span<const json::value>(value.get_array().data(), value.get_array().size())
          : std::span<const json::value>(&value, 1);
  const TableStyle style{
      .width = console.out_is_terminal ? static_cast<std::size_t>(console.width) : 0,
      .bold_titles = console.out_has_color,
      .is_for_scripts = !console.out_is_terminal};
  if (is_queried || answer.columns.empty()) return to_text(automatic_table(rows), style);
  if (value.is_array()) return to_text(table_of(rows, answer.columns), style);
  return to_text(table_of(rows, filled_columns(value, answer.columns)), style);
}

/// One line for each member: literals as they are, data by its path.
std::vector<std::string> member_lines(const json::object& object) {
  std::vector<std::string> lines;
  for (const auto& [key, member] : object) {
    const json::object* inner = member.if_object();
    const json::value* path = inner == nullptr ? nullptr : inner->if_contains("path");
    const json::value& shown = path != nullptr && !path->is_null() ? *path : member;
    lines.push_back(fmt::format("{} = {}", std::string_view(key), scalar_text(shown)));
  }
  return lines;
}

std::vector<std::string> field_lines(const json::value& value) {
  if (const json::object* object = value.if_object()) return member_lines(*object);
  if (const json::array* array = value.if_array()) {
    std::vector<std::string> lines;
    for (const json::value& element : *array) lines.push_back(scalar_text(element));
    return lines;
  }
  std::vector<std::string> lines;
  const std::string text = for_people(value);
  for (const std::string_view line : split(text, '\n')) lines.emplace_back(line);
  if (lines.size() == 1 && lines[0].empty()) lines.clear();
  return lines;
}

std::string summary_text(const Answer& answer, const Console& console) {
  Fields fields;
  for (const Column& column : answer.columns) {
    const json::value* found = find_path(answer.value, column.path);
    if (found == nullptr || found->is_null()) continue;
    fields.lines.emplace_back(column.title, field_lines(*found));
  }
  return to_text(fields, {.bold_titles = console.out_has_color});
}

Result<json::value> queried(const json::value& value, std::string_view query) {
  const auto expression = TRY(lang::jmespath::compile(query));
  auto found = lang::jmespath::search(expression, value);
  if (!found) found.error().message = fmt::format("--query: {}", found.error().message);
  return found;
}

std::string formatted(const json::value& value, Format format, const Console& console) {
  switch (format) {
    case Format::Json: return to_json_text(value);
    case Format::Jsonc: return to_json_text(value, console.out_has_color);
    case Format::Yaml:
    case Format::Yamlc: return wire::yaml::to_yaml_text(sorted(value));
    case Format::Tsv: return to_tsv_text(value);
    case Format::Table:
    case Format::None: break;
  }
  return "";
}

}  // namespace

Result<Format> format_from(std::string_view text) {
  std::string known;
  for (const auto& [name, format] : kFormats) {
    if (equals_ignoring_case(name, text)) return format;
    known += known.empty() ? "" : ", ";
    known += name;
  }
  return fail(Code::InvalidArgument,
              fmt::format("'{}' is not an output format; use one of {}", text, known));
}

Result<std::string> to_text(const Answer& answer, const OutputOptions& options,
                            const Console& console) {
  const bool is_queried = !options.query.empty();
  // In order before the query: what it makes keeps the order in which it was written.
  json::value value = sorted(answer.value);
  if (is_queried) value = TRY(queried(value, options.query));
  if (value.is_null()) return std::string();
  const bool for_terminal =
      !options.format && console.out_is_terminal && !is_queried && !answer.columns.empty();
  if (for_terminal && !value.is_array()) return summary_text(answer, console);
  if (for_terminal && value.get_array().empty()) return std::string();
  const Format format = options.format.value_or(for_terminal ? Format::Table : Format::Json);
  if (format == Format::Table) return table_text(value, answer, is_queried, console);
  return formatted(value, format, console);
}

}  // namespace berth::cli
