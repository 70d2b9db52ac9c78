// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/edit.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <vector>

#include "base/text.h"

namespace berth::wire::yaml {
namespace {

const Mark kFromSet{.file = "--set"};

/// A whole number in [-size, size), as an index.
std::optional<std::size_t> index_of(std::string_view text, std::size_t size) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size()) return std::nullopt;
  if (number < 0) number += static_cast<std::int64_t>(size);
  if (number < 0 || number >= static_cast<std::int64_t>(size)) return std::nullopt;
  return static_cast<std::size_t>(number);
}

/// Where an assignment's key ends: at the first '=' that is not within brackets.
std::size_t end_of_key(std::string_view assignment) {
  bool in_brackets = false;
  for (std::size_t i = 0; i < assignment.size(); ++i) {
    if (assignment[i] == '=' && !in_brackets) return i;
    if (assignment[i] == '[') in_brackets = true;
    if (assignment[i] == ']') in_brackets = false;
  }
  return std::string_view::npos;
}

/// One change: knows how to say what it was asked for.
class Edit {
 public:
  Edit(std::string_view flag, std::string_view text) : flag_(flag), text_(text) {}

  tl::unexpected<Error> error(std::string_view problem) const {
    return fail(Code::InvalidArgument, fmt::format("{} {}: {}", flag_, text_, problem));
  }

  /// "a.b[0].c" as a, b, [0], c.
  Result<std::vector<std::string_view>> parts_of(std::string_view path) const {
    std::vector<std::string_view> parts;
    path = trim(path);
    bool needs_key = true;
    for (std::size_t at = 0; at < path.size();) {
      if (path[at] == '.') {
        if (needs_key) return error("the key has an empty part");
        needs_key = true;
        ++at;
        continue;
      }
      const bool is_element = path[at] == '[';
      const std::size_t end =
          is_element ? path.find(']', at) + 1 : std::min(path.find_first_of(".[", at), path.size());
      if (is_element && end < at + 3) {
        return error("an element of a list is named by [index] or [key=value]");
      }
      parts.push_back(path.substr(at, end - at));
      needs_key = false;
      at = end;
    }
    if (needs_key) return error("the key has an empty part");
    return parts;
  }

  /// What the path leads to. Mappings on the way are made when `makes`; otherwise what is not there
  /// is an error.
  Result<Node*> find(Node& root, std::span<const std::string_view> parts, bool makes) const {
    Node* node = &root;
    std::string walked = "the file";
    for (const std::string_view part : parts) {
      node = part[0] == '[' ? TRY(element(*node, part, walked))
                            : TRY(member(*node, part, {.name = walked, .makes = makes}));
      const std::string so_far = walked == "the file" ? "" : walked;
      const bool needs_dot = !so_far.empty() && part[0] != '[';
      walked = fmt::format("{}{}{}", so_far, needs_dot ? "." : "", part);
    }
    return node;
  }

  /// Only what starts like YAML's own syntax is read as such; anything else is the text it looks
  /// like, so that --set 'command=echo a: b' says what it says.
  Result<Node> value(std::string_view text) const {
    const bool is_syntax = !text.empty() && std::string_view("[{\"'").find(text[0]) != text.npos;
    if (is_syntax) {
      Result<Node> value = parse(text, std::string(flag_));
      if (!value) return error(value.error().message);
      return value;
    }
    const bool is_null = text.empty() || text == "~" || text == "null";
    return Node{.kind = is_null ? Node::Kind::Null : Node::Kind::Scalar,
                .text = std::string(text),
                .mark = kFromSet};
  }

 private:
  struct Step {
    std::string_view name;  ///< Of the node that is stepped into.
    bool makes = false;
  };

  Result<Node*> member(Node& node, std::string_view key, const Step& step) const {
    if (node.kind == Node::Kind::Null && step.makes) node.kind = Node::Kind::Mapping;
    if (node.kind != Node::Kind::Mapping) {
      return error(fmt::format("'{}' is {}, not a mapping", step.name, described(node)));
    }
    for (auto& [name, value] : node.members) {
      if (name == key) return &value;
    }
    if (!step.makes) return error(fmt::format("there is no '{}' in '{}'", key, step.name));
    node.members.emplace_back(key, Node{.mark = kFromSet});
    node.key_marks.push_back(kFromSet);
    return &node.members.back().second;
  }

  Result<Node*> element(Node& node, std::string_view part, std::string_view name) const {
    if (node.kind != Node::Kind::Sequence) {
      return error(fmt::format("'{}' is {}, not a list", name, described(node)));
    }
    const std::string_view inside = part.substr(1, part.size() - 2);
    const std::size_t equals = inside.find('=');
    if (equals == std::string_view::npos) {
      if (const auto index = index_of(inside, node.items.size())) return &node.items[*index];
      return error(fmt::format("'{}' has {} elements, and none {}", name, node.items.size(), part));
    }
    for (Node& item : node.items) {
      const Node* found = item.find(inside.substr(0, equals));
      if (found != nullptr && found->text == inside.substr(equals + 1)) return &item;
    }
    return error(fmt::format("'{}' has no element with {}", name, inside));
  }

  std::string_view flag_;
  std::string_view text_;
};

Node text_node(std::string_view text) {
  return {.kind = Node::Kind::Scalar, .text = std::string(text), .quoted = true, .mark = kFromSet};
}

/// Appends the words to a list; key=value words that follow each other are one mapping.
Status append(Node& list, std::span<const std::string> words, const Edit& edit) {
  Node mapping{.kind = Node::Kind::Mapping, .mark = kFromSet};
  const auto flush = [&] {
    if (!mapping.members.empty()) list.items.push_back(std::move(mapping));
    mapping = Node{.kind = Node::Kind::Mapping, .mark = kFromSet};
  };
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    const bool is_syntax = word.starts_with('{') || word.starts_with('[');
    if (equals == std::string::npos || is_syntax) {
      flush();
      list.items.push_back(TRY(edit.value(word)));
      continue;
    }
    mapping.members.emplace_back(word.substr(0, equals), text_node(word.substr(equals + 1)));
    mapping.key_marks.push_back(kFromSet);
  }
  flush();
  return Done{};
}

}  // namespace

Status set(Node& root, std::string_view assignment, bool as_text) {
  const Edit edit("--set", assignment);
  const std::size_t equals = end_of_key(assignment);
  if (equals == std::string_view::npos) return edit.error("write <key>=<value>");
  const std::string_view given = assignment.substr(equals + 1);
  Node value = as_text ? text_node(given) : TRY(edit.value(given));
  const auto parts = TRY(edit.parts_of(assignment.substr(0, equals)));
  Node* node = TRY(edit.find(root, parts, true));
  *node = std::move(value);
  return Done{};
}

Status add(Node& root, std::span<const std::string> words) {
  const Edit edit("--add", words.empty() ? std::string_view() : std::string_view(words[0]));
  if (words.size() < 2) return edit.error("write <list> <value>…");
  const auto parts = TRY(edit.parts_of(words[0]));
  Node* list = TRY(edit.find(root, parts, true));
  if (list->kind == Node::Kind::Null) list->kind = Node::Kind::Sequence;
  if (list->kind != Node::Kind::Sequence) {
    return edit.error(fmt::format("it is {}, not a list", described(*list)));
  }
  return append(*list, words.subspan(1), edit);
}

Status remove(Node& root, std::span<const std::string> words) {
  const Edit edit("--remove", words.empty() ? std::string_view() : std::string_view(words[0]));
  if (words.empty() || words.size() > 2) return edit.error("write <key>, or <list> <index>");
  const auto parts = TRY(edit.parts_of(words[0]));
  Node* node = TRY(edit.find(root, parts, false));
  if (words.size() == 1) {
    const std::string_view last = parts.back();
    Node* parent = TRY(edit.find(root, std::span(parts).first(parts.size() - 1), false));
    if (last[0] == '[') {
      parent->items.erase(parent->items.begin() + (node - parent->items.data()));
      return Done{};
    }
    const auto found = std::ranges::find(
        parent->members, last, [](const auto& member) { return std::string_view(member.first); });
    parent->key_marks.erase(parent->key_marks.begin() + (found - parent->members.begin()));
    parent->members.erase(found);
    return Done{};
  }
  const auto index = index_of(words[1], node->items.size());
  if (!index) {
    return edit.error(fmt::format("it has {} elements, and none {}", node->items.size(), words[1]));
  }
  node->items.erase(node->items.begin() + static_cast<std::ptrdiff_t>(*index));
  return Done{};
}

Node to_node(const boost::json::value& value) {
  Node node;
  if (const auto* object = value.if_object()) {
    node.kind = Node::Kind::Mapping;
    for (const auto& [key, member] : *object) {
      node.members.emplace_back(std::string(key), to_node(member));
      node.key_marks.emplace_back();
    }
  } else if (const auto* array = value.if_array()) {
    node.kind = Node::Kind::Sequence;
    for (const auto& element : *array) node.items.push_back(to_node(element));
  } else if (!value.is_null()) {
    node.kind = Node::Kind::Scalar;
    node.quoted = value.is_string();
    node.text = value.is_string() ? std::string(value.get_string()) : boost::json::serialize(value);
  }
  return node;
}

}  // namespace berth::wire::yaml
