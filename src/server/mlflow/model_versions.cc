// SPDX-License-Identifier: Apache-2.0
#include "server/mlflow/model_versions.h"

#include "base/text.h"
#include "model/assets/reference.h"
#include "server/assets/model_files.h"
#include "server/mlflow/model_source.h"

namespace berth::server {
namespace {

constexpr auto kKind = model::AssetKind::Model;

/// The short and the long form of a datastore's address are one place.
bool is_same_place(const std::string& left, const std::string& right) {
  if (left == right) return true;
  const auto one = model::parse_data_ref(left);
  const auto other = model::parse_data_ref(right);
  if (!one || !other) return false;
  const auto* here = std::get_if<model::DatastorePath>(&*one);
  const auto* there = std::get_if<model::DatastorePath>(&*other);
  if (here == nullptr || there == nullptr || here->datastore != there->datastore) return false;
  const auto without_slash = [](std::string_view path) {
    while (path.ends_with('/')) path.remove_suffix(1);
    return path;
  };
  return without_slash(here->path) == without_slash(there->path);
}

bool is_empty(const boost::json::value* value) {
  return value == nullptr || (value->is_object() && value->get_object().empty());
}

/// Clients send back less than they were given: what they leave out agrees.
bool has_same_flavors(const model::Asset& version, const model::Asset& asked) {
  const auto* wanted = asked.body.if_contains("flavors");
  if (is_empty(wanted)) return true;
  const auto* found = version.body.if_contains("flavors");
  return found != nullptr && *found == *wanted;
}

}  // namespace

std::string text_member(const boost::json::object& body, std::string_view key) {
  const boost::json::value* found = body.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

Result<model::AssetContainer> find_model(const Call& call, const std::string& name) {
  auto found = TRY(call.services.store.container(call.workspace->id, kKind, name));
  if (found) return *std::move(found);
  return fail(Code::NotFound, fmt::format("no registered model '{}'", to_valid_utf8(name)));
}

Result<model::Asset> find_model_version(const Call& call, const std::string& name,
                                        const std::string& version) {
  auto found = TRY(call.services.store.asset(call.workspace->id, kKind, name, version));
  if (found) return *std::move(found);
  TRY(find_model(call, name));
  return fail(Code::NotFound,
              fmt::format("no version '{}' of model '{}'", to_valid_utf8(version), name));
}

Result<std::string> version_of_alias(const model::AssetContainer& model, const std::string& alias) {
  const auto found = model.labels.find(alias);
  if (found != model.labels.end()) return found->second;
  return fail(Code::NotFound,
              fmt::format("model '{}' has no alias '{}'", model.name, to_valid_utf8(alias)));
}

Result<store::Batch> settle_model(const Call& call, model::Asset& version) {
  const auto blame = [](Error error) {
    if (error.code == Code::NotFound) error.code = Code::InvalidArgument;
    error.target = "properties.modelUri";
    return fail(std::move(error));
  };
  const Result<ModelSource> source = source_of_uri(call, text_member(version.body, "modelUri"));
  if (!source) return blame(source.error());
  version.body["modelUri"] = source->uri;
  if (!source->run.empty() && !version.body.contains("jobName")) {
    version.body["jobName"] = source->run;
  }
  version.origin.user = call.principal.name;
  Result<store::Batch> files = pin_files(call.services.store, version);
  if (!files) return blame(files.error());
  return files;
}

Status change_model(const Call& call, model::Asset& version, const model::Asset& asked) {
  const std::string uri = text_member(version.body, "modelUri");
  std::string wanted = text_member(asked.body, "modelUri");
  if (wanted != uri) {
    const Result<ModelSource> source = source_of_uri(call, wanted);
    if (source) wanted = source->uri;
  }
  const bool is_same_type =
      text_member(version.body, "modelType") == text_member(asked.body, "modelType");
  const bool is_there =
      is_same_place(uri, wanted) || is_same_place(version.origin.pinned_from, wanted);
  if (!is_there || !is_same_type || !has_same_flavors(version, asked)) {
    return fail(Code::Conflict,
                fmt::format("version '{}' of '{}' exists with other content; versions never change",
                            version.version, version.name));
  }
  const std::string stage = text_member(asked.body, "stage");
  if (!stage.empty()) version.body["stage"] = stage;
  version.description = asked.description;
  version.tags = asked.tags;
  version.properties = asked.properties;
  version.is_archived = asked.is_archived;
  return Done{};
}

}  // namespace berth::server
