// SPDX-License-Identifier: Apache-2.0
// MLflow's JSON for models and their versions, which are Azure ML's models as well.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/assets/asset.h"

namespace berth::wire::mlflow {

/// {"name", "creation_timestamp", …}. `latest` are the versions of the highest numbers, one of each
/// stage.
boost::json::object to_json(const model::AssetContainer& model,
                            const std::vector<model::Asset>& latest);
/// A version; its aliases are in its model.
boost::json::object to_json(const model::Asset& version, const model::AssetContainer& model);

/// "None", "Staging", "Production" or "Archived". Azure ML's stages are any text: those that are
/// none of MLflow's are "None" here.
std::string_view stage_of(const model::Asset& version);
/// Sets it: "None" is no stage at all.
void set_stage(model::Asset& version, std::string_view stage);
/// In any case, as MLflow takes them.
Result<std::string_view> stage_from(std::string_view text);

/// Names that MLflow would take and Azure ML's addresses could not hold are refused.
Status check_registered_name(std::string_view name, std::string_view field = "name");
/// "latest" and "v1" mean something already.
Status check_alias(std::string_view alias);
Status check_registry_tag(std::string_view key, std::string_view value);

}  // namespace berth::wire::mlflow
