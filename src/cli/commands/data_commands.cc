// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/asset_commands.h"
#include "cli/given.h"
#include "cli/transfer/upload.h"
#include "wire/yaml/asset.h"

namespace berth::cli {
namespace {

constexpr auto kKind = model::AssetKind::Data;

/// A path on the command line is seen from here, not from the file's folder.
std::string path_from_here(const Context& context, const std::string& path) {
  const bool is_address = path.find("://") != std::string::npos || path.starts_with("azureml:");
  return is_address ? path : context.place.absolute(path);
}

Result<int> create(Context& context) {
  Document document = TRY(load_document(context));
  for (const char* key : {"name", "version", "type", "description", "datastore"}) {
    if (context.arguments.has(key)) set_text(document.root, key, context.arguments.get(key));
  }
  if (context.arguments.has("path")) {
    set_text(document.root, "path", path_from_here(context, context.arguments.get("path")));
  }
  TRY(set_tags(document.root, context.arguments.all("tags")));
  wire::yaml::DataFile file =
      TRY(wire::yaml::data_from_yaml(document.root, document.base_directory));
  if (file.asset.name.empty()) return wrong_usage(context, "the data needs a name: -n NAME");
  if (file.local) file.asset.body["dataUri"] = TRY(upload_data(context, file.local->path));
  return put_asset(context, std::move(file.asset));
}

Result<int> list(Context& context) { return list_assets(context, kKind); }
Result<int> show(Context& context) { return show_asset(context, kKind); }
Result<int> update(Context& context) { return update_asset(context, kKind); }
Result<int> archive(Context& context) { return archive_asset(context, kKind, true); }
Result<int> restore(Context& context) { return archive_asset(context, kKind, false); }

constexpr Flag kCreateFlags[] = {
    {"-f,--file", Takes::Value, "FILE", "its YAML file"},
    {"-n,--name", Takes::Value, "NAME", "its name"},
    kAssetVersion,
    {"-p,--path", Takes::Value, "PATH", "a file or folder here, an azureml:// or https:// address"},
    {"-t,--type", Takes::Value, "TYPE", "uri_folder (default), uri_file or mltable"},
    kAssetDescription,
    kAssetTags,
    {"--set", Takes::Several, "a.b=c", "change a key of the file"},
    {"--datastore", Takes::Value, "NAME", "where to upload to: workspaceblobstore"},
    kAssetRegistry,
    {"--skip-validation", Takes::Nothing, "", "accepted; the file is always checked"},
};

constexpr Command kCommands[] = {
    {.words = "data create",
     .summary = "Register data, uploading it if it is local",
     .details = "Without a version it gets the next free one: 1, 2, …",
     .examples = R"(  berth data create -n rows -t uri_file -p rows.csv
  berth data create -f data.yml --set version=3)",
     .flags = kCreateFlags,
     .run = create},
    {.words = "data list",
     .summary = "List data assets, or the versions of one",
     .details = "",
     .examples = "",
     .flags = kAssetListFlags,
     .run = list},
    {.words = "data show",
     .summary = "Show a data asset",
     .details = "Without a version: the one made last.",
     .examples = "  berth data show -n rows -v 1",
     .flags = kAssetShowFlags,
     .run = show},
    {.words = "data update",
     .summary = "Change description or tags of a data asset",
     .details = "",
     .examples = "",
     .flags = kAssetUpdateFlags,
     .run = update},
    {.words = "data archive",
     .summary = "Hide a data asset from lists",
     .details = "Without a version: all of it. Jobs that name it can still use it.",
     .examples = "",
     .flags = kAssetArchiveFlags,
     .run = archive},
    {.words = "data restore",
     .summary = "Show an archived data asset in lists again",
     .details = "",
     .examples = "",
     .flags = kAssetArchiveFlags,
     .run = restore},
};

}  // namespace

std::span<const Command> data_commands() { return kCommands; }

}  // namespace berth::cli
