// SPDX-License-Identifier: Apache-2.0
// What MLflow takes: how names may look and how long things may be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/tracking.h"

namespace berth::wire::mlflow {

inline constexpr std::size_t kMostMetricsInBatch = 1000;
inline constexpr std::size_t kMostTextsInBatch = 100;
inline constexpr std::size_t kMostInBatch = 1000;
inline constexpr std::int64_t kMostResults = 50'000;

using Pairs = std::vector<std::pair<std::string, std::string>>;

// `path` is how the request calls it: "metrics[3].key". The characters are counted, not the bytes.

Status check_metric(const model::Metric& metric, const std::string& path);
Status check_param(std::string_view key, std::string_view value, const std::string& path);
Status check_tag(std::string_view key, std::string_view value, const std::string& path);
Status check_experiment_tag(std::string_view key, std::string_view value);
Status check_experiment_name(std::string_view name);
Status check_artifact_location(std::string_view location);
Status check_dataset(const model::Dataset& dataset, const std::string& path);
Status check_model_name(std::string_view name);

/// At most 1000 metrics, 100 parameters and 100 tags, 1000 in all.
Status check_batch(std::size_t metrics, std::size_t params, std::size_t tags);

/// `max_results`, within 1 and `most`.
Result<std::size_t> checked_page_size(std::int64_t asked, std::int64_t most);

}  // namespace berth::wire::mlflow
