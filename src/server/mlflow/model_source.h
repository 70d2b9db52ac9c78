// SPDX-License-Identifier: Apache-2.0
// Where a model's files are. Azure ML says it with a modelUri, MLflow with a source; either becomes
// an address on a datastore when the model is registered, so that both can fetch it later.
#pragma once

#include <string>

#include "base/result.h"
#include "model/assets/asset.h"
#include "server/door/call.h"

namespace berth::server {

struct ModelSource {
  std::string uri{};  ///< azureml://…/datastores/<d>/paths/<p>, or an address that is not ours.
  std::string run{};  ///< The job or run it came out of; empty when that cannot be told.
};

/// Reads a modelUri: a datastore's address stays as it is; a job's output, runs:/… and a URL of our
/// blob store become one. A job, run or output that is not there is an error.
Result<ModelSource> source_of_uri(const Call& call, const std::string& uri);

/// Reads what MLflow registers a version from: mlflow-artifacts:/…, runs:/…, models:/… (a logged
/// model or another version), azureml://…, or the address of a store that Berth does not have,
/// which stays as it is. A path of somebody's machine is refused.
Result<ModelSource> source_of_mlflow(const Call& call, const std::string& source);

/// What MLflow's clients are told to download a version from.
Result<std::string> download_uri(const model::Asset& version);

}  // namespace berth::server
