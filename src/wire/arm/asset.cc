// SPDX-License-Identifier: Apache-2.0
// Codes, data, environments, models, components: containers and versions.
#include <fmt/format.h>

#include <array>

#include "base/check.h"
#include "base/text.h"
#include "wire/arm/envelope.h"
#include "wire/arm/field.h"
#include "wire/arm/resource.h"

namespace berth::wire::arm {
namespace {

using model::AssetKind;

Status copy_text(const Fields& from, std::string_view key, json::object& to) {
  const std::string text = TRY(from.text(key));
  if (!text.empty()) to[key] = text;
  return Done{};
}

Status copy_object(const Fields& from, std::string_view key, json::object& to) {
  if (from.find(key) != nullptr) to[key] = TRY(from.any_object(key));
  return Done{};
}

/// A value out of a closed set, in any case; stored as it is written here.
Result<std::string> choice(const Fields& from, std::string_view key,
                           std::initializer_list<std::string_view> known) {
  const std::string text = TRY(from.text(key));
  if (text.empty()) return text;
  for (const std::string_view value : known) {
    if (equals_ignoring_case(value, text)) return std::string(value);
  }
  return from.wrong(
      key, fmt::format("is '{}'; known are {}", to_valid_utf8(text), fmt::join(known, ", ")));
}

Result<json::object> code_body(const Fields& from) {
  return json::object{{"codeUri", TRY(from.required_text("codeUri"))}};
}

Result<std::string> asset_data_type(const Fields& from) {
  TRY(from.required_text("dataType"));
  const Result<model::DataType> type = data_type_from(TRY(from.text("dataType")));
  if (!type) return at(type.error(), from.path_of("dataType"));
  if (*type == model::DataType::UriFile || *type == model::DataType::UriFolder ||
      *type == model::DataType::MlTable) {
    return std::string(to_arm(*type));
  }
  return from.wrong("dataType", "must be uri_file, uri_folder or mltable");
}

Result<json::object> data_body(const Fields& from) {
  json::object body;
  body["dataType"] = TRY(asset_data_type(from));
  body["dataUri"] = TRY(from.required_text("dataUri"));
  if (from.find("referencedUris") != nullptr) body["referencedUris"] = *from.find("referencedUris");
  return body;
}

Result<json::object> build_body(const Fields& from) {
  json::object body = {{"contextUri", TRY(from.required_text("contextUri"))}};
  const std::string dockerfile = TRY(from.text("dockerfilePath"));
  body["dockerfilePath"] = dockerfile.empty() ? "Dockerfile" : dockerfile;
  return body;
}

Result<json::object> environment_body(const Fields& from) {
  json::object body;
  TRY(copy_text(from, "image", body));
  TRY(copy_text(from, "condaFile", body));
  if (const auto build = TRY(from.fields("build"))) body["build"] = TRY(build_body(*build));
  if (!body.contains("image") && !body.contains("build")) {
    return from.wrong("image", "is missing: an environment needs an image or a build");
  }
  if (body.contains("image") && body.contains("build")) {
    return from.wrong("build", "cannot be given together with an image");
  }
  if (body.contains("condaFile") && !body.contains("image")) {
    return from.wrong("condaFile", "needs an image to be installed into");
  }
  const std::string os = TRY(choice(from, "osType", {"Linux", "Windows"}));
  body["osType"] = os.empty() ? "Linux" : os;
  TRY(copy_object(from, "inferenceConfig", body));
  const std::string rebuild = TRY(choice(from, "autoRebuild", {"Disabled", "OnBaseImageUpdate"}));
  if (!rebuild.empty()) body["autoRebuild"] = rebuild;
  return body;
}

/// Old and new spellings; stored as the new one.
Result<std::string> model_type(const Fields& from) {
  const std::string text = TRY(from.text("modelType"));
  if (text.empty()) return std::string("custom_model");
  for (const std::string_view type : {"custom_model", "mlflow_model", "triton_model"}) {
    std::string old_spelling(type);
    std::erase(old_spelling, '_');
    if (equals_ignoring_case(text, type) || equals_ignoring_case(text, old_spelling)) {
      return std::string(type);
    }
  }
  return from.wrong("modelType", fmt::format("is '{}'; known are custom_model, mlflow_model and "
                                             "triton_model",
                                             to_valid_utf8(text)));
}

Result<json::object> model_body(const Fields& from) {
  json::object body;
  body["modelUri"] = TRY(from.required_text("modelUri"));
  body["modelType"] = TRY(model_type(from));
  TRY(copy_text(from, "jobName", body));
  TRY(copy_text(from, "stage", body));
  body["flavors"] = TRY(from.any_object("flavors"));
  return body;
}

Result<json::object> component_body(const Fields& from) {
  if (from.find("componentSpec") == nullptr) return from.wrong("componentSpec", "is missing");
  return json::object{{"componentSpec", TRY(from.any_object("componentSpec"))}};
}

Result<json::object> body_of(AssetKind kind, const Fields& from) {
  switch (kind) {
    case AssetKind::Code: return code_body(from);
    case AssetKind::Data: return data_body(from);
    case AssetKind::Environment: return environment_body(from);
    case AssetKind::Model: return model_body(from);
    case AssetKind::Component: return component_body(from);
  }
  CHECK(false, "every asset kind has a body");
}

Result<Fields> properties_of(const json::value& body) {
  const Fields root = TRY(Fields::of(body, ""));
  const auto properties = TRY(root.fields("properties"));
  if (!properties) return root.wrong("properties", "is missing");
  return *properties;
}

/// What versions and containers have alike, and what users may change.
template <typename T>
Status read_labels(const Fields& from, T& to) {
  to.description = TRY(from.text("description"));
  to.tags = TRY(from.text_map("tags"));
  to.properties = TRY(from.text_map("properties"));
  to.is_archived = TRY(from.boolean("isArchived", false));
  return Done{};
}

template <typename T>
void write_labels(const T& from, json::object& to) {
  to["description"] = from.description;
  to["tags"] = to_json(from.tags);
  to["properties"] = to_json(from.properties);
  to["isArchived"] = from.is_archived;
  to["provisioningState"] = "Succeeded";
}

std::string container_id(const model::Workspace& workspace, AssetKind kind,
                         const std::string& name) {
  return fmt::format("{}/{}/{}", model::arm_id(workspace), model::to_collection(kind), name);
}

}  // namespace

json::object to_json(const model::Asset& asset, const model::Workspace& workspace) {
  const std::string id =
      fmt::format("{}/versions/{}", container_id(workspace, asset.kind, asset.name), asset.version);
  json::object resource =
      envelope(id, asset.version, fmt::format("/{}/versions", model::to_collection(asset.kind)));
  json::object properties = asset.body;
  properties["isAnonymous"] = asset.is_anonymous;
  if (!asset.digest.empty()) properties["digest"] = asset.digest;
  write_labels(asset, properties);
  if (asset.kind == AssetKind::Environment) properties["environmentType"] = "UserCreated";
  // The Python client reads flavors without looking whether there are any.
  if (asset.kind == AssetKind::Model && !properties.contains("flavors")) {
    properties["flavors"] = json::object();
  }
  resource["properties"] = std::move(properties);
  resource["systemData"] = system_data(asset.created_at, asset.modified_at, "");
  return resource;
}

json::object to_json(const model::AssetContainer& container, const model::Workspace& workspace) {
  json::object resource =
      envelope(container_id(workspace, container.kind, container.name), container.name,
               fmt::format("/{}", model::to_collection(container.kind)));
  json::object properties;
  write_labels(container, properties);
  properties["latestVersion"] = container.latest_version.empty()
                                    ? json::value(nullptr)
                                    : json::value(container.latest_version);
  properties["nextVersion"] = container.next_version;
  if (!container.labels.empty()) properties["labels"] = to_json(container.labels);
  if (container.kind == AssetKind::Data) {
    properties["dataType"] = container.data_type.empty() ? "uri_folder" : container.data_type;
  }
  resource["properties"] = std::move(properties);
  resource["systemData"] = system_data(container.created_at, container.created_at, "");
  return resource;
}

Result<model::Asset> asset_from_json(AssetKind kind, const json::value& body) {
  const Fields properties = TRY(properties_of(body));
  model::Asset asset{.kind = kind};
  asset.body = TRY(body_of(kind, properties));
  asset.is_anonymous = TRY(properties.boolean("isAnonymous", false));
  TRY(read_labels(properties, asset));
  return asset;
}

Result<model::AssetContainer> container_from_json(AssetKind kind, const json::value& body) {
  const Fields properties = TRY(properties_of(body));
  model::AssetContainer container{.kind = kind};
  TRY(read_labels(properties, container));
  if (kind == AssetKind::Data) container.data_type = TRY(asset_data_type(properties));
  return container;
}

}  // namespace berth::wire::arm
