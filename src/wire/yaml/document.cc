// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/document.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>

#include "base/text.h"

namespace berth::wire::yaml {
namespace {

constexpr std::size_t kMostBytes = std::size_t{16} << 20;

/// Enough of a text to recognise it by in a message.
std::string shortened(const std::string& text) {
  constexpr std::size_t kEnough = 60;
  if (text.size() <= kEnough) return text;
  std::size_t end = kEnough;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "…";
}

}  // namespace

std::string described(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Null: return "empty";
    case Node::Kind::Scalar: return fmt::format("the text '{}'", shortened(node.text));
    case Node::Kind::Sequence: return "a list";
    case Node::Kind::Mapping: return "a mapping";
  }
  return "something else";
}

std::string to_string(const Mark& mark) {
  if (mark.line == 0) return mark.file;
  return fmt::format("{}:{}:{}", mark.file, mark.line, mark.column);
}

tl::unexpected<Error> error_at(const Mark& mark, std::string message) {
  const std::string place = to_string(mark);
  if (place.empty()) return fail(Code::InvalidArgument, std::move(message));
  return fail(Code::InvalidArgument, fmt::format("{}: {}", place, message));
}

const Node* Node::find(std::string_view key) const {
  for (const auto& [name, value] : members) {
    if (name == key) return &value;
  }
  return nullptr;
}

Result<std::string> read_text_file(const std::string& path) {
  std::error_code failed;
  if (std::filesystem::is_directory(path, failed)) {
    return fail(Code::InvalidArgument, fmt::format("'{}' is a folder, not a file", path));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(Code::InvalidArgument, fmt::format("cannot open the file '{}'", path));
  std::string text;
  std::string piece(std::size_t{64} << 10, '\0');
  while (file.read(piece.data(), static_cast<std::streamsize>(piece.size())) || file.gcount() > 0) {
    text.append(piece, 0, static_cast<std::size_t>(file.gcount()));
    if (text.size() > kMostBytes) {
      return fail(Code::TooLarge, fmt::format("'{}' is larger than 16 MiB", path));
    }
  }
  if (file.bad()) return fail(Code::Unavailable, fmt::format("cannot read the file '{}'", path));
  return text;
}

Result<Node> load(const std::string& path) {
  const std::string text = TRY(read_text_file(path));
  return parse(text, path);
}

Result<std::string> as_text(const Node& node, std::string_view key) {
  if (node.kind == Node::Kind::Scalar) return node.text;
  return error_at(node.mark, fmt::format("'{}' must be text, but is {}", key, described(node)));
}

Result<std::int64_t> as_integer(const Node& node, std::string_view key) {
  std::int64_t number = 0;
  if (node.kind == Node::Kind::Scalar) {
    std::string_view text = node.text;
    if (text.starts_with('+')) text.remove_prefix(1);
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failed == std::errc{} && end == text.data() + text.size()) return number;
  }
  return error_at(node.mark,
                  fmt::format("'{}' must be a whole number, but is {}", key, described(node)));
}

Result<bool> as_bool(const Node& node, std::string_view key) {
  if (node.kind == Node::Kind::Scalar) {
    for (const std::string_view word : {"true", "yes", "on"}) {
      if (equals_ignoring_case(node.text, word)) return true;
    }
    for (const std::string_view word : {"false", "no", "off"}) {
      if (equals_ignoring_case(node.text, word)) return false;
    }
  }
  return error_at(node.mark,
                  fmt::format("'{}' must be true or false, but is {}", key, described(node)));
}

Status check_mapping(const Node& node, std::string_view key) {
  if (node.kind == Node::Kind::Mapping) return Done{};
  return error_at(node.mark,
                  fmt::format("'{}' must be a mapping, but is {}", key, described(node)));
}

Result<std::map<std::string, std::string>> as_text_map(const Node& node, std::string_view key) {
  std::map<std::string, std::string> map;
  if (node.kind == Node::Kind::Null) return map;
  TRY(check_mapping(node, key));
  for (const auto& [name, value] : node.members) {
    const bool is_null = value.kind == Node::Kind::Null;
    map[name] = is_null ? std::string() : TRY(as_text(value, fmt::format("{}.{}", key, name)));
  }
  return map;
}

Status check_keys(const Node& node, std::string_view of_what,
                  std::span<const std::string_view> known,
                  std::span<const std::string_view> read_only) {
  for (std::size_t i = 0; i < node.members.size(); ++i) {
    const std::string& key = node.members[i].first;
    if (std::ranges::find(known, key) != known.end()) continue;
    if (std::ranges::find(read_only, key) != read_only.end()) continue;
    std::string message = fmt::format("'{}' is not a key of {}", key, of_what);
    if (const auto near = nearest(key, known)) {
      message += fmt::format("; did you mean '{}'?", *near);
    } else {
      message += fmt::format("; known are {}", fmt::join(known, ", "));
    }
    return error_at(node.key_marks[i], std::move(message));
  }
  return Done{};
}

}  // namespace berth::wire::yaml
