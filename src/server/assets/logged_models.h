// SPDX-License-Identifier: Apache-2.0
// Where MLflow 3 keeps the models that a run logs: beside the run, not among its artifacts.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/tracking.h"
#include "store/tracking.h"

namespace berth::server {

/// The models that the run logged, newest first; of one name only, unless that is empty.
Result<std::vector<model::LoggedModel>> logged_models_of(store::Tracking& tracking,
                                                         const model::RunKey& run,
                                                         const std::string& name,
                                                         std::size_t limit);

/// Where "model/data" of the run is, when its newest logged model "model" has the file: a path in
/// the artifact store. Nothing: the run logged no such model, or keeps it elsewhere.
Result<std::optional<std::string>> path_of_logged_model(store::Tracking& tracking,
                                                        const model::RunKey& run,
                                                        const std::string& artifact);

}  // namespace berth::server
