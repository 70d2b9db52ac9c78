// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/launch.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "base/quantity.h"
#include "base/text.h"
#include "core/distribution.h"
#include "core/rules/docker_limits.h"
#include "core/rules/expression.h"
#include "model/compute_kind.h"
#include "model/site_kind.h"
#include "server/keys/secrets.h"

namespace berth::server {
namespace {

using model::DataMode;
using model::DataType;
using model::Job;
using wire::node::Launch;

/// Long enough for a job of a month: a node that was away still delivers.
constexpr auto kGrantLifetime = std::chrono::days(30);

/// Where an attempt, or a node's share of it, is going to run.
struct Whereabouts {
  std::string root{};  ///< The attempt's, with a slash at its end.
  std::string site{};
  int rank = 0;                       ///< Of the node, among the job's.
  const model::Node* node = nullptr;  ///< None: an engine runs it.
};

class LaunchBuilder {
 public:
  LaunchBuilder(const LaunchContext& context, const Job& job, Whereabouts where)
      : context_(context), job_(job), where_(std::move(where)) {
    launch_.attempt = {job.key, job.attempt, job.fence};
  }

  Result<Launch> build(const model::Workspace& workspace) {
    launch_.directories = {"wd", "wd/outputs", "wd/logs"};
    TRY(add_code());
    if (was_taken_back()) restore_outputs();
    for (const auto& [name, input] : job_.spec->inputs) TRY(add_input(name, input));
    for (const auto& [name, output] : job_.spec->outputs) TRY(add_output(name, output));
    add_artifacts("outputs");
    add_artifacts("logs");
    for (const RankLog& log : delivered_logs(job_, where_.rank)) add_log(log);
    launch_.command =
        TRY(core::expand(command_of(job_.spec).command, job_.spec,
                         [this](std::string_view path) { return values_[std::string(path)]; }));
    launch_.timeout = job_.spec->timeout;
    const core::DockerLimits asked = TRY(core::docker_limits(command_of(job_.spec).resources));
    launch_.memory_limit_bytes = memory_limit(asked.memory);
    launch_.process_limit = asked.processes;
    if (where_.node != nullptr && where_.node->cores > 0) launch_.cpu_limit = where_.node->cores;
    launch_.environment = environment(workspace, TRY(context_.catalogue.store.experiment_of(job_)));
    TRY(add_secrets());
    if (context_.job_users != nullptr) {
      launch_.run_as = TRY(context_.job_users->unix_user_of(job_.created_by));
    }
    if (const auto* service = model::service_of(job_.spec)) launch_.service = *service;
    set_ranks(job_, where_.rank, launch_);
    return std::move(launch_);
  }

 private:
  std::string container_url(const std::string& container) const {
    return fmt::format("{}/blob/{}/{}", context_.base_url, job_.key.workspace.text, container);
  }

  std::string grant(const BlobPlace& place, const char* permissions) const {
    return context_.signer.sign({.workspace = job_.key.workspace,
                                 .container = place.container,
                                 .prefix = place.path,
                                 .permissions = permissions,
                                 .expires_at = context_.now + kGrantLifetime,
                                 .job = job_.key.name,
                                 .attempt = job_.attempt,
                                 .fence = job_.fence});
  }

  wire::node::Fetch fetch_of(const BlobPlace& place, std::string destination,
                             std::string what) const {
    wire::node::Fetch fetch{.destination = std::move(destination), .what = std::move(what)};
    fetch.is_folder = place.is_folder;
    fetch.url = container_url(place.container);
    if (place.is_folder) {
      fetch.prefix = place.path;
    } else {
      fetch.url += "/" + percent_encode(place.path, true);
    }
    fetch.url += "?" + grant(place, "rl");
    return fetch;
  }

  /// An earlier attempt was interrupted through no fault of the job's, and may have left outputs.
  bool was_taken_back() const { return job_.requeues > 0; }

  BlobPlace artifacts(const std::string& folder) const {
    return {"azureml", model::artifact_prefix(job_.key) + folder + "/", true};
  }

  void restore_outputs() {
    launch_.fetches.push_back(fetch_of(artifacts("outputs"), "wd/outputs", "earlier outputs"));
  }

  Status add_code() {
    if (command_of(job_.spec).code_id.empty()) return Done{};
    const BlobPlace code =
        TRY(find_code(context_.catalogue, job_.key.workspace, command_of(job_.spec).code_id));
    TRY(check_code());
    launch_.fetches.push_back(fetch_of(code, "wd", "code"));
    return Done{};
  }

  /// What runs is what was submitted, whoever may write where it lies. Jobs from before there was a
  /// digest have none.
  Status check_code() const {
    if (job_.code_digest.empty()) return Done{};
    const std::string now =
        TRY(digest_of_code(context_.catalogue, job_.key.workspace, command_of(job_.spec).code_id));
    if (now == job_.code_digest) return Done{};
    return fail(Code::Conflict, "its code was changed after it was submitted");
  }

  Status add_input(const std::string& name, const model::JobInput& input) {
    std::string& value = values_["inputs." + name];
    if (input.type == DataType::Literal) {
      value = input.value;
      return Done{};
    }
    if (input.mode == DataMode::Direct) {
      value = input.uri;
      return Done{};
    }
    const std::string what = fmt::format("input '{}'", name);
    const Place place = TRY(find_input(context_.catalogue, job_.key.workspace, input));
    std::string destination = "inputs/" + name;
    if (const auto* web = std::get_if<model::WebAddress>(&place)) {
      destination += "/" + file_name_of(web->url);
      launch_.fetches.push_back({.url = web->url, .destination = destination, .what = what});
    } else {
      const BlobPlace& blob = std::get<BlobPlace>(place);
      if (!blob.is_folder) destination += "/" + blob.path.substr(blob.path.rfind('/') + 1);
      launch_.fetches.push_back(fetch_of(blob, destination, what));
    }
    value = where_.root + destination;
    return Done{};
  }

  /// The last segment of a web address, as a file name that cannot lead elsewhere.
  static std::string file_name_of(std::string_view url) {
    url = url.substr(0, url.find_first_of("?#"));
    const Result<std::string> name = percent_decode(url.substr(url.rfind('/') + 1));
    return name && is_resource_name(*name) ? *name : "data";
  }

  Status add_output(const std::string& name, const model::JobOutput& output) {
    const BlobPlace place = TRY(find_output(job_, name));
    const std::string folder = "named-outputs/" + name;
    launch_.directories.push_back(folder);
    const bool is_sent_back =
        place.is_folder || where_.rank == 0;  // One file has one author: the head.
    std::string source = folder;
    if (!place.is_folder) source += "/" + place.path.substr(place.path.rfind('/') + 1);
    values_["outputs." + name] =
        output.mode == DataMode::Direct ? model::output_uri(job_, name) : where_.root + source;
    if (!is_sent_back) return Done{};
    launch_.deliveries.push_back(
        {.source = source,
         .container_url = container_url(place.container) + "?" + grant(place, "rcwl"),
         .prefix = place.path,
         .is_folder = place.is_folder,
         .what = fmt::format("output '{}'", name)});
    return Done{};
  }

  void add_artifacts(const std::string& folder) {
    const BlobPlace place = artifacts(folder);
    launch_.deliveries.push_back(
        {.source = "wd/" + folder,
         .container_url = container_url(place.container) + "?" + grant(place, "rcwl"),
         .prefix = place.path,
         .only_changed = folder == "outputs" && was_taken_back(),
         .what = folder + "/"});
  }

  void add_log(const RankLog& log) {
    const BlobPlace place{"azureml", model::artifact_prefix(job_.key) + log.name, false};
    launch_.deliveries.push_back(
        {.source = log.source,
         .container_url = container_url(place.container) + "?" + grant(place, "rcwl"),
         .prefix = place.path,
         .is_folder = false,
         .what = fmt::format("log '{}'", log.name)});
  }

  /// The smaller of what the job asks for and what its node has.
  std::optional<std::uint64_t> memory_limit(std::optional<std::uint64_t> asked) const {
    if (where_.node == nullptr || where_.node->memory_mib <= 0) return asked;
    const auto there =
        times(static_cast<std::uint64_t>(where_.node->memory_mib), std::uint64_t{1} << 20);
    if (!there) return asked;
    return asked ? std::min(*asked, *there) : *there;
  }

  std::map<std::string, std::string> environment(const model::Workspace& workspace,
                                                 const std::string& experiment) {
    // What jobs log stays here; who wants MLflow to tell its makers says so.
    std::map<std::string, std::string> variables = {{"MLFLOW_DISABLE_TELEMETRY", "true"}};
    const auto& sites = context_.catalogue.state.sites;
    if (const auto site = sites.find(where_.site); site != sites.end()) {
      for (const auto& [name, value] : site->second.job_environment) variables[name] = value;
    }
    for (const auto& [name, value] : command_of(job_.spec).environment_variables) {
      if (!core::is_reserved_variable(name)) variables[name] = value;
    }
    const std::string token = context_.signer.job_token(job_.key, job_.attempt, job_.fence);
    const std::string& url = context_.base_url;
    const std::pair<const char*, std::string> injected[] = {
        {"AZUREML_RUN_ID", job_.key.name},
        {"AZUREML_RUN_TOKEN", token},
        {"AZUREML_RUN_TOKEN_EXPIRY",
         std::to_string(std::chrono::duration_cast<std::chrono::seconds>(
                            (context_.now + kGrantLifetime).time_since_epoch())
                            .count())},
        {"AZUREML_ARM_SUBSCRIPTION", workspace.subscription},
        {"AZUREML_ARM_RESOURCEGROUP", workspace.resource_group},
        {"AZUREML_ARM_WORKSPACE_NAME", workspace.name},
        {"AZUREML_ARM_PROJECT_NAME", job_.spec->experiment_name},
        {"AZUREML_SERVICE_ENDPOINT", url},
        {"AZUREML_DISCOVERY_SERVICE_ENDPOINT", url + "/discovery"},
        {"AZUREML_WORKSPACE_ID", workspace.id.text},
        {"AZUREML_EXPERIMENT_ID", experiment},
        {"AZUREML_CR_NODE_RANK", std::to_string(where_.rank)},
        {"AZUREML_PROCESS_NAME", "rank_0"},
        {"AZ_BATCH_HOST_LIST", "127.0.0.1"},
        {"AZ_BATCH_MASTER_NODE", "127.0.0.1:6000"},
        {"AZ_BATCHAI_JOB_MASTER_NODE_IP", "127.0.0.1"},
        {"AZ_BATCHAI_MPI_MASTER_NODE", "127.0.0.1"},
        {"AZ_BATCHAI_JOB_WORK_DIR", where_.root + "wd"},
        {"MLFLOW_TRACKING_URI", url + model::mlflow_path(workspace)},
        {"MLFLOW_TRACKING_TOKEN", token},
        {"MLFLOW_RUN_ID", job_.key.name},
        {"MLFLOW_EXPERIMENT_NAME", job_.spec->experiment_name},
        {"MLFLOW_EXPERIMENT_ID", experiment},
        {"BERTH_ATTEMPT_NUMBER", std::to_string(job_.attempt)},
    };
    for (const auto& [name, value] : injected) variables[name] = value;
    for (const auto& [path, value] : values_) variables[variable_of(path)] = value;
    assign_gpus(variables);
    return variables;
  }

  /// A node that dials in again is told of what it runs already, and has had its secrets: they may
  /// be gone by now.
  Status add_secrets() {
    auto opened = open_secrets(context_.catalogue.store, context_.signer, job_);
    const model::Member* const member =
        where_.node == nullptr ? nullptr : model::find_member(job_, where_.node->id);
    const bool has_begun = member != nullptr && (member->status == model::JobStatus::Running ||
                                                 member->status == model::JobStatus::Finalizing);
    if (!opened && has_begun) return Done{};
    launch_.secrets = TRY(std::move(opened));
    return Done{};
  }

  /// Where we number the devices of a machine that several nodes share, each sees those that are
  /// its own, and one without any sees none. Elsewhere the machine, or the engine it came from, has
  /// its own way.
  void assign_gpus(std::map<std::string, std::string>& variables) const {
    if (where_.node == nullptr) return;
    const core::State& state = context_.catalogue.state;
    const auto site = state.sites.find(where_.site);
    if (site == state.sites.end() || !model::traits_of(site->second).numbers_devices) return;
    if (!model::traits_of(core::compute_of(state, where_.node->target)).takes_room) return;
    variables["CUDA_VISIBLE_DEVICES"] = fmt::format("{}", fmt::join(where_.node->gpus, ","));
  }

  /// "inputs.rows" -> AZURE_ML_INPUT_rows.
  static std::string variable_of(std::string_view path) {
    const bool is_input = path.starts_with("inputs.");
    return (is_input ? "AZURE_ML_INPUT_" : "AZURE_ML_OUTPUT_") +
           std::string(path.substr(path.find('.') + 1));
  }

  const LaunchContext& context_;
  const Job& job_;
  const Whereabouts where_;
  Launch launch_;
  std::map<std::string, std::string> values_;  ///< By expression path: "inputs.x", "outputs.y".
};

}  // namespace

Result<Launch> make_launch(const LaunchContext& context, const Job& job, const model::Node& node,
                           const model::Workspace& workspace) {
  const wire::node::AttemptRef attempt{job.key, job.attempt, job.fence};
  return LaunchBuilder(context, job,
                       {.root = node.work_root + "/" + wire::node::attempt_directory(attempt) + "/",
                        .site = node.site,
                        .rank = rank_of(job, node.id),
                        .node = &node})
      .build(workspace);
}

Result<target::AttemptSpec> make_spec(const LaunchContext& context, const Job& job,
                                      const std::string& root, const model::Compute& compute,
                                      const model::Workspace& workspace) {
  if (core::waits_for_peers(job.spec)) {
    return fail(
        Code::NotSupported,
        fmt::format("'{}' runs one process of a job, and this one asks for several", compute.name));
  }
  Launch launch =
      TRY(LaunchBuilder(context, job, {.root = root + "/", .site = compute.site}).build(workspace));
  target::AttemptSpec spec{.ref = launch.attempt};
  if (launch.memory_limit_bytes) {
    spec.resources.memory_mib = static_cast<std::int64_t>(*launch.memory_limit_bytes >> 20);
  }
  spec.plan = std::move(static_cast<model::LaunchPlan&>(launch));
  return spec;
}

}  // namespace berth::server
