// SPDX-License-Identifier: Apache-2.0
// What `az ml … show` prints: snake_case, keys in alphabetical order.
#include <fmt/format.h>

#include <array>

#include "base/text.h"
#include "model/assets/reference.h"
#include "wire/arm/resource.h"
#include "wire/yaml/asset.h"
#include "wire/yaml/job.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

namespace json = boost::json;
using model::AssetKind;

json::object sorted(const json::object& object) {
  std::map<std::string_view, const json::value*> members;
  for (const auto& [key, value] : object) members[key] = &value;
  json::object result;
  for (const auto& [key, value] : members) result[key] = *value;
  return result;
}

/// The value at a path of keys; null when any of them is missing.
const json::value& look_up(const json::object& object,
                           std::initializer_list<std::string_view> path) {
  static const json::value kNothing = nullptr;
  const json::object* step = &object;
  const json::value* found = &kNothing;
  for (const std::string_view key : path) {
    found = step == nullptr ? nullptr : step->if_contains(key);
    if (found == nullptr) return kNothing;
    step = found->if_object();
  }
  return *found;
}

void put(json::object& view, std::string_view key, const json::value& value) {
  if (!value.is_null()) view[key] = value;
}

void put_text(json::object& view, std::string_view key, const std::string& text) {
  if (!text.empty()) view[key] = text;
}

json::value creation_context(const json::object& resource) {
  const json::value& system = look_up(resource, {"systemData"});
  if (!system.is_object()) return nullptr;
  return sorted(with_snake_keys(system).as_object());
}

/// An ARM id of a version, the short way; anything else as it is.
std::string short_reference(AssetKind kind, const std::string& id) {
  if (!starts_with_ignoring_case(id, "/subscriptions/")) return id;
  const Result<model::AssetRef> reference = model::parse_asset_ref(kind, id);
  if (!reference || reference->version.empty()) return id;
  return fmt::format("azureml:{}:{}", reference->name, reference->version);
}

json::value input_view(const model::JobInput& input) {
  if (input.type == model::DataType::Literal) return json::value(input.value);
  const auto mode = input.mode.value_or(model::DataMode::ReadOnlyMount);
  json::object view;
  put_text(view, "description", input.description);
  view["mode"] = wire::arm::to_yaml(mode);
  view["path"] = input.uri;
  view["type"] = wire::arm::to_arm(input.type);
  return view;
}

json::value output_view(const model::Job& job, const std::string& name,
                        const model::JobOutput& output) {
  const auto mode = output.mode.value_or(model::DataMode::ReadWriteMount);
  json::object view;
  put_text(view, "description", output.description);
  view["mode"] = wire::arm::to_yaml(mode);
  put_text(view, "name", output.asset_name);
  view["path"] = model::output_uri(job, name);
  view["type"] = wire::arm::to_arm(output.type);
  put_text(view, "version", output.asset_version);
  return view;
}

/// {"distributionType": "PyTorch", …} -> {"type": "pytorch", …}.
json::value typed_view(const json::value& value, std::string_view type_key,
                       std::initializer_list<std::pair<std::string_view, std::string_view>> names) {
  if (!value.is_object()) return nullptr;
  json::object view = with_snake_keys(value).as_object();
  view.erase(to_snake_case(type_key));
  const json::value& type = look_up(value.get_object(), {type_key});
  if (type.is_string()) {
    std::string name(type.get_string());
    for (const auto& [arm, yaml] : names) {
      if (equals_ignoring_case(arm, name)) name = yaml;
    }
    view["type"] = name;
  }
  return sorted(view);
}

json::object services_view(const json::object& resource) {
  json::object view;
  const json::value& services = look_up(resource, {"properties", "services"});
  if (!services.is_object()) return view;
  for (const auto& [name, service] : services.get_object()) {
    json::value typed = typed_view(service, "jobServiceType",
                                   {{"JupyterLab", "jupyter_lab"},
                                    {"VSCode", "vs_code"},
                                    {"TensorBoard", "tensor_board"},
                                    {"SSH", "ssh"}});
    if (!typed.is_object()) continue;
    json::object shown;
    for (const auto& [key, value] : typed.get_object()) put(shown, key, value);
    view[name] = std::move(shown);
  }
  return sorted(view);
}

json::object resources_view(const model::JobResources& resources) {
  json::object view;
  put_text(view, "docker_args", resources.docker_args);
  view["instance_count"] = resources.instance_count;
  put_text(view, "instance_type", resources.instance_type);
  view["properties"] = resources.properties;
  put_text(view, "shm_size", resources.shm_size);
  return view;
}

json::value queue_view(const model::JobSpec& spec) {
  if (!spec.job_tier && spec.priority == model::JobSpec{}.priority) return nullptr;
  constexpr std::array<const char*, 3> kPriorities = {"low", "medium", "high"};
  json::object view;
  if (spec.job_tier) view["job_tier"] = to_lower(*spec.job_tier);
  if (spec.priority >= 1 && spec.priority <= 3) {
    view["priority"] = kPriorities[static_cast<std::size_t>(spec.priority) - 1];
  }
  return view;
}

std::string compute_view(const std::string& compute) {
  return compute.empty() || compute == "local" ? compute : "azureml:" + compute;
}

std::string code_view(const std::string& id) {
  return starts_with_ignoring_case(id, "/subscriptions/") ? "azureml:" + id : id;
}

json::object text_map_view(const std::map<std::string, std::string>& map) {
  json::object view;
  for (const auto& [key, value] : map) view[key] = value;
  return view;
}

void put_spec(json::object& view, const model::Job& job) {
  const model::JobSpec& spec = job.spec;
  const model::CommandWork& work = command_of(spec);
  put_text(view, "code", code_view(work.code_id));
  view["command"] = work.command;
  put_text(view, "compute", compute_view(spec.compute));
  put_text(view, "environment", short_reference(AssetKind::Environment, work.environment_id));
  view["environment_variables"] = text_map_view(work.environment_variables);
  view["experiment_name"] = spec.experiment_name;
  put_text(view, "parent_job_name", spec.parent_job_name);
  json::object inputs;
  for (const auto& [name, input] : spec.inputs) inputs[name] = input_view(input);
  view["inputs"] = std::move(inputs);
  json::object outputs;
  for (const auto& [name, output] : spec.outputs) outputs[name] = output_view(job, name, output);
  view["outputs"] = std::move(outputs);
  if (spec.timeout) view["limits"] = {{"timeout", spec.timeout->count()}};
  view["resources"] = resources_view(work.resources);
  put(view, "queue_settings", queue_view(spec));
  put(view, "distribution",
      typed_view(
          work.distribution, "distributionType",
          {{"PyTorch", "pytorch"}, {"Mpi", "mpi"}, {"TensorFlow", "tensorflow"}, {"Ray", "ray"}}));
  put(view, "identity",
      typed_view(
          spec.identity, "identityType",
          {{"UserIdentity", "user_identity"}, {"Managed", "managed"}, {"AMLToken", "aml_token"}}));
}

/// Environments print their conda file as what it says, not as one long line.
json::value conda_view(const json::value& text) {
  if (!text.is_string()) return nullptr;
  const Result<Node> parsed = parse(text.get_string(), "conda_file");
  if (!parsed || parsed->kind != Node::Kind::Mapping) return text;
  return to_json(*parsed);
}

void put_environment(json::object& view, const json::object& properties) {
  put(view, "image", look_up(properties, {"image"}));
  put(view, "conda_file", conda_view(look_up(properties, {"condaFile"})));
  if (look_up(properties, {"build"}).is_object()) {
    view["build"] = {{"dockerfile_path", look_up(properties, {"build", "dockerfilePath"})},
                     {"path", look_up(properties, {"build", "contextUri"})}};
  }
  const json::value& config = look_up(properties, {"inferenceConfig"});
  if (config.is_object()) view["inference_config"] = with_snake_keys(config);
  const json::value& system = look_up(properties, {"osType"});
  if (system.is_string()) view["os_type"] = to_lower(system.get_string());
}

/// The keys of its file; name, version, tags and description are those of the asset.
void put_component(json::object& view, const json::value& spec) {
  if (!spec.is_object()) return;
  for (const auto& [key, member] : spec.get_object()) {
    const bool is_told = view.contains(key) || key == "tags" || key == "description";
    if (!is_told && !key.starts_with('_')) view[key] = member;
  }
}

/// {"sklearn": {"data": {…}}} is {"sklearn": {…}} in YAML; none is nothing.
json::value flavors_view(const json::value& flavors) {
  if (!flavors.is_object() || flavors.get_object().empty()) return nullptr;
  json::object view;
  for (const auto& [name, flavor] : flavors.get_object()) {
    const json::object* object = flavor.if_object();
    const json::value* data = object == nullptr ? nullptr : object->if_contains("data");
    view[name] = data == nullptr ? flavor : *data;
  }
  return view;
}

void put_body(AssetKind kind, json::object& view, const json::object& properties) {
  switch (kind) {
    case AssetKind::Code: put(view, "path", look_up(properties, {"codeUri"})); break;
    case AssetKind::Data:
      put(view, "path", look_up(properties, {"dataUri"}));
      put(view, "type", look_up(properties, {"dataType"}));
      break;
    case AssetKind::Environment: put_environment(view, properties); break;
    case AssetKind::Model:
      put(view, "path", look_up(properties, {"modelUri"}));
      put(view, "type", look_up(properties, {"modelType"}));
      put(view, "flavors", flavors_view(look_up(properties, {"flavors"})));
      put(view, "job_name", look_up(properties, {"jobName"}));
      put(view, "stage", look_up(properties, {"stage"}));
      put(view, "digest", look_up(properties, {"digest"}));
      break;
    case AssetKind::Component: put_component(view, look_up(properties, {"componentSpec"})); break;
  }
}

/// The segment after `label` in an ARM id.
std::string id_segment(const json::value& id, std::string_view label) {
  if (!id.is_string()) return {};
  const auto segments = split(id.get_string(), '/');
  for (std::size_t i = 0; i + 1 < segments.size(); ++i) {
    if (equals_ignoring_case(segments[i], label)) return std::string(segments[i + 1]);
  }
  return {};
}

/// A version has /versions/<v> in its id; a container has not, and its latest version is shown.
void put_name(AssetKind kind, json::object& view, const json::object& resource) {
  const json::value& id = look_up(resource, {"id"});
  put_text(view, "name", id_segment(id, model::to_collection(kind)));
  const std::string version = id_segment(id, "versions");
  if (version.empty()) {
    put(view, "latest_version", look_up(resource, {"properties", "latestVersion"}));
  } else {
    view["version"] = version;
  }
  put_text(view, "resourceGroup", id_segment(id, "resourceGroups"));
}

json::value or_empty_object(const json::value& value) {
  return value.is_object() ? value : json::value(json::object());
}

}  // namespace

json::object job_view(const model::Job& job, const model::Workspace& workspace,
                      const json::object& resource) {
  json::object view;
  put_spec(view, job);
  put(view, "creation_context", creation_context(resource));
  put_text(view, "description", job.description);
  view["display_name"] = job.display_name.empty() ? job.key.name : job.display_name;
  if (job.error) view["error"] = {{"code", job.error->code}, {"message", job.error->message}};
  put(view, "id", look_up(resource, {"id"}));
  view["name"] = job.key.name;
  view["parameters"] = json::object();
  view["properties"] = or_empty_object(look_up(resource, {"properties", "properties"}));
  view["resourceGroup"] = workspace.resource_group;
  view["services"] = services_view(resource);
  view["status"] = boost::describe::enum_to_string(job.status, "Unknown");
  view["tags"] = text_map_view(job.tags);
  view["type"] = "command";
  if (!job.warnings.empty()) view["warnings"] = json::value_from(job.warnings);
  return sorted(view);
}

json::object asset_view(AssetKind kind, const json::object& resource) {
  json::object view;
  put(view, "creation_context", creation_context(resource));
  put(view, "id", look_up(resource, {"id"}));
  put_name(kind, view, resource);
  const json::value& properties = look_up(resource, {"properties"});
  if (!properties.is_object()) return sorted(view);
  put_body(kind, view, properties.get_object());
  const json::value& description = look_up(resource, {"properties", "description"});
  if (description.is_string() && !description.get_string().empty()) {
    view["description"] = description;
  }
  view["properties"] = or_empty_object(look_up(resource, {"properties", "properties"}));
  view["tags"] = or_empty_object(look_up(resource, {"properties", "tags"}));
  return sorted(view);
}

json::object workspace_view(const json::object& resource) {
  json::object view;
  put(view, "id", look_up(resource, {"id"}));
  put(view, "name", look_up(resource, {"name"}));
  put(view, "location", look_up(resource, {"location"}));
  view["tags"] = or_empty_object(look_up(resource, {"tags"}));
  for (const auto& [key, arm] :
       {std::pair("description", "description"), std::pair("discovery_url", "discoveryUrl"),
        std::pair("display_name", "friendlyName"), std::pair("hbi_workspace", "hbiWorkspace"),
        std::pair("key_vault", "keyVault"), std::pair("mlflow_tracking_uri", "mlFlowTrackingUri"),
        std::pair("job_access", "jobAccess"),
        std::pair("public_network_access", "publicNetworkAccess"),
        std::pair("retention", "berthRetention"), std::pair("storage_account", "storageAccount"),
        std::pair("workspace_id", "workspaceId")}) {
    put(view, key, look_up(resource, {"properties", arm}));
  }
  const std::string group = id_segment(look_up(resource, {"id"}), "resourceGroups");
  put_text(view, "resourceGroup", group);
  put_text(view, "resource_group", group);
  put(view, "creation_context", creation_context(resource));
  return sorted(view);
}

}  // namespace berth::wire::yaml
