// SPDX-License-Identifier: Apache-2.0
// A command job's file: its own keys. Inputs and outputs are in job_data.cc, settings in
// job_settings.cc.
#include "wire/yaml/job.h"

#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "model/array.h"
#include "model/assets/reference.h"
#include "wire/yaml/entity.h"
#include "wire/yaml/job_part.h"

namespace berth::wire::yaml {
namespace {

using model::Job;

constexpr std::array<std::string_view, 23> kKeys = {"$schema",
                                                    "type",
                                                    "name",
                                                    "display_name",
                                                    "description",
                                                    "tags",
                                                    "properties",
                                                    "experiment_name",
                                                    "command",
                                                    "code",
                                                    "environment",
                                                    "environment_variables",
                                                    "inputs",
                                                    "outputs",
                                                    "compute",
                                                    "resources",
                                                    "limits",
                                                    "distribution",
                                                    "identity",
                                                    "services",
                                                    "queue_settings",
                                                    "parent_job_name",
                                                    "notification_setting"};
/// What `job show` prints beyond them, so that its output can be submitted again.
constexpr std::array<std::string_view, 10> kReadOnly = {
    "id",         "status", "creation_context", "log_files", "resourceGroup",
    "parameters", "error",  "warnings",         "attempt",   "node"};
constexpr std::array<std::string_view, 9> kOtherTypes = {
    "sweep",  "pipeline",      "spark",      "automl",      "parallel",
    "import", "data_transfer", "finetuning", "distillation"};
constexpr std::array<std::string_view, 5> kCommonTypes = {"command", "sweep", "pipeline", "spark",
                                                          "automl"};

Status check_type(const Node& root) {
  const std::string type = TRY(text_member(root, "type"));
  if (type.empty() || equals_ignoring_case(type, "command")) return Done{};
  const Mark& mark = root.find("type")->mark;
  for (const std::string_view other : kOtherTypes) {
    if (!equals_ignoring_case(type, other)) continue;
    return at(mark, {.code = Code::NotSupported,
                     .message = fmt::format("'{}' jobs are not supported yet", other)});
  }
  if (const auto near = nearest(to_lower(type), kCommonTypes)) {
    return error_at(mark, fmt::format("'{}' is not a job type; did you mean '{}'?", type, *near));
  }
  return error_at(mark, fmt::format("'{}' is not a job type; known are {}", type,
                                    fmt::join(kCommonTypes, ", ")));
}

Status read_name(const Node& root, Job& job) {
  job.key.name = TRY(text_member(root, "name"));
  if (job.key.name.empty() || is_resource_name(job.key.name)) return Done{};
  return error_at(
      root.find("name")->mark,
      fmt::format("'{}' is not a valid job name; use letters, digits, '-', '_' and '.', "
                  "starting with a letter, digit or '_'",
                  job.key.name));
}

Status read_labels(const Node& root, Job& job) {
  TRY(read_name(root, job));
  job.display_name = TRY(text_member(root, "display_name"));
  job.description = TRY(text_member(root, "description"));
  job.spec.edit().parent_job_name = TRY(text_member(root, "parent_job_name"));
  const std::string experiment = TRY(text_member(root, "experiment_name"));
  if (!experiment.empty()) job.spec.edit().experiment_name = experiment;
  if (const Node* tags = root.find("tags")) job.tags = TRY(as_text_map(*tags, "tags"));
  if (const Node* properties = root.find("properties")) {
    job.properties = TRY(as_text_map(*properties, "properties"));
    // `job show` has them among the properties; they are ours.
    job.properties.erase("StartTimeUtc");
    job.properties.erase("EndTimeUtc");
    if (const auto array = job.properties.extract(model::kArrayProperty)) {
      Result<model::ArrayWork> read =
          model::array_from(array.mapped(), std::move(command_of(job.spec)));
      if (!read) return at(properties->find(model::kArrayProperty)->mark, read.error());
      job.spec.edit().work = *std::move(read);
    }
    if (const auto secrets = job.properties.extract(model::kSecretsProperty)) {
      Result<model::SecretVariables> read = model::secret_variables_from(secrets.mapped());
      if (!read) return at(properties->find(model::kSecretsProperty)->mark, read.error());
      command_of(job.spec.edit()).secrets = *std::move(read);
    }
  }
  return Done{};
}

Status read_command(const Node& root, Job& job) {
  const Node* command = root.find("command");
  if (command == nullptr) return error_at(root.mark, "a command job needs a 'command'");
  command_of(job.spec.edit()).command = TRY(as_text(*command, "command"));
  if (trim(command_of(job.spec).command).empty())
    return error_at(command->mark, "'command' is empty");
  return Done{};
}

Status read_code(const Node& root, const std::string& base_directory, JobFile& file) {
  const std::string text = TRY(text_member(root, "code"));
  if (text.empty()) return Done{};
  const Node& node = *root.find("code");
  if (starts_with_ignoring_case(text, "git+") || starts_with_ignoring_case(text, "http")) {
    if (text.find("://") != std::string::npos) {
      return at(node.mark, {.code = Code::NotSupported,
                            .message = fmt::format("'code' from '{}' is not supported yet; give a "
                                                   "folder or file of this machine",
                                                   text)});
    }
  }
  if (!is_address(text)) {
    file.code_path = TRY(find_local(node, "code", base_directory));
    return Done{};
  }
  const Result<model::AssetRef> reference = model::parse_asset_ref(model::AssetKind::Code, text);
  if (!reference) return at(node.mark, reference.error());
  command_of(file.job.spec.edit()).code_id = text;
  return Done{};
}

Status read_compute(const Node& root, JobFile& file) {
  const std::string text = TRY(text_member(root, "compute"));
  if (text.empty()) return Done{};
  const Result<std::string> name = model::parse_compute_ref(text);
  if (!name) return at(root.find("compute")->mark, name.error());
  file.job.spec.edit().compute = *name;
  file.compute = {.path = text, .mark = root.find("compute")->mark};
  return Done{};
}

Status read_variables(const Node& root, Job& job) {
  const Node* node = root.find("environment_variables");
  if (node == nullptr) return Done{};
  command_of(job.spec.edit()).environment_variables =
      TRY(as_text_map(*node, "environment_variables"));
  for (std::size_t i = 0; i < node->members.size(); ++i) {
    const auto& [name, value] = node->members[i];
    const bool has_nul = (name + value.text).find('\0') != std::string::npos;
    if (name.find('=') == std::string::npos && !has_nul) continue;
    return error_at(
        node->key_marks[i],
        fmt::format("'{}' cannot be an environment variable: no '=' in its name, no NUL "
                    "in it or its value",
                    name));
  }
  return Done{};
}

}  // namespace

Result<JobFile> job_from_yaml(const Node& root, const std::string& base_directory) {
  if (root.kind == Node::Kind::Null) return error_at(root.mark, "the file is empty");
  TRY(check_mapping(root, "the file"));
  TRY(check_type(root));
  TRY(check_keys(root, "a command job", kKeys, kReadOnly));
  JobFile file;
  TRY(read_labels(root, file.job));
  TRY(read_command(root, file.job));
  TRY(read_code(root, base_directory, file));
  TRY(read_compute(root, file));
  TRY(read_variables(root, file.job));
  if (const Node* environment = root.find("environment")) {
    file.environment = TRY(read_environment_spec(*environment, base_directory));
    command_of(file.job.spec.edit()).environment_id = file.environment.reference;
  }
  TRY(read_inputs(root, base_directory, file));
  TRY(read_outputs(root, file.job));
  TRY(read_settings(root, file.job));
  return file;
}

}  // namespace berth::wire::yaml
