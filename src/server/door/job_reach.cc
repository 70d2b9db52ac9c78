// SPDX-License-Identifier: Apache-2.0
#include "server/door/job_reach.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "model/assets/reference.h"
#include "model/datastore.h"
#include "server/assets/model_files.h"
#include "server/plane/ledger.h"
#include "server/plane/references.h"
#include "store/tracking_names.h"

namespace berth::server {
namespace {

using model::JobAccess;

constexpr std::string_view kArtifactContainer = "azureml";
constexpr std::string_view kScheme = "mlflow-artifacts:/";
constexpr std::size_t kMostVersionsRead = 1000;

/// The job whose token it is; nullptr: it is nobody's, or the workspace lets jobs do this.
const model::Job* held(const Call& call, Touch touch) {
  if (call.principal.kind != Principal::Kind::Job || call.workspace == nullptr) return nullptr;
  const JobAccess access = call.workspace->job_access;
  const bool is_free =
      access == JobAccess::Write || (access == JobAccess::Read && touch == Touch::Read);
  if (is_free) return nullptr;
  const auto& jobs = call.services.ledger.state().jobs;
  const auto found = jobs.find(call.principal.job);
  return found == jobs.end() ? nullptr : &found->second;  // The door has seen it there.
}

/// `needed` is what the workspace would have to let its jobs do.
tl::unexpected<Error> refuse(const Call& call, Touch needed, const std::string& what) {
  return fail(Code::Forbidden,
              fmt::format("the token of job '{}' does not reach {}: it reaches the job's own run, "
                          "its children, its inputs and outputs, and what it makes; 'berth "
                          "workspace update -n {} --job-access {}' lets jobs reach more",
                          call.principal.job.name, what, call.workspace->name,
                          needed == Touch::Read ? "read" : "write"));
}

store::Tracking& tracking_of(const Call& call) { return call.services.store.tracking(); }

// ---- Runs, experiments, logged models -----------------------------------------------------------

Result<bool> owns(const Call& call, const model::Job& job, const model::Run& run) {
  if (run.key == job.key || run.made_by == job.sequence) return true;
  if (!run.is_job) return false;
  return TRY(tracking_of(call).tag(run.key, store::kParentTag)) == job.key.name;
}

Result<bool> owns(const Call& call, const model::Job& job, const model::LoggedModel& model) {
  if (model.made_by == job.sequence) return true;
  if (model.source_run.empty()) return false;
  const auto run = TRY(tracking_of(call).run({model.workspace, model.source_run}));
  return run && TRY(owns(call, job, *run));
}

Result<std::string> experiment_of(const Call& call, const model::Job& job) {
  const auto run = TRY(tracking_of(call).run(job.key));
  return run ? run->experiment : std::string();
}

// ---- Registered models --------------------------------------------------------------------------

bool is_model(model::DataType type) {
  return type == model::DataType::CustomModel || type == model::DataType::MlflowModel ||
         type == model::DataType::TritonModel;
}

/// The names and versions of the models that the job takes as inputs.
std::vector<model::AssetRef> model_inputs(const model::Job& job) {
  std::vector<model::AssetRef> models;
  for (const auto& [name, input] : job.spec->inputs) {
    if (!is_model(input.type)) continue;
    const auto reference = model::parse_data_ref(input.uri);
    if (!reference) continue;
    if (const auto* asset = std::get_if<model::AssetRef>(&*reference)) models.push_back(*asset);
  }
  return models;
}

Result<bool> is_input(const Call& call, const model::Job& job, const model::Asset& version) {
  const Catalogue catalogue{.store = call.services.store,
                            .state = call.services.ledger.state(),
                            .jobs = call.services.jobs};
  for (const model::AssetRef& reference : model_inputs(job)) {
    if (reference.name != version.name) continue;
    const auto found = find_asset(catalogue, version.workspace, model::AssetKind::Model, reference);
    if (found && found->version == version.version) return true;
  }
  return false;
}

Result<bool> made_a_version(const Call& call, const model::Job& job,
                            const model::AssetContainer& model) {
  const auto versions = TRY(call.services.store.assets({.workspace = model.workspace,
                                                        .kind = model::AssetKind::Model,
                                                        .name = model.name,
                                                        .view = store::JobQuery::View::All,
                                                        .limit = kMostVersionsRead}));
  return std::ranges::any_of(versions, [&](const model::Asset& version) {
    return version.origin.made_by == job.sequence;
  });
}

// ---- Artifacts ----------------------------------------------------------------------------------

bool is_below(std::string_view path, std::string_view folder) {
  while (folder.ends_with('/')) folder.remove_suffix(1);
  return path.starts_with(folder) &&
         (path.size() == folder.size() || path[folder.size()] == '/' || folder.empty());
}

/// Whose artifacts lie there: a path may be below the place of one run and, if somebody chose an
/// experiment's place that way, below that of another. Then both must be the job's.
class Owners {
 public:
  Owners(const Call& call, const model::Job& job) : call_(call), job_(job) {}

  Status add_run(const std::string& id, std::string_view path) {
    const auto run = TRY(tracking_of(call_).run({job_.key.workspace, id}));
    if (run && is_at(path, model::artifact_uri(*run))) note(TRY(owns(call_, job_, *run)));
    return Done{};
  }
  Status add_model(const std::string& id, std::string_view path) {
    const auto model = TRY(tracking_of(call_).logged_model(job_.key.workspace, id));
    if (model && is_at(path, model::artifact_uri(*model))) note(TRY(owns(call_, job_, *model)));
    return Done{};
  }
  bool are_job() const { return has_own_ && !has_others_; }

 private:
  static bool is_at(std::string_view path, std::string_view uri) {
    if (!uri.starts_with(kScheme)) return false;
    uri.remove_prefix(kScheme.size());
    while (uri.starts_with('/')) uri.remove_prefix(1);
    return !uri.empty() && is_below(path, uri);
  }
  void note(bool is_own) { (is_own ? has_own_ : has_others_) = true; }

  const Call& call_;
  const model::Job& job_;
  bool has_own_ = false;
  bool has_others_ = false;
};

/// "ExperimentRun/dcid.<run>/…", "LoggedModels/<id>/artifacts/…", or below a place of the
/// experiment's own: "…/<run>/artifacts/…", "…/models/<id>/artifacts/…".
Result<bool> is_own_artifact(const Call& call, const model::Job& job, const std::string& path) {
  constexpr std::string_view kRunFolder = "dcid.";
  const auto parts = split(path, '/');
  Owners owners(call, job);
  if (parts.size() > 1 && parts[0] == "ExperimentRun" && parts[1].starts_with(kRunFolder)) {
    TRY(owners.add_run(std::string(parts[1].substr(kRunFolder.size())), path));
  }
  for (std::size_t index = 1; index < parts.size(); ++index) {
    if (parts[index] != "artifacts") continue;
    TRY(owners.add_run(std::string(parts[index - 1]), path));
    TRY(owners.add_model(std::string(parts[index - 1]), path));
  }
  return owners.are_job();
}

bool covers(const BlobPlace& place, const std::string& container, const std::string& path) {
  return place.container == container &&
         (place.is_folder ? is_below(path, place.path) : path == place.path);
}

Result<bool> is_input_or_output(const Call& call, const model::Job& job,
                                const std::string& container, const std::string& path,
                                Touch touch) {
  const Catalogue catalogue{.store = call.services.store,
                            .state = call.services.ledger.state(),
                            .jobs = call.services.jobs};
  for (const auto& [name, output] : job.spec->outputs) {
    const auto place = find_output(job, name);
    if (place && covers(*place, container, path)) return true;
  }
  if (touch == Touch::Write) return false;
  for (const auto& [name, input] : job.spec->inputs) {
    if (input.type == model::DataType::Literal) continue;
    const auto place = find_input(catalogue, job.key.workspace, input);
    const auto* blobs = place ? std::get_if<BlobPlace>(&*place) : nullptr;
    if (blobs != nullptr && covers(*blobs, container, path)) return true;
  }
  return false;
}

}  // namespace

Status check_reach(const Call& call, const model::Run& run, Touch touch) {
  const model::Job* job = held(call, touch);
  if (job == nullptr || TRY(owns(call, *job, run))) return Done{};
  return refuse(call, touch, fmt::format("run '{}'", run.key.name));
}

Status check_reach(const Call& call, const model::Experiment& experiment, Touch touch) {
  const model::Job* job = held(call, touch);
  if (job == nullptr || experiment.made_by == job->sequence) return Done{};
  const bool is_own = touch == Touch::Read && experiment.id == TRY(experiment_of(call, *job));
  if (is_own) return Done{};
  return refuse(call, touch, fmt::format("experiment '{}'", experiment.name));
}

Status check_may_add_to(const Call& call, const model::Experiment& experiment) {
  const model::Job* job = held(call, Touch::Write);
  if (job == nullptr || experiment.made_by == job->sequence) return Done{};
  if (experiment.id == TRY(experiment_of(call, *job))) return Done{};
  return refuse(call, Touch::Write, fmt::format("experiment '{}'", experiment.name));
}

Status check_reach(const Call& call, const model::LoggedModel& model, Touch touch) {
  const model::Job* job = held(call, touch);
  if (job == nullptr || TRY(owns(call, *job, model))) return Done{};
  return refuse(call, touch, fmt::format("logged model '{}'", model.id));
}

Status check_reach(const Call& call, const model::AssetContainer& model, Touch touch) {
  const model::Job* job = held(call, touch);
  if (job == nullptr || model.made_by == job->sequence) return Done{};
  const bool is_named = std::ranges::any_of(
      model_inputs(*job), [&](const auto& reference) { return reference.name == model.name; });
  const bool is_seen = touch == Touch::Read && (is_named || TRY(made_a_version(call, *job, model)));
  if (is_seen) return Done{};
  return refuse(call, touch, fmt::format("model '{}'", model.name));
}

Status check_reach(const Call& call, const model::Asset& version, Touch touch) {
  const model::Job* job = held(call, touch);
  if (job == nullptr || version.origin.made_by == job->sequence) return Done{};
  if (touch == Touch::Read && TRY(is_input(call, *job, version))) return Done{};
  return refuse(call, touch,
                fmt::format("version '{}' of model '{}'", version.version, version.name));
}

Status check_may_promote(const Call& call, const model::AssetContainer& model) {
  if (held(call, Touch::Write) == nullptr) return Done{};
  return refuse(call, Touch::Write, fmt::format("aliases and stages of model '{}'", model.name));
}

Status check_place(const Call& call, const std::string& container, const std::string& path,
                   Touch touch) {
  // Whoever may read runs may read what they logged; data and code are something else.
  const bool is_artifact = container == kArtifactContainer;
  const model::Job* job = held(call, is_artifact ? touch : Touch::Write);
  if (job == nullptr) return Done{};
  if (is_artifact) {
    // Its folder has a name that nobody can guess; who may read the version is told.
    const bool is_version = touch == Touch::Read && is_pinned(container, path) &&
                            split(path, '/').size() > 1 && !split(path, '/')[1].empty();
    if (is_version || TRY(is_own_artifact(call, *job, path))) return Done{};
  }
  if (TRY(is_input_or_output(call, *job, container, path, touch))) return Done{};
  const std::string what = path.empty() ? "all artifacts" : fmt::format("'{}'", path);
  return refuse(call, is_artifact ? touch : Touch::Write, what);
}

Status check_address(const Call& call, const std::string& uri, Touch touch) {
  if (!uri.starts_with("azureml:")) return Done{};
  const model::DataRef reference = TRY(model::parse_data_ref(uri));
  const auto* place = std::get_if<model::DatastorePath>(&reference);
  const auto datastore = place != nullptr ? model::find_datastore(place->datastore) : std::nullopt;
  if (!datastore) return Done{};
  std::string path = place->path;
  while (path.ends_with('/')) path.pop_back();
  return check_place(call, std::string(datastore->container), path, touch);
}

Status check_reads_all(const Call& call, std::string_view what) {
  if (held(call, Touch::Read) == nullptr) return Done{};
  return refuse(call, Touch::Read, std::string(what));
}

Result<std::optional<store::JobReach>> search_reach(const Call& call) {
  const model::Job* job = held(call, Touch::Read);
  if (job == nullptr) return std::nullopt;
  auto experiment = TRY(experiment_of(call, *job));
  return store::JobReach{
      .run = job->key.name, .experiment = std::move(experiment), .sequence = job->sequence};
}

std::int64_t maker_of(const Call& call) {
  if (call.principal.kind != Principal::Kind::Job) return 0;
  const auto& jobs = call.services.ledger.state().jobs;
  const auto found = jobs.find(call.principal.job);
  return found == jobs.end() ? 0 : found->second.sequence;
}

}  // namespace berth::server
