// SPDX-License-Identifier: Apache-2.0
#include "wire/mlflow/registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace berth::wire::mlflow {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 4> kStages = {"None", "Staging", "Production", "Archived"};
constexpr std::size_t kLongestAlias = 255;
constexpr std::size_t kLongestTagKey = 250;
constexpr std::size_t kLongestTagValue = 100'000;

std::int64_t milliseconds(WallTime time) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(time.time_since_epoch()).count();
}

json::array tag_list(const std::map<std::string, std::string>& tags) {
  json::array list;
  for (const auto& [key, value] : tags) list.push_back({{"key", key}, {"value", value}});
  return list;
}

std::string text_member(const json::object& body, std::string_view key) {
  const json::value* found = body.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : std::string();
}

WallTime modified(const model::AssetContainer& model) {
  return std::max(model.created_at, model.modified_at);
}

bool is_digit(char letter) { return letter >= '0' && letter <= '9'; }

bool is_alias_letter(char letter) {
  return is_digit(letter) || (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         letter == '_' || letter == '-';
}

}  // namespace

json::object to_json(const model::AssetContainer& model, const std::vector<model::Asset>& latest) {
  json::object object = {{"name", model.name},
                         {"creation_timestamp", milliseconds(model.created_at)},
                         {"last_updated_timestamp", milliseconds(modified(model))},
                         {"description", model.description},
                         {"tags", tag_list(model.tags)}};
  json::array versions;
  for (const model::Asset& version : latest) versions.push_back(to_json(version, model));
  object["latest_versions"] = std::move(versions);
  json::array aliases;
  for (const auto& [alias, version] : model.labels) {
    aliases.push_back({{"alias", alias}, {"version", version}});
  }
  object["aliases"] = std::move(aliases);
  return object;
}

json::object to_json(const model::Asset& version, const model::AssetContainer& model) {
  const std::string uri = text_member(version.body, "modelUri");
  json::object object = {{"name", version.name},
                         {"version", version.version},
                         {"creation_timestamp", milliseconds(version.created_at)},
                         {"last_updated_timestamp", milliseconds(version.modified_at)},
                         {"current_stage", stage_of(version)},
                         {"description", version.description},
                         {"source", version.origin.source.empty() ? uri : version.origin.source},
                         {"run_id", text_member(version.body, "jobName")},
                         {"status", "READY"},
                         {"tags", tag_list(version.tags)}};
  if (!version.origin.user.empty()) object["user_id"] = version.origin.user;
  if (!version.origin.run_link.empty()) object["run_link"] = version.origin.run_link;
  if (!version.origin.logged_model.empty()) object["model_id"] = version.origin.logged_model;
  json::array aliases;
  for (const auto& [alias, named] : model.labels) {
    if (named == version.version) aliases.emplace_back(alias);
  }
  object["aliases"] = std::move(aliases);
  return object;
}

std::string_view stage_of(const model::Asset& version) {
  const std::string stage = text_member(version.body, "stage");
  const Result<std::string_view> known = stage_from(stage);
  return known ? *known : kStages[0];
}

void set_stage(model::Asset& version, std::string_view stage) {
  if (stage == kStages[0]) {
    version.body.erase("stage");
  } else {
    version.body["stage"] = stage;
  }
}

Result<std::string_view> stage_from(std::string_view text) {
  const auto known = std::ranges::find_if(
      kStages, [&](std::string_view stage) { return equals_ignoring_case(stage, text); });
  if (known != kStages.end()) return *known;
  return fail(
      Code::InvalidArgument,
      fmt::format("no stage '{}'; there are {}", to_valid_utf8(text), fmt::join(kStages, ", ")),
      "stage");
}

Status check_registered_name(std::string_view name, std::string_view field) {
  if (name.empty()) {
    return fail(Code::InvalidArgument, fmt::format("'{}' is missing: a model has a name", field),
                std::string(field));
  }
  if (is_resource_name(name)) return Done{};
  return fail(
      Code::InvalidArgument,
      fmt::format("'{}' cannot be a model's name: it becomes part of an Azure ML address, so "
                  "it has 1 to 255 letters, digits, '-', '_' and '.', and begins with a "
                  "letter, a digit or '_'",
                  to_valid_utf8(name)),
      std::string(field));
}

Status check_alias(std::string_view alias) {
  const bool is_plain = !alias.empty() && std::ranges::all_of(alias, is_alias_letter);
  if (!is_plain || alias.size() > kLongestAlias) {
    return fail(Code::InvalidArgument,
                fmt::format("'{}' cannot be an alias: 1 to 255 letters, digits, '-' and '_'",
                            to_valid_utf8(alias)),
                "alias");
  }
  const bool is_version = alias.size() > 1 && (alias[0] == 'v' || alias[0] == 'V') &&
                          std::ranges::all_of(alias.substr(1), is_digit);
  if (equals_ignoring_case(alias, "latest") || is_version) {
    return fail(Code::InvalidArgument, fmt::format("the alias '{}' is reserved", alias), "alias");
  }
  return Done{};
}

Status check_registry_tag(std::string_view key, std::string_view value) {
  if (key.empty() || key.size() > kLongestTagKey) {
    return fail(Code::InvalidArgument, fmt::format("a tag's key has 1 to {} bytes", kLongestTagKey),
                "key");
  }
  if (value.size() > kLongestTagValue) {
    return fail(
        Code::InvalidArgument,
        fmt::format("the tag '{}' is longer than {} bytes", to_valid_utf8(key), kLongestTagValue),
        "value");
  }
  return Done{};
}

}  // namespace berth::wire::mlflow
