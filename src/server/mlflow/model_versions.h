// SPDX-License-Identifier: Apache-2.0
// Models and their versions, which Azure ML and MLflow both know, each by its own words.
#pragma once

#include <string>

#include "base/result.h"
#include "model/assets/asset.h"
#include "server/door/call.h"

namespace berth::server {

/// NotFound says which is missing.
Result<model::AssetContainer> find_model(const Call& call, const std::string& name);
Result<model::Asset> find_model_version(const Call& call, const std::string& name,
                                        const std::string& version);
Result<std::string> version_of_alias(const model::AssetContainer& model, const std::string& alias);

/// A text in a body, empty when there is none.
std::string text_member(const boost::json::object& body, std::string_view key);

/// For a version that is being made through Azure ML's door: finds its files, and whose they are,
/// and returns the rows that pin them.
Result<store::Batch> settle_model(const Call& call, model::Asset& version);

/// Takes over what may change of a version: description, tags, properties, archived, stage.
/// Conflict when `asked` has other files, another type or other flavors.
Status change_model(const Call& call, model::Asset& version, const model::Asset& asked);

}  // namespace berth::server
