// SPDX-License-Identifier: Apache-2.0
// MLflow's search language: "metrics.loss < 0.1 AND params.`batch size` = '32'", "start_time DESC".
#pragma once

#include <string_view>

#include "base/result.h"
#include "model/filter.h"

namespace berth::wire::mlflow {

/// What is searched: each has its own attributes, and words for them.
enum class Subject { Runs, Experiments, RegisteredModels, ModelVersions, LoggedModels };

/// Reads a filter. What MLflow takes is taken, with the same meaning: AND is the only connective,
/// keys are quoted by backticks or double quotes, operators and AND are in any case, everything
/// else is not. An error is InvalidArgument and says where: "invalid filter at character 12: …".
///
/// Keys of attributes come out under one name each:
///   runs: run_id, run_name, user_id, status, start_time, end_time, artifact_uri
///   experiments: experiment_id, name, creation_time, last_update_time
///   registered models: name
///   model versions: name, version_number, run_id, source_path
///   logged models: name, model_id, model_type, status, source_run_id, experiment_id,
///                  creation_timestamp, last_updated_timestamp
Result<model::Filter> parse_filter(Subject subject, std::string_view text);

/// Reads one clause of an order: "metrics.loss DESC". What can be ordered by is what can be
/// searched for; registered models and versions have creation_timestamp and last_updated_timestamp
/// besides. Of logged models, attributes and metrics.
Result<model::Ordering> parse_order(Subject subject, std::string_view text);

}  // namespace berth::wire::mlflow
