// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/submit.h"

#include <algorithm>
#include <filesystem>

#include "base/digest.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/transfer/git.h"
#include "cli/transfer/upload.h"
#include "model/assets/reference_scope.h"
#include "wire/arm/resource.h"

namespace berth::cli {
namespace {

/// An upload's failure with the place in the file that asked for it.
template <typename T>
Result<T> placed(Result<T> uploaded, const wire::yaml::LocalPath& path) {
  if (uploaded) return uploaded;
  Error error = uploaded.error();
  const std::string place = wire::yaml::to_string(path.mark);
  if (!place.empty()) error.message = fmt::format("{}: {}", place, error.message);
  return fail(std::move(error));
}

}  // namespace

Result<std::string> make_environment(Context& context, wire::yaml::EnvironmentSpec& spec) {
  model::Asset& asset = *spec.inline_;
  if (spec.build_context) {
    const std::string address =
        TRY(placed(upload_data(context, spec.build_context->path), *spec.build_context));
    asset.body["build"].as_object()["contextUri"] = address;
  }
  asset.kind = model::AssetKind::Environment;
  asset.name = "CliV2AnonymousEnvironment";
  asset.version = to_hex(sha256(json::serialize(asset.body))).substr(0, 32);
  asset.is_anonymous = true;
  const json::object resource = wire::arm::to_json(asset, context.client.workspace());
  const std::string path = context.client.workspace_path(
      fmt::format("/environments/{}/versions/{}", asset.name, asset.version));
  const json::object made =
      TRY(context.client.put(path, {{"properties", resource.at("properties")}}));
  const json::value* id = made.if_contains("id");
  return id != nullptr && id->is_string() ? std::string(id->get_string()) : path;
}

Result<Submitted> read_job(const json::object& resource) {
  return Submitted{.job = TRY(wire::arm::job_from_resource(resource)), .resource = resource};
}

Result<Submitted> get_job(Client& client, const std::string& name) {
  return read_job(TRY(client.get(client.workspace_path("/jobs/" + name))));
}

json::object view_of(const Submitted& submitted, const model::Workspace& workspace) {
  return wire::yaml::job_view(submitted.job, workspace, submitted.resource);
}

std::string web_view(const Submitted& submitted) {
  const json::value* found = &submitted.resource.at("properties");
  for (const char* key : {"services", "Studio", "endpoint"}) {
    found = found->is_object() ? found->get_object().if_contains(key) : nullptr;
    if (found == nullptr) return "";
  }
  return found->is_string() ? std::string(found->get_string()) : "";
}

std::string experiment_of(const std::string& directory) {
  std::string name = std::filesystem::path(directory).filename().string();
  for (char& c : name) {
    const bool good = is_resource_name(std::string("a") + c);
    if (!good) c = '_';
  }
  return is_resource_name(name) ? name : "Default";
}

Status complete(Context& context, wire::yaml::JobFile& file, const std::string& source,
                const SnapshotLimits& code_limits) {
  model::Job& job = file.job;
  for (const std::string& warning : job.warnings) context.console.warning(warning);
  job.warnings.clear();
  if (job.key.name.empty()) {
    job.key.name = random_job_name();
    // Only then: a job that is submitted again under its own name must stay what it is.
    if (job.display_name.empty()) job.display_name = random_display_name();
  }
  if (!is_resource_name(job.key.name)) {
    return fail(Code::InvalidArgument,
                fmt::format("'{}' cannot be the name of a job", job.key.name));
  }
  TRY(placed(model::check_workspace(context.client.workspace(), file.compute.path), file.compute));
  if (file.code_path) {
    command_of(job.spec.edit()).code_id =
        TRY(placed(upload_code(context, file.code_path->path, code_limits), *file.code_path));
  }
  for (const auto& [name, path] : file.input_paths) {
    job.spec.edit().inputs[name].uri = TRY(placed(upload_data(context, path.path), path));
  }
  if (file.environment.inline_) {
    command_of(job.spec.edit()).environment_id = TRY(make_environment(context, file.environment));
  }
  job.properties.merge(git_facts(source, context.place));
  return Done{};
}

Result<Submitted> submit(Context& context, const model::Job& job) {
  Submitted submitted = TRY(read_job(TRY(context.client.put(
      context.client.workspace_path("/jobs/" + job.key.name), wire::arm::job_body(job)))));
  for (const std::string& warning : submitted.job.warnings) context.console.warning(warning);
  return submitted;
}

void warn_of_news(const Console& console, const model::Job& before, const model::Job& now) {
  for (const std::string& warning : now.warnings) {
    const bool is_known = std::ranges::find(before.warnings, warning) != before.warnings.end();
    if (!is_known) console.warning(warning);
  }
}

int exit_status(const model::Job& job) {
  if (job.status == model::JobStatus::Completed) return 0;
  if (!job.outcome) return 1;
  const bool by_signal = job.outcome->ending == model::Ending::Signaled ||
                         job.outcome->ending == model::Ending::OutOfMemory;
  if (by_signal && job.outcome->signal > 0) return 128 + job.outcome->signal;
  const bool by_itself = job.outcome->ending == model::Ending::Exited;
  return by_itself && job.outcome->exit_code != 0 ? job.outcome->exit_code : 1;
}

std::string failure_of(const model::Job& job) {
  const std::string status = boost::describe::enum_to_string(job.status, "Unknown");
  if (job.error)
    return fmt::format("job '{}' {}: {}", job.key.name, to_lower(status), job.error->message);
  return fmt::format("job '{}' was {}", job.key.name, to_lower(status));
}

}  // namespace berth::cli
