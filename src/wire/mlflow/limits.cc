// SPDX-License-Identifier: Apache-2.0
#include "wire/mlflow/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace berth::wire::mlflow {
namespace {

constexpr std::size_t kLongestKey = 250;
constexpr std::size_t kLongestParam = 6000;
constexpr std::size_t kLongestTag = 8000;
constexpr std::size_t kLongestExperimentTag = 20'000;
constexpr std::size_t kLongestExperimentName = 500;
constexpr std::size_t kLongestLocation = 2048;

std::size_t characters(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count_if(
      text, [](char letter) { return (static_cast<unsigned char>(letter) & 0xc0) != 0x80; }));
}

tl::unexpected<Error> wrong(const std::string& path, const std::string& problem) {
  return fail(Code::InvalidArgument, fmt::format("'{}' {}", path, problem), path);
}

Status check_length(const std::string& path, std::string_view text, std::size_t most) {
  const std::size_t length = characters(text);
  if (length <= most) return Done{};
  return wrong(path, fmt::format("has {} characters, at most {} are allowed", length, most));
}

/// Letters are those of any language: bytes beyond ASCII are taken for some.
bool is_key_letter(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte >= 0x80 || (byte >= '0' && byte <= '9') || (byte >= 'a' && byte <= 'z') ||
         (byte >= 'A' && byte <= 'Z') ||
         std::string_view("/_.- :").find(letter) != std::string_view::npos;
}

/// Keys were files once, and still may not lead elsewhere when they are taken for paths.
bool leads_elsewhere(std::string_view key) {
  const auto parts = split(key, '/');
  return std::ranges::any_of(
      parts, [](std::string_view part) { return part.empty() || part == "." || part == ".."; });
}

Status check_key(const std::string& path, std::string_view key) {
  if (!is_valid_utf8(key) || !std::ranges::all_of(key, is_key_letter)) {
    return wrong(path, fmt::format("is '{}': a name has letters, digits, '_', '-', '.', ' ', ':' "
                                   "and '/' only",
                                   to_valid_utf8(key)));
  }
  if (leads_elsewhere(key)) {
    return wrong(path,
                 fmt::format("is '{}': between its slashes a name is not empty, '.' or '..'", key));
  }
  return check_length(path, key, kLongestKey);
}

}  // namespace

Status check_metric(const model::Metric& metric, const std::string& path) {
  return check_key(path + "key", metric.key);
}

Status check_param(std::string_view key, std::string_view value, const std::string& path) {
  TRY(check_key(path + "key", key));
  return check_length(path + "value", value, kLongestParam);
}

Status check_tag(std::string_view key, std::string_view value, const std::string& path) {
  TRY(check_key(path + "key", key));
  return check_length(path + "value", value, kLongestTag);
}

Status check_experiment_tag(std::string_view key, std::string_view value) {
  TRY(check_key("key", key));
  return check_length("value", value, kLongestExperimentTag);
}

Status check_experiment_name(std::string_view name) {
  if (name.empty()) return wrong("name", "is missing: a value is required");
  return check_length("name", name, kLongestExperimentName);
}

Status check_artifact_location(std::string_view location) {
  if (location.starts_with("runs:")) {
    return wrong("artifact_location", "is a runs:/ address, which is not a place of its own");
  }
  if (location.find_first_of("?#") != std::string_view::npos) {
    return wrong("artifact_location", "has a query or a fragment");
  }
  return check_length("artifact_location", location, kLongestLocation);
}

Status check_dataset(const model::Dataset& dataset, const std::string& path) {
  TRY(check_length(path + "dataset.name", dataset.name, 500));
  TRY(check_length(path + "dataset.digest", dataset.digest, 36));
  TRY(check_length(path + "dataset.source", dataset.source, 65'535));
  TRY(check_length(path + "dataset.schema", dataset.schema, 1'048'575));
  TRY(check_length(path + "dataset.profile", dataset.profile, 16'777'215));
  for (const auto& [key, value] : dataset.tags) {
    TRY(check_length(path + "tags.key", key, 255));
    TRY(check_length(path + "tags.value", value, 500));
  }
  return Done{};
}

Status check_model_name(std::string_view name) {
  if (name.find_first_of("/:.%\"'") == std::string_view::npos) return Done{};
  return wrong("name", fmt::format("is '{}': a model's name has no '/', ':', '.', '%', '\"' or ''' "
                                   "in it",
                                   to_valid_utf8(name)));
}

Status check_batch(std::size_t metrics, std::size_t params, std::size_t tags) {
  const auto check = [](const char* what, std::size_t count, std::size_t most) -> Status {
    if (count <= most) return Done{};
    return wrong(what, fmt::format("has {} entries: at most {} are taken at once", count, most));
  };
  TRY(check("metrics", metrics, kMostMetricsInBatch));
  TRY(check("params", params, kMostTextsInBatch));
  TRY(check("tags", tags, kMostTextsInBatch));
  return check("metrics, params and tags", metrics + params + tags, kMostInBatch);
}

Result<std::size_t> checked_page_size(std::int64_t asked, std::int64_t most) {
  if (asked >= 1 && asked <= most) return static_cast<std::size_t>(asked);
  return wrong("max_results", fmt::format("is {}: it must be from 1 to {}", asked, most));
}

}  // namespace berth::wire::mlflow
