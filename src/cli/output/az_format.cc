// SPDX-License-Identifier: Apache-2.0
#include "cli/output/az_format.h"

#include <map>

#include "base/text.h"

namespace berth::cli {
namespace {

namespace json = boost::json;

/// JSON, but with numbers as people write them: Boost's own 5E-1 is right and hard to read.
std::string json_scalar(const json::value& value) {
  const double* number = value.if_double();
  if (number == nullptr) return json::serialize(value);
  const std::string text = fmt::format("{}", *number);
  return text.find_first_of(".en") == std::string::npos ? text + ".0" : text;
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
  return value.is_object() ? "" : scalar_text(value);
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
  } else if (const json::object* object = value.if_object()) {
    for (const auto& [key, cell] : *object) add(cell);
  } else if (const bool* flag = value.if_bool()) {
    row = *flag ? "true" : "false";  // Alone it is a word of JSON's, in a row one of Python's.
  } else {
    row = tsv_cell(value);
  }
  return row + "\n";
}

/// Python's own spelling of text within a list: 'it' or "it's".
std::string python_quoted(std::string_view text) {
  const bool has_single = text.find('\'') != std::string_view::npos;
  const char quote = has_single && text.find('"') == std::string_view::npos ? '"' : '\'';
  std::string result(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') result += '\\';
    if (c == '\n') {
      result += "\\n";
    } else {
      result += c;
    }
  }
  return result + quote;
}

/// What Python's str() makes of a list in a cell.
std::string python_text(const json::value& value) {
  std::string text;
  if (const json::array* array = value.if_array()) {
    for (const json::value& each : *array) text += (text.empty() ? "" : ", ") + python_text(each);
    return "[" + text + "]";
  }
  if (const json::object* object = value.if_object()) {
    for (const auto& [key, member] : *object) {
      text += text.empty() ? "" : ", ";
      text += python_quoted(key) + ": " + python_text(member);
    }
    return "{" + text + "}";
  }
  return value.is_string() ? python_quoted(value.get_string()) : scalar_text(value);
}

std::string capitalised(std::string_view key) {
  std::string title(key);
  if (!title.empty() && title[0] >= 'a' && title[0] <= 'z') {
    title[0] = static_cast<char>(title[0] - 'a' + 'A');
  }
  return title;
}

using Cells = std::vector<std::pair<std::string, std::string>>;

/// A row's cells with their columns' names.
Cells cells_of(const json::value& row) {
  Cells cells;
  if (const json::object* object = row.if_object()) {
    for (const auto& [key, cell] : *object) {
      const bool is_skipped = key == "id" || key == "type" || key == "etag";
      if (is_skipped || cell.is_null() || cell.is_structured()) continue;
      cells.emplace_back(capitalised(key), scalar_text(cell));
    }
  } else if (const json::array* array = row.if_array()) {
    for (std::size_t i = 0; i < array->size(); ++i) {
      const json::value& cell = (*array)[i];
      const std::string text = cell.is_structured() ? python_text(cell) : scalar_text(cell);
      cells.emplace_back(fmt::format("Column{}", i + 1), cell.is_null() ? "" : text);
    }
  } else {
    cells.emplace_back("Result", row.is_null() ? "" : scalar_text(row));
  }
  return cells;
}

}  // namespace

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

std::string scalar_text(const json::value& value) {
  if (const json::string* text = value.if_string()) return std::string(*text);
  if (value.is_null()) return "None";
  if (const bool* flag = value.if_bool()) return *flag ? "True" : "False";
  return json_scalar(value);
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

Table automatic_table(std::span<const json::value> rows) {
  Table table;
  std::vector<Cells> cells;
  for (const json::value& row : rows) {
    for (const auto& [title, text] : cells.emplace_back(cells_of(row))) {
      if (std::ranges::find(table.titles, title) == table.titles.end()) {
        table.titles.push_back(title);
      }
    }
  }
  for (const Cells& row : cells) {
    auto& line = table.rows.emplace_back(table.titles.size());
    for (const auto& [title, text] : row) {
      const auto column = std::ranges::find(table.titles, title) - table.titles.begin();
      line[static_cast<std::size_t>(column)] = text;
    }
  }
  return table;
}

}  // namespace berth::cli
