// SPDX-License-Identifier: Apache-2.0
// Model files.
#include <fmt/format.h>

#include <array>

#include "model/assets/reference.h"
#include "wire/yaml/asset.h"
#include "wire/yaml/entity.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

constexpr std::array<std::string_view, 11> kKeys = {
    "$schema", "name",       "version", "type",    "path",     "description",
    "tags",    "properties", "stage",   "flavors", "datastore"};
/// What `model show` prints and nobody can set.
constexpr std::array<std::string_view, 8> kReadOnly = {
    "id",       "creation_context", "resourceGroup",   "latest_version",
    "job_name", "utc_time_created", "system_metadata", "intellectual_property"};
constexpr std::array<std::string_view, 3> kTypes = {"custom_model", "mlflow_model", "triton_model"};

/// {sklearn: {a: b}} is {"sklearn": {"data": {"a": "b"}}} to ARM.
Result<boost::json::object> read_flavors(const Node* node) {
  boost::json::object flavors;
  if (node == nullptr || node->kind == Node::Kind::Null) return flavors;
  TRY(check_mapping(*node, "flavors"));
  for (const auto& [name, flavor] : node->members) {
    if (flavor.kind != Node::Kind::Mapping && flavor.kind != Node::Kind::Null) {
      return error_at(flavor.mark, fmt::format("flavor '{}' must be a mapping", name));
    }
    const boost::json::value data = to_json(flavor);
    flavors[name] = {{"data", data.is_object() ? data : boost::json::value(boost::json::object())}};
  }
  return flavors;
}

Status read_path(const Node& path, const std::string& base_directory, ModelFile& file) {
  const std::string text = TRY(as_text(path, "path"));
  if (!is_address(text)) {
    file.local = TRY(find_local(path, "path", base_directory));
    return Done{};
  }
  const Result<model::DataRef> reference = model::parse_data_ref(text);
  if (!reference) return at(path.mark, reference.error());
  if (std::holds_alternative<model::AssetRef>(*reference)) {
    return error_at(path.mark, "'path' is another asset; give the place it lies at");
  }
  file.asset.body["modelUri"] = text;
  return Done{};
}

}  // namespace

Result<ModelFile> model_from_yaml(const Node& root, const std::string& base_directory) {
  TRY(check_mapping(root, "the file"));
  TRY(check_keys(root, "a model", kKeys, kReadOnly));
  ModelFile file;
  file.asset.kind = model::AssetKind::Model;
  TRY(read_labels(root, file.asset));
  if (file.asset.name.empty()) return error_at(root.mark, "a model needs a 'name'");
  const std::string type = TRY(choice_member(root, "type", kTypes));
  file.asset.body["modelType"] = type.empty() ? "custom_model" : type;
  file.asset.body["flavors"] = TRY(read_flavors(root.find("flavors")));
  const std::string stage = TRY(text_member(root, "stage"));
  if (!stage.empty()) file.asset.body["stage"] = stage;
  TRY(check_datastore(root));
  const Node* path = root.find("path");
  if (path == nullptr) return error_at(root.mark, "a model needs a 'path'");
  TRY(read_path(*path, base_directory, file));
  return file;
}

}  // namespace berth::wire::yaml
