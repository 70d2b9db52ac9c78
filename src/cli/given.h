// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/command.h"
#include "wire/yaml/document.h"

namespace berth::cli {

/// The value of --name, checked: it becomes part of a path.
Result<std::string> required_name(const Context& context, std::string_view of_what);
/// Likewise for any other name.
Status check_name(std::string_view name, std::string_view of_what);

/// The file of -f with --set applied, or an empty mapping without -f. Relative paths in it are seen
/// from `base_directory`.
struct Document {
  wire::yaml::Node root{};
  std::string base_directory{};
};
Result<Document> load_document(const Context& context);

/// --set, --add and --remove of an update command, on what of a resource may change.
Result<wire::yaml::Node> edited(const Context& context, const json::object& changeable);
/// Whether any of them was given.
bool has_edits(const Context& context);

inline constexpr Flag kEditSet = {"--set", Takes::Several, "key=value",
                                  "description=…, tags.key=…, list[0].key=…"};
inline constexpr Flag kEditAdd = {"--add", Takes::Several, "LIST VALUE", "append to a list"};
inline constexpr Flag kEditRemove = {"--remove", Takes::Several, "KEY",
                                     "take a key away, or with a number an element of a list"};
inline constexpr Flag kEditText = {"--force-string", Takes::Nothing, "",
                                   "values of --set are text, whatever they look like"};

/// Puts a flag's text over what the file says.
void set_text(wire::yaml::Node& root, std::string_view key, const std::string& text);
/// Puts --tags a=b c=d into the document.
Status set_tags(wire::yaml::Node& root, const std::vector<std::string>& pairs);

/// Asks on the terminal; elsewhere -y must have been given.
Result<bool> is_certain(const Context& context, const std::string& question);

/// A flag's value as a whole number; nothing when it was not given.
Result<std::optional<std::int64_t>> number_flag(const Context& context, std::string_view key);

/// How many elements a list command shows.
Result<std::size_t> most_results(const Context& context);
/// "listViewType=…" from --include-archived and --archived-only.
std::string view_query(const Context& context);

}  // namespace berth::cli
