// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/entity.h"

#include <fmt/format.h>

#include <filesystem>

#include "base/text.h"
#include "model/datastore.h"

namespace berth::wire::yaml {

namespace fs = std::filesystem;

tl::unexpected<Error> at(const Mark& mark, Error error) {
  const std::string place = to_string(mark);
  if (!place.empty()) error.message = fmt::format("{}: {}", place, error.message);
  return fail(std::move(error));
}

bool is_address(std::string_view path) {
  if (starts_with_ignoring_case(path, "file:")) return false;
  for (const std::string_view start : {"azureml:", "runs:/", "/subscriptions/"}) {
    if (starts_with_ignoring_case(path, start)) return true;
  }
  return path.find("://") != std::string_view::npos || path.find("${{") != std::string_view::npos;
}

Result<LocalPath> find_local(const Node& node, std::string_view key,
                             const std::string& base_directory) {
  std::string_view text = node.text;
  if (starts_with_ignoring_case(text, "file://")) {
    text.remove_prefix(7);
  } else if (starts_with_ignoring_case(text, "file:")) {
    text.remove_prefix(5);
  }
  if (text.empty() || text.find('\0') != std::string_view::npos) {
    return error_at(node.mark, fmt::format("'{}' is not a path", key));
  }
  const fs::path base(base_directory.empty() ? "." : base_directory);
  std::error_code failed;
  fs::path path = fs::absolute(base / text, failed).lexically_normal();
  // "src/" and "src" are the same folder; a name at the end is what gets uploaded under it.
  if (!path.has_filename() && path.has_parent_path()) path = path.parent_path();
  if (!fs::exists(path, failed)) {
    return error_at(node.mark, fmt::format("'{}' is '{}', but there is no '{}'", key, node.text,
                                           path.string()));
  }
  return LocalPath{.path = path.string(), .mark = node.mark};
}

Result<std::string> text_member(const Node& node, std::string_view key) {
  const Node* member = node.find(key);
  if (member == nullptr || member->kind == Node::Kind::Null) return std::string();
  return as_text(*member, key);
}

Result<std::string> choice_member(const Node& node, std::string_view key,
                                  std::span<const std::string_view> known) {
  const std::string text = TRY(text_member(node, key));
  if (text.empty()) return text;
  for (const std::string_view value : known) {
    if (equals_ignoring_case(value, text)) return std::string(value);
  }
  std::string message =
      fmt::format("'{}' is '{}'; known are {}", key, text, fmt::join(known, ", "));
  if (const auto near = nearest(text, known)) {
    message = fmt::format("'{}' is '{}'; did you mean '{}'?", key, text, *near);
  }
  return error_at(node.find(key)->mark, std::move(message));
}

Status check_datastore(const Node& node) {
  std::string name = TRY(text_member(node, "datastore"));
  if (starts_with_ignoring_case(name, "azureml:")) name = name.substr(8);
  if (name.empty() || equals_ignoring_case(name, model::kDatastores[0].name)) return Done{};
  return at(node.find("datastore")->mark,
            {.code = Code::NotSupported,
             .message = fmt::format("uploading to the datastore '{}' is not supported yet; uploads "
                                    "go to '{}'",
                                    name, model::kDatastores[0].name)});
}

Status read_labels(const Node& node, model::Asset& asset) {
  for (const auto& [key, target] :
       {std::pair("name", &asset.name), std::pair("version", &asset.version)}) {
    *target = TRY(text_member(node, key));
    if (target->empty() || is_resource_name(*target)) continue;
    return error_at(
        node.find(key)->mark,
        fmt::format("'{}' is '{}'; use letters, digits, '-', '_' and '.', starting with "
                    "a letter, digit or '_'",
                    key, *target));
  }
  asset.description = TRY(text_member(node, "description"));
  if (const Node* tags = node.find("tags")) asset.tags = TRY(as_text_map(*tags, "tags"));
  if (const Node* properties = node.find("properties")) {
    asset.properties = TRY(as_text_map(*properties, "properties"));
  }
  return Done{};
}

}  // namespace berth::wire::yaml
