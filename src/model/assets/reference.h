// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "model/assets/asset.h"

namespace berth::model {

/// azureml:<name>:<version>, azureml:<name>@latest, azureml:<name>, or the ARM id of a version.
struct AssetRef {
  std::string name{};
  std::string version{};  ///< Empty with a label, or when none was given.
  std::string label{};    ///< "latest", one of a model's own, or empty.
};

/// azureml://datastores/<d>/paths/<p>, short or long form. `path` is relative, has no "." or "..".
struct DatastorePath {
  std::string datastore{};
  std::string path{};
};

/// azureml://jobs/<job>/outputs/<output>/paths/<p>; output "artifacts" is the artifact folder.
struct JobOutputRef {
  std::string job{};
  std::string output{};
  std::string path{};
};

/// http:// or https://, fetched by the node.
struct WebAddress {
  std::string url{};
};

using DataRef = std::variant<AssetRef, DatastorePath, JobOutputRef, WebAddress>;

/// Reads what may stand in an input's `uri`. A local path is not one of them (the client uploads
/// those first) and is refused with a message that says so.
Result<DataRef> parse_data_ref(std::string_view text);

/// Reads a reference to a versioned asset of the given kind: azureml:<name>[:<version>|@<label>],
/// or an ARM id with or without "azureml:" in front. Registry ids are refused as not supported.
Result<AssetRef> parse_asset_ref(AssetKind kind, std::string_view text);

/// "azureml:cpu-cluster", a full ARM id or a bare name -> "cpu-cluster". "serverless" is the
/// workspace's default compute, which we write as the empty name.
Result<std::string> parse_compute_ref(std::string_view text);

/// Joins path segments of a blob name after refusing "", ".", "..", NUL, '\\' and control
/// characters in any of them. A trailing '/' is kept.
Result<std::string> checked_blob_path(std::string_view path);

}  // namespace berth::model
