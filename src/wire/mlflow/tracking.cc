// SPDX-License-Identifier: Apache-2.0
#include "wire/mlflow/tracking.h"

#include <cmath>

#include "base/record.h"
#include "base/text.h"

namespace berth::wire::mlflow {
namespace {

/// Deeper than any list is read.
constexpr std::int64_t kLargestOffset = 10'000'000;

json::array to_pairs(const model::TagMap& map) {
  json::array pairs;
  for (const auto& [key, value] : map)
    pairs.push_back(json::object{{"key", key}, {"value", value}});
  return pairs;
}

std::string_view stage_of(bool is_deleted) { return is_deleted ? "deleted" : "active"; }

std::int64_t milliseconds(WallTime time) { return time.time_since_epoch().count(); }

json::object to_json(const model::Dataset& dataset) {
  json::object inner = {{"name", dataset.name},
                        {"digest", dataset.digest},
                        {"source_type", dataset.source_type},
                        {"source", dataset.source}};
  if (!dataset.schema.empty()) inner["schema"] = dataset.schema;
  if (!dataset.profile.empty()) inner["profile"] = dataset.profile;
  return {{"tags", to_pairs(dataset.tags)}, {"dataset", std::move(inner)}};
}

tl::unexpected<Error> bad_token() {
  return fail(Code::InvalidArgument, "'page_token' is not one that this server gave out",
              "page_token");
}

Result<json::value> decoded(std::string_view token) {
  const Result<std::string> text = from_base64(token);
  if (!text) return bad_token();
  Result<json::value> value = record::parse(*text);
  if (!value) return bad_token();
  return value;
}

}  // namespace

json::value number_to_json(double number) {
  if (std::isnan(number)) return "NaN";
  if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
  return number;
}

json::object to_json(const model::Experiment& experiment) {
  return {{"experiment_id", experiment.id},
          {"name", experiment.name},
          {"artifact_location", model::artifact_uri(experiment)},
          {"lifecycle_stage", stage_of(experiment.is_deleted)},
          {"creation_time", milliseconds(experiment.created_at)},
          {"last_update_time", milliseconds(experiment.updated_at)},
          {"tags", to_pairs(experiment.tags)}};
}

json::object to_json(const model::Run& run) {
  json::object info = {{"run_id", run.key.name},
                       {"run_uuid", run.key.name},
                       {"run_name", run.name},
                       {"experiment_id", run.experiment},
                       {"user_id", run.user},
                       {"status", model::text_of(run.status)},
                       {"start_time", milliseconds(run.started_at)},
                       {"artifact_uri", model::artifact_uri(run)},
                       {"lifecycle_stage", stage_of(run.is_deleted)}};
  if (run.ended_at) info["end_time"] = milliseconds(*run.ended_at);
  return info;
}

json::object to_json(const model::Metric& metric) {
  json::object object = {{"key", metric.key},
                         {"value", number_to_json(metric.value)},
                         {"timestamp", metric.timestamp},
                         {"step", metric.step}};
  const std::pair<const char*, const std::string&> more[] = {
      {"model_id", metric.model_id},
      {"dataset_name", metric.dataset_name},
      {"dataset_digest", metric.dataset_digest},
      {"run_id", metric.run_id}};
  for (const auto& [key, value] : more) {
    if (!value.empty()) object[key] = value;
  }
  return object;
}

json::object to_json(const model::LoggedRun& logged) {
  json::array metrics;
  for (const model::Metric& metric : logged.metrics) metrics.push_back(to_json(metric));
  json::array datasets;
  for (const model::Dataset& dataset : logged.datasets) datasets.push_back(to_json(dataset));
  json::array inputs;
  for (const std::string& model : logged.model_inputs)
    inputs.push_back(json::object{{"model_id", model}});
  json::array outputs;
  for (const model::ModelOutput& output : logged.model_outputs) {
    outputs.push_back(json::object{{"model_id", output.model_id}, {"step", output.step}});
  }
  return {
      {"info", to_json(logged.run)},
      {"data",
       {{"metrics", std::move(metrics)},
        {"params", to_pairs(logged.params)},
        {"tags", to_pairs(logged.tags)}}},
      {"inputs", {{"dataset_inputs", std::move(datasets)}, {"model_inputs", std::move(inputs)}}},
      {"outputs", {{"model_outputs", std::move(outputs)}}}};
}

json::object to_json(const model::LoggedModel& model) {
  json::array metrics;
  for (const model::Metric& metric : model.metrics) metrics.push_back(to_json(metric));
  json::object info = {{"model_id", model.id},
                       {"experiment_id", model.experiment},
                       {"name", model.name},
                       {"creation_timestamp_ms", milliseconds(model.created_at)},
                       {"last_updated_timestamp_ms", milliseconds(model.updated_at)},
                       {"artifact_uri", model::artifact_uri(model)},
                       {"status", model::text_of(model.status)},
                       {"model_type", model.type},
                       {"source_run_id", model.source_run},
                       {"status_message", model.status_message},
                       {"tags", to_pairs(model.tags)}};
  return {{"info", std::move(info)},
          {"data", {{"params", to_pairs(model.params)}, {"metrics", std::move(metrics)}}}};
}

std::string token_of_offset(std::size_t offset) {
  return to_base64(json::serialize(json::object{{"offset", offset}}));
}

Result<std::size_t> offset_of_token(std::string_view token) {
  if (token.empty()) return 0;
  const json::value value = TRY(decoded(token));
  const json::value* offset =
      value.is_object() ? value.get_object().if_contains("offset") : nullptr;
  if (offset == nullptr || !offset->is_int64()) return bad_token();
  if (offset->get_int64() < 0 || offset->get_int64() > kLargestOffset) return bad_token();
  return static_cast<std::size_t>(offset->get_int64());
}

std::string token_of_point(const model::Metric& last) {
  return to_base64(json::serialize(json::object{
      {"timestamp", last.timestamp}, {"step", last.step}, {"value", number_to_json(last.value)}}));
}

Result<model::Metric> point_of_token(std::string_view token) {
  const json::value value = TRY(decoded(token));
  if (!value.is_object()) return bad_token();
  const json::object& object = value.get_object();
  const json::value* timestamp = object.if_contains("timestamp");
  const json::value* step = object.if_contains("step");
  const json::value* number = object.if_contains("value");
  const bool has_all = timestamp != nullptr && timestamp->is_int64() && step != nullptr &&
                       step->is_int64() && number != nullptr;
  if (!has_all) return bad_token();
  model::Metric point{.timestamp = timestamp->get_int64(), .step = step->get_int64()};
  if (number->is_double()) {
    point.value = number->get_double();
  } else if (number->is_string()) {
    const std::string_view word = number->get_string();
    point.value = word == "NaN"         ? std::nan("")
                  : word == "Infinity"  ? HUGE_VAL
                  : word == "-Infinity" ? -HUGE_VAL
                                        : 0;
  } else {
    return bad_token();
  }
  return point;
}

}  // namespace berth::wire::mlflow
