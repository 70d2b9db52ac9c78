// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace berth::wire::yaml {

/// Where something stands: printed as "job.yml:3:5". Line 0: it came from --set or a flag.
struct Mark {
  std::string file{};
  int line = 0;
  int column = 0;
};
std::string to_string(const Mark& mark);

/// A YAML value with its place. Scalars keep their text and whether they were quoted, so that `1.0`
/// stays "1.0" as a version and is a number as an input.
struct Node {
  enum class Kind { Null, Scalar, Sequence, Mapping };
  Kind kind = Kind::Null;
  std::string text{};
  bool quoted = false;
  std::vector<Node> items{};
  std::vector<std::pair<std::string, Node>> members{};  ///< In the file's order; keys are unique.
  std::vector<Mark> key_marks{};                        ///< Of members, in the same order.
  Mark mark{};

  const Node* find(std::string_view key) const;
};

/// Parses one document. Refuses duplicate keys, more than 64 levels, more than 100,000 nodes after
/// aliases are resolved, more than 16 MiB of text, tags, and anything but UTF-8. An empty text
/// gives a Null node. Merge keys ("<<") are resolved. Messages start with file:line:column.
Result<Node> parse(std::string_view text, const std::string& file);
Result<Node> load(const std::string& path);
/// A file's bytes, at most 16 MiB of them.
Result<std::string> read_text_file(const std::string& path);

/// "a list", "the text 'x'", …: for messages.
std::string described(const Node& node);

/// Typed readers. Errors name file, line, column and the key, and say what would be right.
Result<std::string> as_text(const Node& node, std::string_view key);
Result<std::int64_t> as_integer(const Node& node, std::string_view key);
Result<bool> as_bool(const Node& node, std::string_view key);
Status check_mapping(const Node& node, std::string_view key);
/// Numbers and booleans give their text, null an empty one.
Result<std::map<std::string, std::string>> as_text_map(const Node& node, std::string_view key);

/// Fails at the first member of `node` that is neither known nor read-only, with the nearest known
/// key: "job.yml:3:1: 'comand' is not a key of a command job; did you mean 'command'?".
Status check_keys(const Node& node, std::string_view of_what,
                  std::span<const std::string_view> known,
                  std::span<const std::string_view> read_only = {});

/// `message` with the node's place in front.
tl::unexpected<Error> error_at(const Mark& mark, std::string message);

}  // namespace berth::wire::yaml
