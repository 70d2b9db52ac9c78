// SPDX-License-Identifier: Apache-2.0
#include "wire/arm/run.h"

#include <fmt/format.h>

#include <charconv>

#include "wire/arm/field.h"
#include "wire/arm/resource.h"

namespace berth::wire::arm {
namespace {

using model::DataType;
using model::Job;

json::value text_or_null(const std::string& text) {
  return text.empty() ? json::value(nullptr) : json::value(text);
}

json::value time_or_null(const std::optional<WallTime>& time) {
  return time ? json::value(to_iso8601(*time)) : json::value(nullptr);
}

json::value error_of(const Job& job) {
  if (!job.error) return nullptr;
  return {{"error", {{"code", job.error->code}, {"message", job.error->message}}}};
}

json::array warnings_of(const Job& job) {
  json::array warnings;
  for (const std::string& warning : job.warnings) {
    warnings.push_back({{"source", "Berth"}, {"message", warning}});
  }
  return warnings;
}

/// Models go as folders: clients then ask for their address as for that of any data, and
/// azure-ai-ml 1.35 cannot ask in the other way that it has for models.
std::string_view asset_type(DataType type, RunSpelling spelling) {
  const bool is_model = type == DataType::CustomModel || type == DataType::MlflowModel ||
                        type == DataType::TritonModel;
  if (is_model) type = DataType::UriFolder;
  if (spelling == RunSpelling::Arm) return to_arm(type);
  if (type == DataType::MlTable) return "MLTable";
  return type == DataType::UriFile ? "UriFile" : "UriFolder";
}

json::object outputs_of(const Job& job, RunSpelling spelling) {
  json::object outputs;
  for (const auto& [name, output] : job.spec->outputs) {
    outputs[name] = {{"assetId", output_asset_id(job, name)},
                     {"type", asset_type(output.type, spelling)}};
  }
  return outputs;
}

json::object inputs_of(const Job& job, RunSpelling spelling) {
  json::object inputs;
  for (const auto& [name, input] : job.spec->inputs) {
    if (input.type == DataType::Literal) continue;
    inputs[name] = {{"assetId", input.uri}, {"type", asset_type(input.type, spelling)}};
  }
  return inputs;
}

json::object person(const std::string& name) {
  return {{"userName", name}, {"userObjectId", nullptr}, {"userTenantId", nullptr}};
}

Result<std::optional<std::string>> optional_text(const Fields& from, std::string_view key) {
  if (from.find(key) == nullptr) return std::optional<std::string>();
  std::string text = TRY(from.text(key));
  return std::optional(std::move(text));
}

}  // namespace

std::string output_asset_id(const Job& job, const std::string& output) {
  return fmt::format("azureml://jobs/{}/outputs/{}", job.key.name, output);
}

std::string long_datastore_uri(const model::Workspace& workspace, const std::string& datastore,
                               const std::string& path) {
  return fmt::format(
      "azureml://subscriptions/{}/resourcegroups/{}/workspaces/{}/datastores/{}/paths/{}",
      workspace.subscription, workspace.resource_group, workspace.name, datastore, path);
}

RunSpelling spelling_for(std::string_view user_agent) {
  constexpr std::string_view kClient = "azure-ai-ml/1.";
  constexpr int kFirst = 35;
  const std::size_t at = user_agent.find(kClient);
  if (at == user_agent.npos) return RunSpelling::History;
  const std::string_view minor = user_agent.substr(at + kClient.size());
  int number = 0;
  std::from_chars(minor.data(), minor.data() + minor.size(), number);
  return number >= kFirst ? RunSpelling::Arm : RunSpelling::History;
}

json::object run_json(const Job& job, RunSpelling spelling) {
  return {{"runId", job.key.name},
          {"rootRunId", job.key.name},
          {"parentRunId", text_or_null(job.spec->parent_job_name)},
          {"experimentId", job.spec->experiment_name},
          {"displayName", job.display_name},
          {"description", job.description},
          {"hidden", job.is_archived},
          {"status", boost::describe::enum_to_string(job.status, "Unknown")},
          {"runType", "azureml.scriptrun"},
          {"runTypeV2", {{"orchestrator", "Execution"}, {"traits", json::array()}}},
          {"dataContainerId", "dcid." + job.key.name},
          {"createdUtc", to_iso8601(job.created_at)},
          {"createdBy", person(job.created_by)},
          {"lastModifiedUtc", to_iso8601(job.modified_at)},
          {"startTimeUtc", time_or_null(job.started_at)},
          {"endTimeUtc", time_or_null(job.ended_at)},
          {"target", job.spec->compute},
          {"compute",
           {{"target", job.spec->compute},
            {"instanceCount", command_of(job.spec).resources.instance_count}}},
          {"tags", to_json(job.tags)},
          {"properties", to_json(job.properties)},
          {"services", json::object()},
          {"inputs", inputs_of(job, spelling)},
          {"outputs", outputs_of(job, spelling)},
          {"inputDatasets", json::array()},
          {"outputDatasets", json::array()},
          {"warnings", warnings_of(job)},
          {"error", error_of(job)}};
}

Result<RunChanges> run_changes_from_json(const json::value& body) {
  const Fields from = TRY(Fields::of(body, ""));
  for (const char* key : {"status", "startTimeUtc", "endTimeUtc", "parentRunId"}) {
    if (from.find(key) != nullptr) return from.wrong(key, "cannot be changed");
  }
  RunChanges changes;
  changes.display_name = TRY(optional_text(from, "displayName"));
  changes.description = TRY(optional_text(from, "description"));
  if (from.find("hidden") != nullptr) changes.is_archived = TRY(from.boolean("hidden", false));
  changes.tags = TRY(from.text_map("tags"));
  changes.properties = TRY(from.text_map("properties"));
  // Ours, in every answer: not the client's when they come back.
  changes.properties.erase("StartTimeUtc");
  changes.properties.erase("EndTimeUtc");
  return changes;
}

}  // namespace berth::wire::arm
