// SPDX-License-Identifier: Apache-2.0
// Data and workspace files.
#include "wire/yaml/asset.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>

#include "base/text.h"
#include "model/assets/reference.h"
#include "wire/yaml/entity.h"

namespace berth::wire::yaml {
namespace {

constexpr std::array<std::string_view, 10> kDataKeys = {
    "$schema", "name",        "version",    "type",      "path",
    "tags",    "description", "properties", "datastore", "auto_delete_setting"};
constexpr std::array<std::string_view, 5> kDataReadOnly = {
    "id", "creation_context", "resourceGroup", "latest_version", "referenced_uris"};
constexpr std::array<std::string_view, 3> kDataTypes = {"uri_file", "uri_folder", "mltable"};

constexpr std::array<std::string_view, 8> kWorkspaceKeys = {
    "$schema",  "name",           "display_name", "description",
    "location", "resource_group", "tags",         "job_access"};
constexpr std::array<std::string_view, 3> kJobAccess = {"own", "read", "write"};
/// Azure's own switches: they say how Azure is to build a workspace, and mean nothing here.
constexpr std::array<std::string_view, 25> kWorkspaceIgnored = {"id",
                                                                "type",
                                                                "kind",
                                                                "resourceGroup",
                                                                "creation_context",
                                                                "discovery_url",
                                                                "mlflow_tracking_uri",
                                                                "storage_account",
                                                                "key_vault",
                                                                "container_registry",
                                                                "application_insights",
                                                                "image_build_compute",
                                                                "public_network_access",
                                                                "managed_network",
                                                                "serverless_compute",
                                                                "identity",
                                                                "primary_user_assigned_identity",
                                                                "system_datastores_auth_mode",
                                                                "hbi_workspace",
                                                                "customer_managed_key",
                                                                "enable_data_isolation",
                                                                "allow_roleassignment_on_rg",
                                                                "provision_network_now",
                                                                "hub_id",
                                                                "workspace_id"};

Status check_kind_of_path(const LocalPath& local, std::string_view type) {
  std::error_code failed;
  const bool is_folder = std::filesystem::is_directory(local.path, failed);
  if (is_folder == (type != "uri_file")) return Done{};
  return error_at(local.mark, fmt::format("'{}' is a {}, but 'type' is {}", local.path,
                                          is_folder ? "folder" : "file", type));
}

Status read_place(const Node& path, const std::string& base_directory, std::string_view type,
                  DataFile& file) {
  const std::string text = TRY(as_text(path, "path"));
  if (!is_address(text)) {
    file.local = TRY(find_local(path, "path", base_directory));
    return check_kind_of_path(*file.local, type);
  }
  const Result<model::DataRef> reference = model::parse_data_ref(text);
  if (!reference) return at(path.mark, reference.error());
  if (std::holds_alternative<model::AssetRef>(*reference)) {
    return error_at(path.mark, "'path' is another asset; give the place it lies at");
  }
  file.asset.body["dataUri"] = text;
  return Done{};
}

}  // namespace

Result<DataFile> data_from_yaml(const Node& root, const std::string& base_directory) {
  TRY(check_mapping(root, "the file"));
  TRY(check_keys(root, "a data asset", kDataKeys, kDataReadOnly));
  DataFile file;
  file.asset.kind = model::AssetKind::Data;
  TRY(read_labels(root, file.asset));
  if (file.asset.name.empty()) return error_at(root.mark, "a data asset needs a 'name'");
  const std::string type = TRY(choice_member(root, "type", kDataTypes));
  file.asset.body["dataType"] = type.empty() ? "uri_folder" : type;
  TRY(check_datastore(root));
  const Node* path = root.find("path");
  if (path == nullptr) return error_at(root.mark, "a data asset needs a 'path'");
  TRY(read_place(*path, base_directory, file.asset.body["dataType"].as_string(), file));
  return file;
}

Result<model::Workspace> workspace_from_yaml(const Node& root) {
  TRY(check_mapping(root, "the file"));
  TRY(check_keys(root, "a workspace", kWorkspaceKeys, kWorkspaceIgnored));
  model::Workspace workspace;
  workspace.name = TRY(text_member(root, "name"));
  if (!is_resource_name(workspace.name)) {
    const Node* name = root.find("name");
    if (name == nullptr) return error_at(root.mark, "a workspace needs a 'name'");
    return error_at(name->mark, fmt::format("'{}' is not a valid name", workspace.name));
  }
  workspace.display_name = TRY(text_member(root, "display_name"));
  workspace.description = TRY(text_member(root, "description"));
  const std::string location = TRY(text_member(root, "location"));
  if (!location.empty()) workspace.location = location;
  const std::string group = TRY(text_member(root, "resource_group"));
  if (!group.empty()) workspace.resource_group = group;
  if (const Node* tags = root.find("tags")) workspace.tags = TRY(as_text_map(*tags, "tags"));
  const std::string access = TRY(choice_member(root, "job_access", kJobAccess));
  if (access == "read") workspace.job_access = model::JobAccess::Read;
  if (access == "write") workspace.job_access = model::JobAccess::Write;
  return workspace;
}

}  // namespace berth::wire::yaml
