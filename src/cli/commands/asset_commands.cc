// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/asset_commands.h"

#include "base/text.h"
#include "cli/given.h"
#include "wire/arm/resource.h"
#include "wire/yaml/asset.h"

namespace berth::cli {
namespace {

using model::AssetKind;

constexpr Column kContainerColumns[] = {
    {"Name", "name"}, {"Latest version", "latest_version"}, {"Description", "description"}};
constexpr Column kVersionColumns[] = {{"Name", "name"},
                                      {"Version", "version"},
                                      {"Type", "type"},
                                      {"Path", "path"},
                                      {"Created", "creation_context.created_at"}};
constexpr Column kSummary[] = {{"Name", "name"},
                               {"Version", "version"},
                               {"Latest version", "latest_version"},
                               {"Type", "type"},
                               {"Display name", "display_name"},
                               {"Command", "command"},
                               {"Environment", "environment"},
                               {"Path", "path"},
                               {"Image", "image"},
                               {"Build", "build.path"},
                               {"Description", "description"},
                               {"Tags", "tags"},
                               {"Created", "creation_context.created_at"}};

std::string_view noun(AssetKind kind) {
  switch (kind) {
    case AssetKind::Environment: return "environment";
    case AssetKind::Component: return "component";
    case AssetKind::Code: return "code";
    case AssetKind::Model: return "model";
    case AssetKind::Data: break;
  }
  return "data asset";
}

std::string collection_path(const Context& context, AssetKind kind, const std::string& below = {}) {
  return context.client.workspace_path(fmt::format("/{}{}", model::to_collection(kind), below));
}

std::string version_path(const Context& context, AssetKind kind, const std::string& name,
                         const std::string& version) {
  return collection_path(context, kind, fmt::format("/{}/versions/{}", name, version));
}

std::string text_at(const json::object& resource, std::string_view key) {
  const json::value* found = resource.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

Result<std::string> next_version(Context& context, AssetKind kind, const std::string& name) {
  const auto container = context.client.get(collection_path(context, kind, "/" + name));
  if (!container && container.error().code == Code::NotFound) return std::string("1");
  if (!container) return fail(container.error());
  const json::value* properties = container->if_contains("properties");
  const bool has_properties = properties != nullptr && properties->is_object();
  const std::string next = has_properties ? text_at(properties->get_object(), "nextVersion") : "";
  return next.empty() ? "1" : next;
}

Result<json::object> latest_version(Context& context, AssetKind kind, const std::string& name) {
  // listViewType=All: an archived version may still be asked for by name.
  const json::array found = TRY(context.client.list(
      collection_path(context, kind,
                      "/" + name + "/versions?$orderBy=createdtime%20desc&$top=1&listViewType=All"),
      1));
  if (found.empty() || !found[0].is_object()) {
    return fail(Code::NotFound, fmt::format("no {} '{}'", noun(kind), name));
  }
  return found[0].get_object();
}

/// Only models have labels beside 'latest': those that MLflow calls aliases.
Result<std::string> labelled_version(Context& context, AssetKind kind, const std::string& name,
                                     const std::string& label) {
  const json::object container =
      TRY(context.client.get(collection_path(context, kind, "/" + name)));
  const json::value* properties = container.if_contains("properties");
  const json::value* labels =
      properties == nullptr ? nullptr : properties->as_object().if_contains("labels");
  const std::string version =
      labels != nullptr && labels->is_object() ? text_at(labels->get_object(), label) : "";
  if (!version.empty()) return version;
  return fail(Code::NotFound, fmt::format("{} '{}' has no label '{}'", noun(kind), name, label));
}

json::value member_or_empty(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_object() ? *found : json::value(json::object());
}

Result<std::string> text_or_empty(const wire::yaml::Node& root, std::string_view key) {
  const wire::yaml::Node* found = root.find(key);
  if (found == nullptr || found->kind == wire::yaml::Node::Kind::Null) return std::string();
  return wire::yaml::as_text(*found, key);
}

/// What may change of a version: its description and tags, and a model's stage; anything else needs
/// a new version.
Status change(const Context& context, AssetKind kind, json::object& properties) {
  json::object changeable = {{"description", text_at(properties, "description")},
                             {"tags", member_or_empty(properties, "tags")}};
  const bool has_stage = kind == AssetKind::Model;
  if (has_stage) changeable["stage"] = text_at(properties, "stage");
  const wire::yaml::Node root = TRY(edited(context, changeable));
  properties["description"] = TRY(text_or_empty(root, "description"));
  if (has_stage) properties["stage"] = TRY(text_or_empty(root, "stage"));
  for (const char* key : {"description", "stage"}) {
    if (context.arguments.has(key)) properties[key] = context.arguments.get(key);
  }
  json::object tags;
  if (const wire::yaml::Node* given = root.find("tags")) {
    for (const auto& [key, value] : TRY(wire::yaml::as_text_map(*given, "tags"))) tags[key] = value;
  }
  properties["tags"] = std::move(tags);
  return Done{};
}

}  // namespace

Result<json::object> chosen_asset(Context& context, AssetKind kind) {
  const std::string name = TRY(required_name(context, noun(kind)));
  std::string version = context.arguments.get("version");
  const std::string label = context.arguments.get("label", "latest");
  if (version.empty() && !equals_ignoring_case(label, "latest")) {
    version = TRY(labelled_version(context, kind, name, label));
  }
  if (version.empty()) return latest_version(context, kind, name);
  TRY(check_name(version, "version"));
  return context.client.get(version_path(context, kind, name, version));
}

Result<int> put_asset(Context& context, model::Asset asset) {
  TRY(check_name(asset.name, noun(asset.kind)));
  const bool is_numbered = asset.version.empty();
  constexpr int kTries = 3;
  for (int tries = 1;; ++tries) {
    if (is_numbered) asset.version = TRY(next_version(context, asset.kind, asset.name));
    const json::object resource = wire::arm::to_json(asset, context.client.workspace());
    const auto made =
        context.client.put(version_path(context, asset.kind, asset.name, asset.version),
                           {{"properties", resource.at("properties")}});
    const bool was_taken = !made && made.error().code == Code::Conflict;
    if (was_taken && is_numbered && tries < kTries) continue;
    if (!made) return fail(made.error());
    TRY(context.print({.value = wire::yaml::asset_view(asset.kind, *made), .columns = kSummary}));
    return 0;
  }
}

Result<int> list_assets(Context& context, AssetKind kind) {
  const std::size_t most = TRY(most_results(context));
  const std::string name = context.arguments.get("name");
  if (!name.empty()) TRY(check_name(name, noun(kind)));
  const std::string below = name.empty() ? "?" : "/" + name + "/versions?";
  const json::array found =
      TRY(context.client.list(collection_path(context, kind, below + view_query(context)), most));
  json::array views;
  for (const json::value& resource : found) {
    if (resource.is_object()) views.push_back(wire::yaml::asset_view(kind, resource.get_object()));
  }
  const std::span<const Column> columns =
      name.empty() ? std::span<const Column>(kContainerColumns) : kVersionColumns;
  TRY(context.print({.value = std::move(views), .columns = columns}));
  return 0;
}

Result<int> show_asset(Context& context, AssetKind kind) {
  const json::object resource = TRY(chosen_asset(context, kind));
  TRY(context.print({.value = wire::yaml::asset_view(kind, resource), .columns = kSummary}));
  return 0;
}

Result<int> update_asset(Context& context, AssetKind kind) {
  const bool has_flags = context.arguments.has("stage") || context.arguments.has("description");
  if (!has_edits(context) && !has_flags) {
    return wrong_usage(context, "nothing to change: --set key=value");
  }
  json::object resource = TRY(chosen_asset(context, kind));
  json::object& properties = resource.at("properties").as_object();
  TRY(change(context, kind, properties));
  const json::object changed =
      TRY(context.client.put(text_at(resource, "id"), {{"properties", properties}}));
  TRY(context.print({.value = wire::yaml::asset_view(kind, changed), .columns = kSummary}));
  return 0;
}

Result<int> archive_asset(Context& context, AssetKind kind, bool archived) {
  const std::string name = TRY(required_name(context, noun(kind)));
  const bool one_version = context.arguments.has("version") || context.arguments.has("label");
  json::object resource = one_version
                              ? TRY(chosen_asset(context, kind))
                              : TRY(context.client.get(collection_path(context, kind, "/" + name)));
  json::object& properties = resource.at("properties").as_object();
  properties["isArchived"] = archived;
  TRY(context.client.put(text_at(resource, "id"), {{"properties", properties}}));
  return 0;
}

}  // namespace berth::cli
