// SPDX-License-Identifier: Apache-2.0
// Jobs as ARM writes them. A field nobody set is left out, so that what a client reads and sends
// back describes the same job.
#include <fmt/format.h>

#include "model/array.h"
#include "wire/arm/envelope.h"
#include "wire/arm/field.h"
#include "wire/arm/resource.h"

namespace berth::wire::arm {
namespace {

using model::Job;
using model::JobSpec;

void put(json::object& object, std::string_view key, const std::string& text) {
  if (!text.empty()) object[key] = text;
}

void put(json::object& object, std::string_view key, const json::value& value) {
  if (!value.is_null()) object[key] = value;
}

json::object input_json(const model::JobInput& input) {
  json::object object = {{"jobInputType", to_arm(input.type)}};
  if (input.type == model::DataType::Literal) {
    object["value"] = input.value;
  } else {
    object["uri"] = input.uri;
  }
  if (input.mode) object["mode"] = to_arm(*input.mode);
  put(object, "description", input.description);
  return object;
}

json::object output_json(const model::JobOutput& output) {
  json::object object = {{"jobOutputType", to_arm(output.type)}};
  put(object, "uri", output.uri);
  if (output.mode) object["mode"] = to_arm(*output.mode);
  put(object, "description", output.description);
  put(object, "assetName", output.asset_name);
  put(object, "assetVersion", output.asset_version);
  return object;
}

template <typename Map, typename Write>
json::object map_json(const Map& map, Write write) {
  json::object object;
  for (const auto& [name, element] : map) object[name] = write(element);
  return object;
}

json::object resources_json(const model::JobResources& resources) {
  json::object object = {{"instanceCount", resources.instance_count},
                         {"properties", resources.properties}};
  put(object, "instanceType", resources.instance_type);
  put(object, "shmSize", resources.shm_size);
  put(object, "dockerArgs", resources.docker_args);
  return object;
}

/// Left out when nobody chose anything: clients refuse some tiers on some targets.
json::value queue_json(const JobSpec& spec) {
  if (!spec.job_tier && spec.priority == JobSpec{}.priority) return nullptr;
  json::object object = {{"priority", spec.priority}};
  if (spec.job_tier) object["jobTier"] = *spec.job_tier;
  return object;
}

json::value limits_json(const JobSpec& spec) {
  if (!spec.timeout) return nullptr;
  return json::object{{"jobLimitsType", "Command"}, {"timeout", to_iso8601(*spec.timeout)}};
}

json::object spec_json(const JobSpec& spec) {
  const model::CommandWork& work = command_of(spec);
  json::object properties = {{"jobType", "Command"}, {"command", work.command}};
  put(properties, "codeId", work.code_id);
  put(properties, "environmentId", work.environment_id);
  put(properties, "componentId", spec.component_id);
  put(properties, "computeId", spec.compute);
  put(properties, "experimentName", spec.experiment_name);
  put(properties, "parentJobName", spec.parent_job_name);
  properties["environmentVariables"] = to_json(work.environment_variables);
  properties["inputs"] = map_json(spec.inputs, input_json);
  properties["outputs"] = map_json(spec.outputs, output_json);
  properties["resources"] = resources_json(work.resources);
  put(properties, "limits", limits_json(spec));
  put(properties, "queueSettings", queue_json(spec));
  put(properties, "distribution", work.distribution);
  put(properties, "identity", spec.identity);
  put(properties, "notificationSetting", spec.notification);
  properties["services"] = spec.services;
  return properties;
}

json::object said_by_client(const Job& job) {
  json::object properties = spec_json(job.spec);
  put(properties, "displayName", job.display_name);
  put(properties, "description", job.description);
  properties["tags"] = to_json(job.tags);
  properties["properties"] = to_json(job.properties);
  if (const auto& secrets = command_of(job.spec).secrets; !secrets.empty()) {
    properties["properties"].as_object()[model::kSecretsProperty] = model::to_text(secrets);
  }
  if (const auto* array = std::get_if<model::ArrayWork>(&job.spec->work)) {
    properties["jobType"] = "Pipeline";
    properties["jobs"] = json::object();
    properties["properties"].as_object()[model::kArrayProperty] = model::to_text(*array);
  }
  properties["isArchived"] = job.is_archived;
  return properties;
}

json::object service_json(std::string_view type, const std::string& endpoint) {
  return {{"jobServiceType", type},
          {"endpoint", endpoint},
          {"port", nullptr},
          {"status", nullptr},
          {"errorMessage", nullptr}};
}

/// Everything below is ours to say; readers of a PUT body skip it.
void put_progress(json::object& properties, const Job& job) {
  properties["status"] = boost::describe::enum_to_string(job.status, "Unknown");
  properties["attempt"] = job.attempt;
  properties["parameters"] = json::object();
  put(properties, "node", model::head_node(job).text);
  if (job.cancel_requested) properties["cancelRequested"] = true;
  if (job.error) {
    properties["error"] = {{"code", job.error->code}, {"message", job.error->message}};
  }
  if (!job.warnings.empty()) properties["warnings"] = json::value_from(job.warnings);
  if (job.outcome) {
    properties["outcome"] = {
        {"ending", boost::describe::enum_to_string(job.outcome->ending, "Lost")},
        {"exitCode", job.outcome->exit_code},
        {"signal", job.outcome->signal},
        {"message", job.outcome->message}};
  }
  json::object& map = properties["properties"].as_object();
  if (job.started_at) map["StartTimeUtc"] = to_iso8601(*job.started_at);
  if (job.ended_at) map["EndTimeUtc"] = to_iso8601(*job.ended_at);
}

void put_addresses(json::object& properties, const std::string& id, const Job& job,
                   const model::Workspace& workspace, const Addresses& addresses) {
  json::object& services = properties["services"].as_object();
  services["Tracking"] =
      service_json("Tracking", addresses.base_url + model::mlflow_path(workspace));
  services["Studio"] =
      service_json("Studio", fmt::format("{}/studio/runs/{}?wsid={}", addresses.base_url,
                                         job.key.name, id.substr(0, id.rfind("/jobs/"))));
  const std::string& compute = job.spec->compute;
  if (!compute.empty() && compute != "local") {
    properties["computeId"] = fmt::format("{}/computes/{}", model::arm_id(workspace), compute);
  }
}

}  // namespace

json::object to_json(const Job& job, const model::Workspace& workspace,
                     const Addresses& addresses) {
  const std::string id = fmt::format("{}/jobs/{}", model::arm_id(workspace), job.key.name);
  json::object resource = envelope(id, job.key.name, "/jobs");
  json::object properties = said_by_client(job);
  put_progress(properties, job);
  put_addresses(properties, id, job, workspace, addresses);
  resource["properties"] = std::move(properties);
  resource["systemData"] = system_data(job.created_at, job.modified_at, job.created_by);
  return resource;
}

json::object job_body(const Job& job) { return {{"properties", said_by_client(job)}}; }

}  // namespace berth::wire::arm
