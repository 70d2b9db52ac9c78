// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/component.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "wire/yaml/entity.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 17> kKeys = {"$schema",
                                                    "type",
                                                    "name",
                                                    "version",
                                                    "display_name",
                                                    "description",
                                                    "tags",
                                                    "properties",
                                                    "command",
                                                    "code",
                                                    "environment",
                                                    "inputs",
                                                    "outputs",
                                                    "distribution",
                                                    "resources",
                                                    "is_deterministic",
                                                    "additional_includes"};
constexpr std::array<std::string_view, 4> kReadOnly = {"id", "creation_context", "resourceGroup",
                                                       "latest_version"};
constexpr std::array<std::string_view, 9> kOtherTypes = {
    "pipeline", "parallel",      "spark",      "sweep",       "automl",
    "import",   "data_transfer", "finetuning", "distillation"};
constexpr std::array<std::string_view, 8> kInputKeys = {
    "type", "optional", "default", "min", "max", "enum", "mode", "description"};
constexpr std::array<std::string_view, 4> kOutputKeys = {"type", "mode", "description",
                                                         "early_available"};
constexpr std::array<std::string_view, 7> kDataTypes = {
    "uri_folder", "uri_file", "mltable", "mlflow_model", "custom_model", "triton_model", "path"};
constexpr std::array<std::string_view, 4> kLiteralTypes = {"string", "number", "integer",
                                                           "boolean"};

Status check_type(const Node& root) {
  const std::string type = TRY(text_member(root, "type"));
  if (type.empty() || equals_ignoring_case(type, "command")) return Done{};
  const Mark& mark = root.find("type")->mark;
  for (const std::string_view other : kOtherTypes) {
    if (!equals_ignoring_case(type, other)) continue;
    return at(mark, {.code = Code::NotSupported,
                     .message = fmt::format("'{}' components are not supported yet", other)});
  }
  return error_at(mark, fmt::format("'{}' is not a type of component; use 'command'", type));
}

Status check_name(const Node& root) {
  const Node* name = root.find("name");
  if (name == nullptr) return error_at(root.mark, "a component needs a 'name'");
  const std::string text = TRY(as_text(*name, "name"));
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789_";
  constexpr std::string_view kNotFirst = "0123456789_";
  const bool is_right = !text.empty() && text.find_first_not_of(kLetters) == std::string::npos &&
                        text.find_first_of(kNotFirst) != 0;
  if (is_right) return Done{};
  return error_at(name->mark,
                  fmt::format("'name' is '{}'; a component's begins with a small letter, and then "
                              "has small letters, digits and '_'",
                              text));
}

/// `inputs` or `outputs`: each a mapping with a type, or just the type.
Status check_ports(const Node& root, std::string_view key, bool is_input) {
  const Node* ports = root.find(key);
  if (ports == nullptr || ports->kind == Node::Kind::Null) return Done{};
  TRY(check_mapping(*ports, key));
  std::vector<std::string_view> types(kDataTypes.begin(), kDataTypes.end());
  if (is_input) types.insert(types.end(), kLiteralTypes.begin(), kLiteralTypes.end());
  const std::string what = is_input ? "an input" : "an output";
  for (const auto& [name, port] : ports->members) {
    const std::string path = fmt::format("{}.{}", key, name);
    TRY(check_mapping(port, path));
    const auto keys = is_input ? std::span<const std::string_view>(kInputKeys) : kOutputKeys;
    TRY(check_keys(port, what, keys));
    const std::string type = TRY(choice_member(port, "type", types));
    if (type.empty()) return error_at(port.mark, fmt::format("'{}' needs a 'type'", path));
  }
  return Done{};
}

Status check_includes(const Node& root) {
  const Node* includes = root.find("additional_includes");
  if (includes == nullptr || includes->items.empty()) return Done{};
  return at(includes->mark, {.code = Code::NotSupported,
                             .message = "'additional_includes' are not supported yet; put the "
                                        "files into the folder that 'code' names"});
}

/// The file's own keys as Azure's clients send them, without what is local and what may change.
json::object spec_of(const Node& root) {
  json::object spec;
  for (const auto& [key, member] : root.members) {
    const bool is_left_out = key == "tags" || key == "description" || key == "code" ||
                             key == "environment" || key == "properties" ||
                             key == "additional_includes" ||
                             std::ranges::find(kReadOnly, key) != kReadOnly.end();
    if (!is_left_out && member.kind != Node::Kind::Null) spec[key] = to_json(member);
  }
  spec["type"] = "command";
  if (!spec.contains("is_deterministic")) spec["is_deterministic"] = true;
  for (const char* key : {"inputs", "outputs"}) {
    if (!spec.contains(key)) spec[key] = json::object();
  }
  return spec;
}

}  // namespace

Result<ComponentFile> component_from_yaml(const Node& root, const std::string& base_directory) {
  TRY(check_mapping(root, "the file"));
  TRY(check_type(root));
  TRY(check_keys(root, "a command component", kKeys, kReadOnly));
  TRY(check_name(root));
  TRY(check_ports(root, "inputs", true));
  TRY(check_ports(root, "outputs", false));
  TRY(check_includes(root));
  ComponentFile file;
  file.asset.kind = model::AssetKind::Component;
  TRY(read_labels(root, file.asset));
  if (TRY(text_member(root, "command")).empty()) {
    return error_at(root.mark, "a command component needs a 'command'");
  }
  json::object spec = spec_of(root);
  const Node* code = root.find("code");
  if (code != nullptr && code->kind != Node::Kind::Null) {
    const std::string text = TRY(as_text(*code, "code"));
    if (is_address(text)) {
      spec["code"] = text;
    } else {
      file.code = TRY(find_local(*code, "code", base_directory));
    }
  }
  if (const Node* environment = root.find("environment")) {
    file.environment = TRY(read_environment_spec(*environment, base_directory));
    if (!file.environment.reference.empty()) spec["environment"] = file.environment.reference;
  }
  file.asset.body = {{"componentSpec", std::move(spec)}};
  return file;
}

}  // namespace berth::wire::yaml
