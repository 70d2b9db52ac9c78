// SPDX-License-Identifier: Apache-2.0
// Jobs as clients send them, and as our own clients read them back.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "base/text.h"
#include "model/array.h"
#include "model/assets/reference.h"
#include "wire/arm/envelope.h"
#include "wire/arm/field.h"
#include "wire/arm/resource.h"

namespace berth::wire::arm {
namespace {

using model::Job;
using model::JobSpec;

constexpr std::array<std::string_view, 5> kJobTypes = {"Command", "Sweep", "Pipeline", "AutoML",
                                                       "Spark"};
/// Written by us into every answer, so not the user's when they come back.
constexpr std::array<std::string_view, 2> kOurProperties = {"StartTimeUtc", "EndTimeUtc"};
constexpr std::array<std::string_view, 3> kOurServices = {"Tracking", "Studio", "Local"};

/// What the Python client adds to a job on 'local', which it takes for its own machine. It adds
/// them also when it sends back a job that it has read: the same job must stay the same.
constexpr const char* kLocalRunVariable = "AZUREML_COMPUTE_USE_COMMON_RUNTIME";
constexpr const char* kLocalRunProperty = "IsLocal";

bool contains(std::span<const std::string_view> names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

/// What we show as a pipeline because nothing else of ARM's has children.
bool says_array(const Fields& from) {
  const json::value* properties = from.find("properties");
  return properties != nullptr && properties->is_object() &&
         properties->get_object().contains(model::kArrayProperty);
}

Status check_type(const Fields& from) {
  const std::string type = TRY(from.required_text("jobType"));
  for (const std::string_view known : kJobTypes) {
    if (!equals_ignoring_case(known, type)) continue;
    if (known == "Command" || (known == "Pipeline" && says_array(from))) return Done{};
    return fail(Code::NotSupported, fmt::format("{} jobs are not supported yet", to_lower(known)),
                from.path_of("jobType"));
  }
  return from.wrong("jobType", fmt::format("is '{}'; known are {}", to_valid_utf8(type),
                                           fmt::join(kJobTypes, ", ")));
}

Result<model::DataType> read_type(const Fields& from, std::string_view key) {
  const Result<model::DataType> type = data_type_from(TRY(from.required_text(key)));
  if (!type) return at(type.error(), from.path_of(key));
  return *type;
}

Result<std::optional<model::DataMode>> read_mode(const Fields& from,
                                                 Status (*check)(model::DataMode)) {
  const std::string text = TRY(from.text("mode"));
  if (text.empty()) return std::optional<model::DataMode>();
  const Result<model::DataMode> mode = data_mode_from(text);
  if (!mode) return at(mode.error(), from.path_of("mode"));
  if (const Status checked = check(*mode); !checked)
    return at(checked.error(), from.path_of("mode"));
  return std::optional<model::DataMode>(*mode);
}

Result<model::JobInput> read_input(const Fields& from) {
  model::JobInput input{.type = TRY(read_type(from, "jobInputType"))};
  if (input.type == model::DataType::Literal) {
    if (from.find("value") == nullptr) return from.wrong("value", "is missing");
    input.value = TRY(from.text("value"));
  } else {
    input.uri = TRY(from.required_text("uri"));
    input.mode = TRY(read_mode(from, check_input_mode));
  }
  input.description = TRY(from.text("description"));
  return input;
}

Result<model::JobOutput> read_output(const Fields& from) {
  model::JobOutput output{.type = TRY(read_type(from, "jobOutputType"))};
  if (output.type == model::DataType::Literal) {
    return from.wrong("jobOutputType", "cannot be 'literal'");
  }
  output.uri = TRY(from.text("uri"));
  output.mode = TRY(read_mode(from, check_output_mode));
  output.description = TRY(from.text("description"));
  output.asset_name = TRY(from.text("assetName"));
  output.asset_version = TRY(from.text("assetVersion"));
  return output;
}

template <typename T>
Result<std::map<std::string, T>> read_map(const Fields& from, std::string_view key,
                                          Result<T> (*read)(const Fields&)) {
  std::map<std::string, T> result;
  const auto members = TRY(from.fields(key));
  if (!members) return result;
  for (const auto& [name, value] : members->object()) {
    const Fields element = TRY(Fields::of(value, members->path_of(name)));
    result[std::string(name)] = TRY(read(element));
  }
  return result;
}

Result<int> read_count(const Fields& from, std::string_view key, int fallback) {
  const std::int64_t number = TRY(from.integer(key, fallback));
  if (number < 1 || number > std::numeric_limits<int>::max()) {
    return from.wrong(key, "must be 1 or more");
  }
  return static_cast<int>(number);
}

Result<model::JobResources> read_resources(const Fields& from) {
  model::JobResources resources;
  resources.instance_count = TRY(read_count(from, "instanceCount", 1));
  resources.instance_type = TRY(from.text("instanceType"));
  resources.shm_size = TRY(from.text("shmSize"));
  resources.docker_args = TRY(from.text("dockerArgs"));
  resources.properties = TRY(from.any_object("properties"));
  resources.properties.erase(kLocalRunProperty);
  return resources;
}

Result<std::optional<std::chrono::seconds>> read_timeout(const Fields& from) {
  const std::string text = TRY(from.text("timeout"));
  if (text.empty()) return std::optional<std::chrono::seconds>();
  const Result<std::chrono::seconds> timeout = seconds_from_iso8601(text);
  if (!timeout) return from.wrong("timeout", timeout.error().message);
  if (timeout->count() <= 0) return from.wrong("timeout", "must be longer than zero");
  return std::optional<std::chrono::seconds>(*timeout);
}

Status read_queue(const Fields& from, JobSpec& spec) {
  spec.priority = TRY(read_count(from, "priority", spec.priority));
  if (spec.priority > 3) return from.wrong("priority", "must be 1 (low), 2 (medium) or 3 (high)");
  const std::string tier = TRY(from.text("jobTier"));
  if (tier.empty()) return Done{};
  for (const std::string_view known : {"Null", "Spot", "Basic", "Standard", "Premium"}) {
    if (equals_ignoring_case(known, tier)) spec.job_tier = known;
  }
  if (!spec.job_tier) {
    return from.wrong("jobTier", "must be Null, Spot, Basic, Standard or Premium");
  }
  return Done{};
}

/// An object we pass on; null when absent.
Result<json::value> read_any(const Fields& from, std::string_view key) {
  if (from.find(key) == nullptr) return json::value(nullptr);
  return json::value(TRY(from.any_object(key)));
}

Result<json::object> read_services(const Fields& from) {
  json::object services;
  const auto members = TRY(from.fields("services"));
  if (!members) return services;
  for (const auto& [name, value] : members->object()) {
    if (contains(kOurServices, name)) continue;
    TRY(Fields::of(value, members->path_of(name)));
    services[name] = value;
  }
  return services;
}

Result<std::string> read_compute(const Fields& from) {
  const std::string text = TRY(from.text("computeId"));
  if (text.empty()) return text;
  const Result<std::string> name = model::parse_compute_ref(text);
  if (!name) return at(name.error(), from.path_of("computeId"));
  return *name;
}

Status read_what_runs(const Fields& from, JobSpec& spec) {
  model::CommandWork& work = command_of(spec);
  work.command = TRY(from.required_text("command"));
  work.code_id = TRY(from.text("codeId"));
  work.environment_id = TRY(from.text("environmentId"));
  spec.component_id = TRY(from.text("componentId"));
  spec.compute = TRY(read_compute(from));
  spec.parent_job_name = TRY(from.text("parentJobName"));
  const std::string experiment = TRY(from.text("experimentName"));
  if (!experiment.empty()) spec.experiment_name = experiment;
  work.environment_variables = TRY(from.text_map("environmentVariables"));
  work.environment_variables.erase(kLocalRunVariable);
  spec.inputs = TRY(read_map<model::JobInput>(from, "inputs", read_input));
  spec.outputs = TRY(read_map<model::JobOutput>(from, "outputs", read_output));
  return Done{};
}

Status read_how_it_runs(const Fields& from, JobSpec& spec) {
  if (const auto limits = TRY(from.fields("limits"))) spec.timeout = TRY(read_timeout(*limits));
  if (const auto resources = TRY(from.fields("resources"))) {
    command_of(spec).resources = TRY(read_resources(*resources));
  }
  if (const auto queue = TRY(from.fields("queueSettings"))) TRY(read_queue(*queue, spec));
  command_of(spec).distribution = TRY(read_any(from, "distribution"));
  spec.identity = TRY(read_any(from, "identity"));
  spec.notification = TRY(read_any(from, "notificationSetting"));
  spec.services = TRY(read_services(from));
  return Done{};
}

Result<Fields> properties_of(const json::value& body) {
  const Fields root = TRY(Fields::of(body, ""));
  const auto properties = TRY(root.fields("properties"));
  if (!properties) return root.wrong("properties", "is missing");
  return *properties;
}

template <typename T>
Result<T> read_enum(const Fields& from, std::string_view key, T fallback) {
  const std::string text = TRY(from.text(key));
  T value = fallback;
  boost::describe::enum_from_string(text.c_str(), value);  // A newer server's word: the fallback.
  return value;
}

Result<std::optional<model::Outcome>> read_outcome(const Fields& from) {
  const auto fields = TRY(from.fields("outcome"));
  if (!fields) return std::optional<model::Outcome>();
  model::Outcome outcome;
  outcome.ending = TRY(read_enum(*fields, "ending", model::Ending::Lost));
  outcome.exit_code = static_cast<int>(TRY(fields->integer("exitCode", 0)));
  outcome.signal = static_cast<int>(TRY(fields->integer("signal", 0)));
  outcome.message = TRY(fields->text("message"));
  return std::optional<model::Outcome>(outcome);
}

Result<std::vector<std::string>> read_warnings(const Fields& from) {
  std::vector<std::string> warnings;
  const json::value* list = from.find("warnings");
  if (list == nullptr) return warnings;
  if (!list->is_array()) return from.wrong("warnings", "must be a list");
  for (const json::value& warning : list->get_array()) {
    if (!warning.is_string()) return from.wrong("warnings", "must be a list of text");
    warnings.emplace_back(warning.get_string());
  }
  return warnings;
}

Status read_progress(const Fields& from, Job& job) {
  job.status = TRY(read_enum(from, "status", model::JobStatus::Unknown));
  job.attempt = static_cast<int>(TRY(from.integer("attempt", 0)));
  if (std::string node = TRY(from.text("node")); !node.empty()) {
    job.holding = model::Members{{{.node = {std::move(node)}, .status = job.status}}};
  }
  job.cancel_requested = TRY(from.boolean("cancelRequested", false));
  if (const auto error = TRY(from.fields("error"))) {
    const std::string code = TRY(error->text("code"));
    std::string message = TRY(error->text("message"));
    job.error = model::JobError{.code = code, .message = std::move(message)};
  }
  job.warnings = TRY(read_warnings(from));
  job.outcome = TRY(read_outcome(from));
  if (const auto map = TRY(from.fields("properties"))) {
    job.started_at = TRY(time_field(*map, "StartTimeUtc"));
    job.ended_at = TRY(time_field(*map, "EndTimeUtc"));
  }
  return Done{};
}

}  // namespace

Result<Job> job_from_json(const json::value& body) {
  const Fields from = TRY(properties_of(body));
  Job job;
  TRY(check_type(from));
  TRY(read_what_runs(from, job.spec.edit()));
  TRY(read_how_it_runs(from, job.spec.edit()));
  job.display_name = TRY(from.text("displayName"));
  job.description = TRY(from.text("description"));
  job.tags = TRY(from.text_map("tags"));
  job.properties = TRY(from.text_map("properties"));
  for (const std::string_view name : kOurProperties) job.properties.erase(std::string(name));
  if (const auto secrets = job.properties.extract(model::kSecretsProperty)) {
    Result<model::SecretVariables> read = model::secret_variables_from(secrets.mapped());
    if (!read) return fail(read.error());
    command_of(job.spec.edit()).secrets = *std::move(read);
  }
  if (const auto array = job.properties.extract(model::kArrayProperty)) {
    job.spec.edit().work = TRY(model::array_from(array.mapped(), command_of(job.spec)));
  }
  job.is_archived = TRY(from.boolean("isArchived", false));
  return job;
}

Result<Job> job_from_resource(const json::value& resource) {
  Job job = TRY(job_from_json(resource));
  const Fields root = TRY(Fields::of(resource, ""));
  job.key.name = TRY(root.text("name"));
  const Fields properties = TRY(properties_of(resource));
  TRY(read_progress(properties, job));
  if (const auto system = TRY(root.fields("systemData"))) {
    job.created_by = TRY(system->text("createdBy"));
    job.created_at = TRY(time_field(*system, "createdAt")).value_or(WallTime{});
    job.modified_at = TRY(time_field(*system, "lastModifiedAt")).value_or(WallTime{});
  }
  return job;
}

}  // namespace berth::wire::arm
