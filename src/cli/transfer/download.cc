// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/download.h"

#include <set>

#include "base/text.h"
#include "cli/transfer/datastore.h"
#include "cli/transfer/transfer.h"
#include "io/files/file.h"
#include "model/assets/reference.h"

namespace berth::cli {
namespace {

using wire::blob::blob_url;
using wire::blob::Container;

/// Everything below a blob prefix, or the one blob that is it, for a folder below the directory.
struct Part {
  std::string datastore{};
  std::string path{};
  std::string folder{};
  bool keeps_name = false;  ///< What is below "a/b" goes to "b/" in the folder.
};

struct Plan {
  std::vector<Download> downloads{};
  std::uint64_t bytes = 0;
};

Result<Part> part_of_output(const model::Job& job, const std::string& name) {
  const auto reference = TRY(model::parse_data_ref(model::output_uri(job, name)));
  const auto* path = std::get_if<model::DatastorePath>(&reference);
  if (path == nullptr) {
    return fail(Code::NotSupported, fmt::format("output '{}' is not on a datastore", name));
  }
  return Part{path->datastore, path->path, "named-outputs/" + name + "/"};
}

bool has_artifacts(const DownloadWish& wish) {
  return wish.all || wish.output_name.empty() || wish.output_name == "default";
}

Result<std::vector<Part>> parts_of(const model::Job& job, const DownloadWish& wish) {
  std::vector<Part> parts;
  const bool only_named = !has_artifacts(wish);
  if (!only_named) {
    parts.push_back({"workspaceartifactstore", model::artifact_prefix(job.key), "artifacts/"});
  }
  for (const auto& [name, output] : job.spec->outputs) {
    if (wish.all || (only_named && name == wish.output_name)) {
      parts.push_back(TRY(part_of_output(job, name)));
    }
  }
  if (!parts.empty()) return parts;
  std::string known;
  for (const auto& [name, output] : job.spec->outputs) known += (known.empty() ? "" : ", ") + name;
  return fail(Code::NotFound, fmt::format("job '{}' has no output '{}'; it has {}", job.key.name,
                                          wish.output_name, known.empty() ? "none" : known));
}

/// The last part of a path, with a '/': "a/b/" is "b/".
std::string last_part(std::string_view path) {
  while (path.ends_with('/')) path.remove_suffix(1);
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1)) + "/";
}

/// A name from the server becomes a path here: it is checked before, and opened beneath the root.
Status plan_part(Context& context, const Part& part, Plan& plan) {
  const Container container = TRY(open_datastore(context.client, part.datastore, Purpose::Read));
  const bool is_folder = part.path.empty() || part.path.ends_with('/');
  const std::string below = is_folder ? part.path : part.path + "/";
  for (const wire::blob::ListedBlob& blob : TRY(list_blobs(context.client, container, part.path))) {
    std::string relative;
    if (blob.name == part.path) {
      relative = blob.name.substr(blob.name.rfind('/') + 1);
    } else if (blob.name.starts_with(below)) {
      relative = (part.keeps_name ? last_part(part.path) : "") + blob.name.substr(below.size());
    } else {
      continue;  // "out" also lists "outer/x".
    }
    const std::string path = TRY(model::checked_blob_path(relative));
    plan.downloads.push_back({.url = blob_url(container, blob.name), .path = part.folder + path});
    plan.bytes += blob.size;
  }
  return Done{};
}

// ---- Models that a job logged with MLflow 3 -----------------------------------------------------

std::string text_at(const json::object& object, std::string_view pointer) {
  boost::system::error_code none;
  const json::value whole = object;
  const json::value* found = whole.find_pointer(pointer, none);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

/// Newest first. They lie beside the run, so its folder does not hold them.
Result<json::array> logged_models(Context& context, const model::Job& job) {
  const std::string api = model::mlflow_path(context.client.workspace()) + "/api/2.0/mlflow/";
  const json::object run =
      TRY(context.client.get(api + "runs/get?run_id=" + percent_encode(job.key.name)));
  json::object query = {{"experiment_ids", {text_at(run, "/run/info/experiment_id")}},
                        {"filter", fmt::format("source_run_id = '{}'", job.key.name)}};
  json::array models;
  while (true) {
    json::object page = TRY(context.client.post(api + "logged-models/search", query));
    if (json::value* found = page.if_contains("models"); found != nullptr && found->is_array()) {
      for (json::value& model : found->get_array()) models.push_back(std::move(model));
    }
    const std::string next = text_at(page, "/next_page_token");
    if (next.empty()) return models;
    query["page_token"] = next;
  }
}

/// As with MLflow 2, a model is in artifacts/<name>/. Of several of one name the newest is; the
/// others have their ids behind the name.
Status plan_logged_models(Context& context, const model::Job& job, Plan& plan) {
  constexpr std::string_view kScheme = "mlflow-artifacts:/";
  std::set<std::string> taken;
  for (const Download& download : plan.downloads) {
    if (!download.path.starts_with("artifacts/")) continue;
    const std::string_view rest = std::string_view(download.path).substr(10);
    taken.emplace(rest.substr(0, rest.find('/')));
  }
  for (const json::value& model : TRY(logged_models(context, job))) {
    if (!model.is_object()) continue;
    const std::string uri = text_at(model.get_object(), "/info/artifact_uri");
    if (!uri.starts_with(kScheme)) continue;  // It is kept elsewhere.
    std::string name = text_at(model.get_object(), "/info/name");
    if (!taken.insert(name).second) name += "-" + text_at(model.get_object(), "/info/model_id");
    const std::string folder = TRY(model::checked_blob_path(name));
    TRY(plan_part(
        context,
        {"workspaceartifactstore", uri.substr(kScheme.size()) + "/", "artifacts/" + folder + "/"},
        plan));
  }
  return Done{};
}

Result<std::size_t> fetch(Context& context, const Plan& plan, const std::string& directory,
                          const std::string& what) {
  TRY(io::make_directories(directory, 0755));
  const io::Root root = TRY(io::Root::open(directory));
  const Endpoint server = TRY(context.client.endpoint());
  TRY(download_all(plan.downloads, root,
                   {.console = context.console,
                    .what = "downloading " + what,
                    .total_bytes = plan.bytes,
                    .authority_file = server.authority_file}));
  return plan.downloads.size();
}

}  // namespace

Result<std::size_t> download_job(Context& context, const model::Job& job,
                                 const DownloadWish& wish) {
  if (!model::is_terminal(job.status)) {
    return fail(Code::Conflict,
                fmt::format("job '{}' is {}; its files can be downloaded when it is over",
                            job.key.name, boost::describe::enum_to_string(job.status, "Unknown")));
  }
  Plan plan;
  for (const Part& part : TRY(parts_of(job, wish))) TRY(plan_part(context, part, plan));
  if (has_artifacts(wish)) TRY(plan_logged_models(context, job, plan));
  return fetch(context, plan, wish.directory, job.key.name);
}

Result<std::size_t> download_place(Context& context, const PlaceWish& wish) {
  Plan plan;
  TRY(plan_part(context, {wish.datastore, wish.path, wish.folder, true}, plan));
  if (!plan.downloads.empty()) return fetch(context, plan, wish.directory, wish.what);
  return fail(Code::NotFound, fmt::format("there is nothing at '{}' in the datastore '{}'",
                                          wish.path, wish.datastore));
}

}  // namespace berth::cli
