// SPDX-License-Identifier: Apache-2.0
// ARM's JSON for what we keep: {id, name, type, properties, systemData}.
#pragma once

#include <boost/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/assets/asset.h"
#include "model/datastore.h"
#include "model/job.h"
#include "model/workspace.h"

namespace berth::wire::arm {

namespace json = boost::json;

/// Addresses only the server knows.
struct Addresses {
  std::string base_url{};  ///< "https://127.0.0.1:8470", as the client reached us.
};

json::object to_json(const model::Workspace& workspace, const Addresses& addresses);
/// Reads a PUT body: location, tags, friendly name and description; never id or name.
Result<model::Workspace> workspace_from_json(const json::value& body);
/// For clients of ours: the whole resource, ids included.
Result<model::Workspace> workspace_from_resource(const json::value& resource);

/// Always has services.Studio, services.Tracking and the properties map; clients dereference them.
json::object to_json(const model::Job& job, const model::Workspace& workspace,
                     const Addresses& addresses);
/// Reads a PUT body. Enum values ignore case, read-only and unknown fields are skipped; a field of
/// the wrong type is an error whose target is its path ("properties.limits.timeout").
/// Takes only what a client may say: spec, display name, description, tags, properties, archived.
Result<model::Job> job_from_json(const json::value& body);
/// The other direction, for clients of ours: the whole resource, status, times and error included.
Result<model::Job> job_from_resource(const json::value& resource);
/// The body a client of ours PUTs.
json::object job_body(const model::Job& job);

json::object to_json(const model::Asset& asset, const model::Workspace& workspace);
json::object to_json(const model::AssetContainer& container, const model::Workspace& workspace);
/// Reads a PUT body: checks what the kind requires and keeps only the fields ARM knows. Name and
/// version are in the address, so the caller fills them in.
Result<model::Asset> asset_from_json(model::AssetKind kind, const json::value& body);
Result<model::AssetContainer> container_from_json(model::AssetKind kind, const json::value& body);

/// `accountName` is "<host:port>/blob/<workspace id>", from which clients build
/// https://<accountName>.blob.<storage endpoint>/<container>/….
json::object to_json(const model::Datastore& datastore, const model::Workspace& workspace,
                     const Addresses& addresses);

/// {"value": […], "nextLink": …?}.
json::object page(json::array values, const std::string& next_link = {});

/// ARM and YAML spellings: "uri_folder" <-> UriFolder, "ReadOnlyMount"/"ro_mount" <->
/// ReadOnlyMount. Both spellings are accepted when reading, in any case.
std::string_view to_arm(model::DataType type);
std::string_view to_arm(model::DataMode mode);
Result<model::DataType> data_type_from(std::string_view text);
Result<model::DataMode> data_mode_from(std::string_view text);
std::string_view to_yaml(model::DataMode mode);
/// Which of the two sides a mode belongs to.
Status check_input_mode(model::DataMode mode);
Status check_output_mode(model::DataMode mode);

}  // namespace berth::wire::arm
