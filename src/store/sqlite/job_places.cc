// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/job_places.h"

#include <algorithm>

#include "base/text.h"
#include "model/assets/reference.h"
#include "model/datastore.h"
#include "store/sqlite/documents.h"

namespace berth::store {
namespace {

using model::Asset;
using model::DatastorePath;
using model::Job;
using model::JobOutputRef;

constexpr std::string_view kArtifacts = "mlflow-artifacts:";
constexpr std::string_view kArtifactContainer = "azureml";
constexpr std::string_view kUploads = "LocalUpload/";

Result<FilePlace> on_datastore(const DatastorePath& path) {
  const auto datastore = model::find_datastore(path.datastore);
  if (!datastore) return fail(Code::NotFound, "no such datastore");
  return FilePlace{std::string(datastore->container), path.path};
}

bool is_of_job(const FilePlace& place, const std::string& name) {
  return std::ranges::any_of(split(place.path, '/'),
                             [&](std::string_view part) { return part == name; });
}

/// mlflow-artifacts:/<path>, with or without a host; datastores/<name>/ leads to the other store.
Result<FilePlace> of_artifact(std::string_view text) {
  text.remove_prefix(kArtifacts.size());
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    text.remove_prefix(std::min(text.find('/'), text.size()));
  }
  while (text.starts_with('/')) text.remove_prefix(1);
  const std::string path = TRY(percent_decode(text));
  const auto parts = split(path, '/');
  if (parts.size() > 2 && parts[0] == "datastores") {
    return on_datastore(
        {std::string(parts[1]), path.substr(parts[0].size() + parts[1].size() + 2)});
  }
  return FilePlace{std::string(kArtifactContainer), path};
}

Result<FilePlace> of_job_output(const Job& job, const JobOutputRef& reference) {
  if (reference.job != job.key.name) return fail(Code::NotFound, "another job's");
  if (reference.output == "artifacts" || reference.output == "default") {
    return FilePlace{std::string(kArtifactContainer),
                     model::artifact_prefix(job.key) + reference.path};
  }
  FilePlace place =
      TRY(place_of_address(job.key.workspace, model::output_uri(job, reference.output)));
  if (!reference.path.empty()) {
    if (!place.path.ends_with('/')) place.path += '/';
    place.path += reference.path;
  }
  return place;
}

/// The place an address of an asset means, with what only the job itself can tell.
Result<FilePlace> place_for(const Job& job, const std::string& address) {
  const Result<FilePlace> place = place_of_address(job.key.workspace, address);
  if (place) return place;
  const Result<model::DataRef> reference = model::parse_data_ref(address);
  const auto* output = reference ? std::get_if<JobOutputRef>(&*reference) : nullptr;
  if (output == nullptr) return fail(Code::NotFound, "not a place of ours");
  return of_job_output(job, *output);
}

bool is_address(std::string_view text) {
  return text.find(":/") != std::string_view::npos || text.starts_with("azureml:");
}

void collect_texts(const boost::json::value& value, std::vector<std::string>& texts) {
  if (value.is_string()) texts.emplace_back(value.get_string());
  if (value.is_array()) {
    for (const auto& each : value.get_array()) collect_texts(each, texts);
  }
  if (value.is_object()) {
    for (const auto& member : value.get_object()) collect_texts(member.value(), texts);
  }
}

bool overlap(const FilePlace& one, const FilePlace& other) {
  return one.covers(other.container, other.path) || other.covers(one.container, one.path);
}

/// What the asset keeps of the job's places.
std::vector<FilePlace> kept_by(const Asset& asset, const Job& job,
                               const std::vector<FilePlace>& own) {
  // A model whose files were copied when it was registered needs those of the job no more.
  std::vector<std::string> texts;
  if (asset.origin.pinned_from.empty()) texts.push_back(asset.origin.source);
  collect_texts(asset.body, texts);
  std::vector<FilePlace> kept;
  for (const std::string& text : texts) {
    if (!is_address(text)) continue;
    const Result<FilePlace> place = place_for(job, text);
    if (place) {
      const bool is_inside =
          std::ranges::any_of(own, [&](const FilePlace& each) { return overlap(each, *place); });
      if (is_inside) kept.push_back(*place);
    } else if (text.find(job.key.name) != std::string::npos && !text.starts_with("models:")) {
      kept.insert(kept.end(), own.begin(), own.end());
    }
  }
  return kept;
}

/// A quick look before the document is parsed: most assets have nothing to do with the job. Beside
/// its name, a folder above its places may be named.
class Hint {
 public:
  Hint(const Job& job, const std::vector<FilePlace>& own) : needles_({job.key.name}) {
    for (const FilePlace& place : own) {
      std::string above = place.path;
      while (!above.empty()) {
        above.pop_back();
        const std::size_t slash = above.rfind('/');
        above.resize(slash == std::string::npos ? 0 : slash);
        for (const std::string& start : {std::string("/paths/"), "/" + place.container + "/"}) {
          needles_.push_back(start + above + "\"");
          if (!above.empty()) needles_.push_back(start + above + "/\"");
        }
      }
    }
  }

  bool fits(std::string_view document) const {
    return std::ranges::any_of(needles_, [&](const std::string& needle) {
      return document.find(needle) != std::string_view::npos;
    });
  }

 private:
  std::vector<std::string> needles_;
};

}  // namespace

bool FilePlace::covers(std::string_view container_of_file, std::string_view file) const {
  if (container_of_file != container) return false;
  if (path.empty() || file == path) return true;
  if (!file.starts_with(path)) return false;
  return path.ends_with('/') || file[path.size()] == '/';
}

std::vector<FilePlace> own_places(const Job& job) {
  std::vector<FilePlace> places = {
      {std::string(kArtifactContainer), model::artifact_prefix(job.key)},
      {std::string(model::kDatastores[0].container), "azureml/" + job.key.name + "/"}};
  Job other = job;
  other.key.name += '-';
  for (const auto& [name, output] : job.spec->outputs) {
    if (model::output_uri(job, name) == model::output_uri(other, name)) continue;
    Result<FilePlace> place = place_of_address(job.key.workspace, model::output_uri(job, name));
    if (!place || !is_of_job(*place, job.key.name)) continue;
    if (output.type != model::DataType::UriFile && !place->path.ends_with('/')) place->path += '/';
    const bool is_known = std::ranges::any_of(
        places, [&](const FilePlace& each) { return each.covers(place->container, place->path); });
    if (!is_known) places.push_back(*std::move(place));
  }
  return places;
}

FilePlace log_place(const model::JobKey& job) {
  return {std::string(kArtifactContainer), model::artifact_prefix(job) + "user_logs/"};
}

Result<FilePlace> place_of_address(const model::WorkspaceId& workspace,
                                   const std::string& address) {
  if (address.starts_with(kArtifacts)) return of_artifact(address);
  const std::size_t blob = address.find("/blob/" + workspace.text);
  if (blob != std::string::npos) {
    std::string_view rest = std::string_view(address).substr(blob + 6 + workspace.text.size());
    if (rest.starts_with(".blob.")) rest.remove_prefix(std::min(rest.find('/'), rest.size()));
    rest = rest.substr(0, rest.find('?'));
    rest.remove_prefix(rest.starts_with('/') ? 1 : 0);
    const std::size_t slash = std::min(rest.find('/'), rest.size());
    return FilePlace{std::string(rest.substr(0, slash)),
                     TRY(percent_decode(rest.substr(std::min(slash + 1, rest.size()))))};
  }
  const model::DataRef reference = TRY(model::parse_data_ref(address));
  if (const auto* path = std::get_if<DatastorePath>(&reference)) return on_datastore(*path);
  return fail(Code::NotFound, "not on a datastore");
}

Result<std::vector<KeptPlace>> kept_places(Database& database, const Job& job) {
  const std::vector<FilePlace> own = own_places(job);
  const Hint hint(job, own);
  std::vector<KeptPlace> kept;
  Cursor rows =
      TRY(database.query("SELECT doc FROM assets WHERE workspace = ?", {job.key.workspace.text}));
  while (TRY(rows.next())) {
    if (!hint.fits(rows.text(0))) continue;
    const Asset asset = TRY(read_document<Asset>(rows.text(0)));
    for (FilePlace& place : kept_by(asset, job, own)) {
      kept.push_back({std::move(place),
                      fmt::format("{} '{}' version '{}'",
                                  to_lower(boost::describe::enum_to_string(asset.kind, "asset")),
                                  asset.name, asset.version)});
    }
  }
  return kept;
}

Result<bool> is_mentioned(Database& database, const model::WorkspaceId& workspace,
                          std::string_view text, const AssetName& except) {
  const std::string_view kind = boost::describe::enum_to_string(except.kind, "?");
  return TRY(database.integer("SELECT EXISTS (SELECT 1 FROM assets WHERE workspace = ? AND "
                              "instr(doc, ?) > 0 AND NOT (kind = ? AND name = ? AND version = ?))",
                              {workspace.text, text, kind, except.name, except.version})) != 0;
}

std::string end_of(std::string prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xff) prefix.pop_back();
  if (prefix.empty()) return prefix;
  prefix.back() = static_cast<char>(static_cast<unsigned char>(prefix.back()) + 1);
  return prefix;
}

std::string code_use(const std::string& name, const std::string& version) {
  return fmt::format("code {}:{}", name, version);
}

std::vector<std::string> uses_of(const Job& job) {
  std::vector<std::string> uses;
  if (!command_of(job.spec).code_id.empty()) {
    const auto code = model::parse_asset_ref(model::AssetKind::Code, command_of(job.spec).code_id);
    if (code) uses.push_back(code_use(code->name, code->version));
  }
  for (const auto& [name, input] : job.spec->inputs) {
    const Result<FilePlace> place = place_of_address(job.key.workspace, input.uri);
    if (!place || !place->path.starts_with(kUploads)) continue;
    const std::size_t slash = place->path.find('/', kUploads.size());
    if (slash == std::string::npos) continue;
    uses.push_back(place->path.substr(0, slash + 1));
  }
  return uses;
}

}  // namespace berth::store
