// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <optional>
#include <string>

#include "base/result.h"
#include "model/assets/asset.h"
#include "model/workspace.h"
#include "wire/yaml/document.h"
#include "wire/yaml/job.h"

namespace berth::wire::yaml {

/// A data asset's file; `local` when its path must be uploaded first.
struct DataFile {
  model::Asset asset{};
  std::optional<LocalPath> local{};
};
Result<DataFile> data_from_yaml(const Node& root, const std::string& base_directory);

/// A model's file; `local` when its path must be uploaded first.
struct ModelFile {
  model::Asset asset{};
  std::optional<LocalPath> local{};
};
Result<ModelFile> model_from_yaml(const Node& root, const std::string& base_directory);

/// An environment's file; `build_context` when a local folder must be uploaded first (its address
/// goes into body.build.contextUri).
struct EnvironmentFile {
  model::Asset asset{};
  std::optional<LocalPath> build_context{};
};
Result<EnvironmentFile> environment_from_yaml(const Node& root, const std::string& base_directory);

Result<model::Workspace> workspace_from_yaml(const Node& root);

/// What `az ml data|environment|model show` prints, from the ARM resource.
boost::json::object asset_view(model::AssetKind kind, const boost::json::object& resource);
boost::json::object workspace_view(const boost::json::object& resource);

/// JSON as YAML text, keys in order: what `-o yaml` prints.
std::string to_yaml_text(const boost::json::value& value);

}  // namespace berth::wire::yaml
