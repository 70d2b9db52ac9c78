// SPDX-License-Identifier: Apache-2.0
// Block-style YAML, for people to read and for parse() to read back.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "base/text.h"
#include "wire/yaml/asset.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;

bool is_yaml_word(std::string_view text) {
  // YAML 1.1 readers, PyYAML among them, take the last six for booleans.
  constexpr std::array<std::string_view, 11> kWords = {"null", "true", "false", ".nan", ".inf", "~",
                                                       "yes",  "no",   "on",    "off",  "y"};
  return std::ranges::any_of(
             kWords, [&](std::string_view word) { return equals_ignoring_case(word, text); }) ||
         equals_ignoring_case(text, "n");
}

/// Numbers, dates, times and whatever else starts like one: quoting too much costs nothing.
bool looks_numeric(std::string_view text) {
  const std::size_t first = text.find_first_not_of("+-.");
  return first != std::string_view::npos && text[first] >= '0' && text[first] <= '9' &&
         text.find_first_not_of("0123456789abcdefABCDEFxXoO+-._:eETZ ") == std::string_view::npos;
}

bool has_control(std::string_view text) {
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x20 && c != '\n') || byte == 0x7f) return true;
  }
  // NEL, the line and paragraph separators and the byte order mark are line breaks or vanish.
  return text.find("\u0085") != text.npos || text.find("\u2028") != text.npos ||
         text.find("\u2029") != text.npos || text.find("\ufeff") != text.npos;
}

/// Double quotes and JSON's escapes, which are YAML's too.
std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (c == '\n') {
      result += "\\n";
    } else if (c == '\t') {
      result += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      result += fmt::format("\\x{:02x}", byte);
    } else {
      result += c;
    }
  }
  result += '"';
  for (const auto& [raw, escaped] : {std::pair("\u0085", "\\N"), std::pair("\u2028", "\\L"),
                                     std::pair("\u2029", "\\P"), std::pair("\ufeff", "\\uFEFF")}) {
    const std::string_view needle = raw;
    for (auto at = result.find(needle); at != std::string::npos; at = result.find(needle, at)) {
      result.replace(at, needle.size(), escaped);
    }
  }
  return result;
}

bool fits_literal_block(std::string_view text) {
  // A first line that starts with a space would need an indentation hint; quote such text instead.
  return text.find('\n') != text.npos && !has_control(text) && text[0] != ' ' && text[0] != '\n' &&
         text.find_first_not_of('\n') != text.npos;
}

std::string literal_block(std::string_view text, int indent) {
  indent = std::max(indent, 2);  // At the left edge a line "---" would end the document.
  std::string result = "|";
  if (!text.ends_with('\n')) {
    result += '-';
  } else if (text.ends_with("\n\n")) {
    result += '+';
  }
  if (text.ends_with('\n')) text.remove_suffix(1);
  for (const std::string_view line : split(text, '\n')) {
    result += '\n';
    if (!line.empty()) result.append(static_cast<std::size_t>(indent), ' ').append(line);
  }
  return result;
}

std::string text_scalar(std::string_view text, int indent) {
  if (fits_literal_block(text)) return literal_block(text, indent);
  return needs_quotes(text) ? quoted(text) : std::string(text);
}

// The writer below sees JSON and our own nodes through these few questions.

struct JsonView {
  static bool is_sequence(const json::value& value) { return value.is_array(); }
  static bool is_mapping(const json::value& value) { return value.is_object(); }
  static const json::array& items(const json::value& value) { return value.get_array(); }
  static const json::object& members(const json::value& value) { return value.get_object(); }
  static std::string_view key(const json::key_value_pair& member) { return member.key(); }
  static const json::value& element(const json::key_value_pair& member) { return member.value(); }
  static std::string scalar(const json::value& value, int indent) {
    if (value.is_string()) return text_scalar(value.get_string(), indent);
    return json::serialize(value);
  }
};

struct NodeView {
  static bool is_sequence(const Node& node) { return node.kind == Node::Kind::Sequence; }
  static bool is_mapping(const Node& node) { return node.kind == Node::Kind::Mapping; }
  static const std::vector<Node>& items(const Node& node) { return node.items; }
  static const auto& members(const Node& node) { return node.members; }
  static std::string_view key(const std::pair<std::string, Node>& member) { return member.first; }
  static const Node& element(const std::pair<std::string, Node>& member) { return member.second; }
  static std::string scalar(const Node& node, int indent) {
    if (node.kind == Node::Kind::Null) return "null";
    // A plain scalar was valid as it stands in block style only when it holds nothing special.
    const bool is_word = is_yaml_word(node.text) || looks_numeric(node.text);
    return !node.quoted && is_word ? node.text : text_scalar(node.text, indent);
  }
};

template <typename View, typename Value>
class Writer {
 public:
  std::string text() && { return std::move(out_); }

  /// `inline_first`: the cursor already stands where the first line goes, after "- ".
  void write(const Value& value, int indent, bool inline_first) {
    if (View::is_sequence(value) && !View::items(value).empty()) {
      write_sequence(value, indent, inline_first);
    } else if (View::is_mapping(value) && !View::members(value).empty()) {
      write_mapping(value, indent, inline_first);
    } else {
      out_ += scalar(value, indent);
      out_ += '\n';
    }
  }

 private:
  static std::string scalar(const Value& value, int indent) {
    if (View::is_sequence(value)) return "[]";
    if (View::is_mapping(value)) return "{}";
    return View::scalar(value, indent);
  }

  static bool is_block(const Value& value) {
    return (View::is_sequence(value) && !View::items(value).empty()) ||
           (View::is_mapping(value) && !View::members(value).empty());
  }

  void write_sequence(const Value& value, int indent, bool inline_first) {
    for (const auto& item : View::items(value)) {
      if (!inline_first) pad(indent);
      inline_first = false;
      out_ += "- ";
      write(item, indent + 2, true);
    }
  }

  void write_mapping(const Value& value, int indent, bool inline_first) {
    for (const auto& member : View::members(value)) {
      if (!inline_first) pad(indent);
      inline_first = false;
      const std::string_view key = View::key(member);
      out_ += needs_quotes(key) ? quoted(key) : std::string(key);
      write_element(View::element(member), indent);
    }
  }

  void write_element(const Value& value, int indent) {
    out_ += ':';
    if (!is_block(value)) {
      out_ += ' ';
      write(value, indent + 2, true);
      return;
    }
    out_ += '\n';
    // A list below a key is not indented further: that is how `az … -o yaml` writes it.
    write(value, View::is_sequence(value) ? indent : indent + 2, false);
  }

  void pad(int indent) { out_.append(static_cast<std::size_t>(indent), ' '); }

  std::string out_;
};

}  // namespace

bool needs_quotes(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ') return true;
  if (std::string_view("-?:,[]{}#&*!|>'\"%@`=<").find(text[0]) != text.npos) return true;
  if (text.find('\n') != text.npos || has_control(text)) return true;
  if (text.find(": ") != text.npos || text.find(" #") != text.npos || text.back() == ':') {
    return true;
  }
  return is_yaml_word(text) || looks_numeric(text) || text.starts_with("...");
}

std::string to_yaml_text(const json::value& value) {
  Writer<JsonView, json::value> writer;
  writer.write(value, 0, false);
  return std::move(writer).text();
}

std::string to_yaml_text(const Node& node) {
  Writer<NodeView, Node> writer;
  writer.write(node, 0, false);
  return std::move(writer).text();
}

}  // namespace berth::wire::yaml
