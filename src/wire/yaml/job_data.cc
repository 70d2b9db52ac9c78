// SPDX-License-Identifier: Apache-2.0
// Inputs and outputs of a job.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>

#include "base/text.h"
#include "model/assets/reference.h"
#include "wire/arm/resource.h"
#include "wire/yaml/entity.h"
#include "wire/yaml/job_part.h"

namespace berth::wire::yaml {
namespace {

using model::DataMode;
using model::DataType;
using model::JobInput;
using model::JobOutput;

constexpr std::array<std::string_view, 7> kInputKeys = {
    "type", "path", "mode", "value", "description", "datastore", "path_on_compute"};
constexpr std::array<std::string_view, 7> kOutputKeys = {
    "type", "path", "mode", "name", "version", "description", "path_on_compute"};
constexpr std::array<std::string_view, 4> kLiteralTypes = {"string", "number", "integer",
                                                           "boolean"};

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

/// [a-zA-Z_][a-zA-Z0-9_]*, and such names joined by dots.
bool is_port_name(std::string_view name) {
  for (const std::string_view part : split(name, '.')) {
    if (part.empty() || !is_letter(part[0])) return false;
    for (const char c : part) {
      if (!is_letter(c) && !(c >= '0' && c <= '9')) return false;
    }
  }
  return true;
}

Status check_port_name(const std::string& name, std::string_view what, const Mark& mark) {
  if (is_port_name(name)) return Done{};
  return error_at(mark,
                  fmt::format("'{}' cannot be the name of an {}; use letters, digits and '_', "
                              "starting with a letter or '_'",
                              name, what));
}

Result<DataType> read_type(const Node& node) {
  const std::string text = TRY(text_member(node, "type"));
  if (text.empty()) return DataType::UriFolder;
  const Result<DataType> type = wire::arm::data_type_from(text);
  if (!type) return at(node.find("type")->mark, type.error());
  return *type;
}

Result<std::optional<DataMode>> read_mode(const Node& node, Status (*check)(DataMode)) {
  const std::string text = TRY(text_member(node, "mode"));
  if (text.empty()) return std::optional<DataMode>();
  const Result<DataMode> mode = wire::arm::data_mode_from(text);
  if (!mode) return at(node.find("mode")->mark, mode.error());
  if (const Status checked = check(*mode); !checked) {
    return at(node.find("mode")->mark, checked.error());
  }
  return std::optional<DataMode>(*mode);
}

Status refuse_path_on_compute(const Node& node) {
  const Node* path = node.find("path_on_compute");
  if (path == nullptr || path->kind == Node::Kind::Null) return Done{};
  return at(path->mark,
            {.code = Code::NotSupported, .message = "'path_on_compute' is not supported yet"});
}

JobInput literal(const std::string& text) {
  return JobInput{.type = DataType::Literal, .value = text};
}

Result<JobInput> reference_input(const Node& node, DataType type) {
  if (node.text.find("${{") == std::string::npos) {
    const Result<model::DataRef> reference = model::parse_data_ref(node.text);
    if (!reference) return at(node.mark, reference.error());
  }
  return JobInput{.type = type, .uri = node.text};
}

Status check_kind_of_path(const LocalPath& local, DataType type) {
  std::error_code failed;
  const bool is_folder = std::filesystem::is_directory(local.path, failed);
  if (type == DataType::UriFile && is_folder) {
    return error_at(local.mark,
                    fmt::format("'{}' is a folder, but 'type' is uri_file", local.path));
  }
  const bool needs_folder = type == DataType::UriFolder || type == DataType::MlTable;
  if (needs_folder && !is_folder) {
    return error_at(local.mark, fmt::format("'{}' is a file, but 'type' is {}", local.path,
                                            wire::arm::to_arm(type)));
  }
  return Done{};
}

/// One input being read, and what reading it needs.
struct InputContext {
  const std::string& name;
  const std::string& base_directory;
  JobFile& file;
};

Result<JobInput> literal_input(const Node& node, const Node& value) {
  if (node.find("path") != nullptr) {
    return error_at(node.find("path")->mark, "an input has a 'value' or a 'path', not both");
  }
  JobInput input = literal(TRY(as_text(value, "value")));
  input.description = TRY(text_member(node, "description"));
  return input;
}

Result<JobInput> data_input(const Node& node, const InputContext& context) {
  const Node* path = node.find("path");
  if (path == nullptr || path->kind == Node::Kind::Null) {
    return error_at(node.mark, fmt::format("input '{}' needs a 'path' or a 'value'", context.name));
  }
  TRY(as_text(*path, "path"));
  const DataType type = TRY(read_type(node));
  if (type == DataType::Literal) {
    return error_at(node.find("type")->mark, "a literal input has a 'value', not a 'path'");
  }
  JobInput input{.type = type};
  if (is_address(path->text)) {
    input = TRY(reference_input(*path, type));
  } else {
    const LocalPath local = TRY(find_local(*path, "path", context.base_directory));
    TRY(check_kind_of_path(local, type));
    context.file.input_paths[context.name] = local;
  }
  input.mode = TRY(read_mode(node, wire::arm::check_input_mode));
  input.description = TRY(text_member(node, "description"));
  return input;
}

Result<JobInput> object_input(const Node& node, const InputContext& context) {
  TRY(check_keys(node, "an input", kInputKeys));
  TRY(check_datastore(node));
  TRY(refuse_path_on_compute(node));
  if (const Node* value = node.find("value")) return literal_input(node, *value);
  const std::string type = TRY(text_member(node, "type"));
  if (std::ranges::find(kLiteralTypes, to_lower(type)) != kLiteralTypes.end()) {
    return error_at(node.mark,
                    fmt::format("input '{}' of type {} needs a 'value'", context.name, type));
  }
  return data_input(node, context);
}

Result<JobInput> read_input(const Node& node, const InputContext& context) {
  switch (node.kind) {
    case Node::Kind::Null:
      return error_at(node.mark, fmt::format("input '{}' has no value", context.name));
    case Node::Kind::Sequence:
      return error_at(node.mark, fmt::format("input '{}' is a list; give one value, or a mapping "
                                             "with a 'path'",
                                             context.name));
    case Node::Kind::Mapping: return object_input(node, context);
    case Node::Kind::Scalar: break;
  }
  if (starts_with_ignoring_case(node.text, "azureml:")) {
    return reference_input(node, DataType::UriFolder);
  }
  return literal(node.text);
}

Result<std::string> read_output_path(const Node& node) {
  const std::string text = TRY(text_member(node, "path"));
  if (text.empty()) return text;
  const Mark& mark = node.find("path")->mark;
  if (!starts_with_ignoring_case(text, "azureml://")) {
    return error_at(mark, fmt::format("an output goes to azureml://datastores/<datastore>/paths/"
                                      "<path>, not to '{}'",
                                      text));
  }
  if (text.find("${{") != std::string::npos) return text;
  const Result<model::DataRef> place = model::parse_data_ref(text);
  if (!place) return at(mark, place.error());
  if (std::holds_alternative<model::DatastorePath>(*place)) return text;
  return error_at(mark, fmt::format("an output goes to a datastore; '{}' is not on one", text));
}

Status read_asset_name(const Node& node, JobOutput& output) {
  output.asset_name = TRY(text_member(node, "name"));
  output.asset_version = TRY(text_member(node, "version"));
  if (output.asset_name.empty() && !output.asset_version.empty()) {
    return error_at(node.find("version")->mark, "'version' needs a 'name' to go with");
  }
  for (const char* key : {"name", "version"}) {
    const std::string text = TRY(text_member(node, key));
    if (text.empty() || is_resource_name(text)) continue;
    return error_at(node.find(key)->mark, fmt::format("'{}' is not a valid {}", text, key));
  }
  return Done{};
}

Result<JobOutput> read_output(const std::string& name, const Node& node) {
  JobOutput output;
  if (node.kind == Node::Kind::Null) return output;
  if (node.kind == Node::Kind::Scalar) {
    Node wrapped{.kind = Node::Kind::Mapping, .mark = node.mark};
    wrapped.members.emplace_back("path", node);
    output.uri = TRY(read_output_path(wrapped));
    return output;
  }
  TRY(check_mapping(node, name));
  TRY(check_keys(node, "an output", kOutputKeys));
  TRY(refuse_path_on_compute(node));
  output.type = TRY(read_type(node));
  if (output.type == DataType::Literal) {
    return error_at(node.find("type")->mark, "an output cannot be a literal");
  }
  output.uri = TRY(read_output_path(node));
  output.mode = TRY(read_mode(node, wire::arm::check_output_mode));
  output.description = TRY(text_member(node, "description"));
  TRY(read_asset_name(node, output));
  return output;
}

/// The member as a mapping; null when it is absent or empty.
Result<const Node*> mapping_member(const Node& root, std::string_view key) {
  const Node* node = root.find(key);
  if (node == nullptr || node->kind == Node::Kind::Null) return nullptr;
  TRY(check_mapping(*node, key));
  return node;
}

}  // namespace

Status read_inputs(const Node& root, const std::string& base_directory, JobFile& file) {
  const Node* inputs = TRY(mapping_member(root, "inputs"));
  if (inputs == nullptr) return Done{};
  for (std::size_t i = 0; i < inputs->members.size(); ++i) {
    const auto& [name, node] = inputs->members[i];
    TRY(check_port_name(name, "input", inputs->key_marks[i]));
    const InputContext context{.name = name, .base_directory = base_directory, .file = file};
    file.job.spec.edit().inputs[name] = TRY(read_input(node, context));
  }
  return Done{};
}

Status read_outputs(const Node& root, model::Job& job) {
  const Node* outputs = TRY(mapping_member(root, "outputs"));
  if (outputs == nullptr) return Done{};
  for (std::size_t i = 0; i < outputs->members.size(); ++i) {
    const auto& [name, node] = outputs->members[i];
    TRY(check_port_name(name, "output", outputs->key_marks[i]));
    job.spec.edit().outputs[name] = TRY(read_output(name, node));
  }
  return Done{};
}

}  // namespace berth::wire::yaml
