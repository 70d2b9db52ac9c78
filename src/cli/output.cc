// SPDX-License-Identifier: Apache-2.0
#include "cli/output.h"

#include "base/text.h"
#include "cli/query.h"
#include "cli/table.h"
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

json::value sorted(const json::value& value) {
  if (const json::array* array = value.if_array()) {
    json::array result;
    for (const json::value& element : *array) result.push_back(sorted(element));
    return result;
  }
  const json::object* object = value.if_object();
  if (object == nullptr) return value;
  std::map<std::string_view, const json::value*> members;
  for (const auto& [key, member] : *object) members[key] = &member;
  json::object result;
  for (const auto& [key, member] : members) result[key] = sorted(*member);
  return result;
}

/// JSON, but with numbers as people write them: Boost's own 5E-1 is right and hard to read.
std::string json_scalar(const json::value& value) {
  const double* number = value.if_double();
  if (number == nullptr) return json::serialize(value);
  const std::string text = fmt::format("{}", *number);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
}

/// A scalar as people and scripts read it: text without quotes.
std::string scalar_text(const json::value& value) {
  if (const json::string* text = value.if_string()) return std::string(*text);
  return json_scalar(value);
}

/// Writes JSON with an indent of two. Values arrive sorted.
class JsonWriter {
 public:
  explicit JsonWriter(bool colored) : colored_(colored) {}

  std::string write(const json::value& value) {
    append(value, 0);
    return std::move(text_);
  }

 private:
  void append(const json::value& value, std::size_t depth) {
    if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
      text_ += '[';
      for (std::size_t i = 0; i < array->size(); ++i) {
        start_line(i, depth + 1);
        append((*array)[i], depth + 1);
      }
      end_line(depth, ']');
    } else if (const json::object* object = value.if_object();
               object != nullptr && !object->empty()) {
      text_ += '{';
      std::size_t i = 0;
      for (const auto& [key, member] : *object) {
        start_line(i++, depth + 1);
        paint("34", json::serialize(key));
        text_ += ": ";
        append(member, depth + 1);
      }
      end_line(depth, '}');
    } else {
      paint(value.is_string() ? "32" : "36", json_scalar(value));
    }
  }

  void start_line(std::size_t index, std::size_t depth) {
    text_ += index == 0 ? "\n" : ",\n";
    text_.append(2 * depth, ' ');
  }

  void end_line(std::size_t depth, char bracket) {
    text_ += '\n';
    text_.append(2 * depth, ' ');
    text_ += bracket;
  }

  void paint(std::string_view color, std::string_view text) {
    text_ += colored_ ? fmt::format("\x1b[{}m{}\x1b[0m", color, text) : std::string(text);
  }

  bool colored_;
  std::string text_{};
};

std::string tsv_cell(const json::value& value) {
  if (const json::array* array = value.if_array()) return std::to_string(array->size());
  if (value.is_object()) return "";
  // Inside a row these are Python's spellings, which is what scripts written for `az` compare with.
  if (value.is_null()) return "None";
  if (const bool* flag = value.if_bool()) return *flag ? "True" : "False";
  return scalar_text(value);
}

std::string tsv_row(const json::value& value) {
  std::string row;
  auto add = [&, first = true](const json::value& cell) mutable {
    if (!first) row += '\t';
    first = false;
    row += tsv_cell(cell);
  };
  if (const json::array* array = value.if_array()) {
    for (const json::value& cell : *array) add(cell);
  } else if (value.is_object()) {
    const json::value in_order = sorted(value);
    for (const auto& [key, cell] : in_order.get_object()) add(cell);
  } else if (const bool* flag = value.if_bool()) {
    row = *flag ? "true" : "false";
  } else {
    row = tsv_cell(value);
  }
  return row + "\n";
}

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

std::string capitalised(std::string_view key) {
  std::string title(key);
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') {
    title[0] = static_cast<char>(title[0] - 'a' + 'A');
  }
  return title;
}

/// `az`'s own choice of columns: every scalar, by the name of its key.
Table automatic_table(std::span<const json::value> rows) {
  std::vector<std::string> keys;
  const auto add_key = [&](std::string_view key) {
    if (std::ranges::find(keys, key) == keys.end()) keys.emplace_back(key);
  };
  std::vector<std::map<std::string, std::string>> cells;
  for (const json::value& row : rows) {
    auto& found = cells.emplace_back();
    const auto add = [&](const std::string& key, const json::value& cell) {
      if (cell.is_null() || cell.is_structured()) return;
      add_key(key);
      found[key] = scalar_text(cell);
    };
    if (const json::object* object = row.if_object()) {
      for (const auto& [key, cell] : *object) {
        if (key != "id" && key != "type" && key != "etag") add(std::string(key), cell);
      }
    } else if (const json::array* array = row.if_array()) {
      for (std::size_t i = 0; i < array->size(); ++i) {
        add(fmt::format("column{}", i + 1), (*array)[i]);
      }
    } else {
      add("result", row);
    }
  }
  Table table;
  for (const std::string& key : keys) table.titles.push_back(capitalised(key));
  for (auto& row : cells) {
    auto& line = table.rows.emplace_back();
    for (const std::string& key : keys) line.push_back(row[key]);
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
      .bold_titles = console.out_has_color};
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

std::string to_json_text(const json::value& value, bool colored) {
  return JsonWriter(colored).write(sorted(value)) + "\n";
}

std::string to_tsv_text(const json::value& value) {
  const json::array* array = value.if_array();
  if (array == nullptr) return tsv_row(value);
  std::string text;
  for (const json::value& row : *array) text += tsv_row(row);
  return text;
}

Result<std::string> to_text(const Answer& answer, const OutputOptions& options,
                            const Console& console) {
  const bool is_queried = !options.query.empty();
  const json::value value = is_queried ? TRY(query(answer.value, options.query)) : answer.value;
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
