// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/asset_commands.h"
#include "cli/given.h"
#include "cli/transfer/submit.h"
#include "cli/transfer/upload.h"
#include "wire/yaml/component.h"

namespace berth::cli {
namespace {

constexpr auto kKind = model::AssetKind::Component;

Result<int> create(Context& context) {
  Document document = TRY(load_document(context));
  for (const char* key : {"name", "version", "description"}) {
    if (context.arguments.has(key)) set_text(document.root, key, context.arguments.get(key));
  }
  TRY(set_tags(document.root, context.arguments.all("tags")));
  wire::yaml::ComponentFile file =
      TRY(wire::yaml::component_from_yaml(document.root, document.base_directory));
  json::object& spec = file.asset.body["componentSpec"].as_object();
  if (file.code) spec["code"] = "azureml:" + TRY(upload_code(context, file.code->path));
  if (file.environment.inline_) {
    spec["environment"] = "azureml:" + TRY(make_environment(context, file.environment));
  }
  return put_asset(context, std::move(file.asset));
}

Result<int> list(Context& context) { return list_assets(context, kKind); }
Result<int> show(Context& context) { return show_asset(context, kKind); }
Result<int> update(Context& context) { return update_asset(context, kKind); }
Result<int> archive(Context& context) { return archive_asset(context, kKind, true); }
Result<int> restore(Context& context) { return archive_asset(context, kKind, false); }

constexpr Flag kCreateFlags[] = {
    {"-f,--file", Takes::Value, "FILE", "its YAML file", true},
    {"-n,--name", Takes::Value, "NAME", "its name"},
    kAssetVersion,
    kAssetDescription,
    kAssetTags,
    {"--set", Takes::Several, "a.b=c", "change a key of the file"},
    {"--skip-validation", Takes::Nothing, "", "accepted; the file is always checked"},
    kAssetRegistry,
};

constexpr Command kCommands[] = {
    {.words = "component create",
     .summary = "Register a component, uploading its code",
     .details =
         R"(Command components; the steps of a pipeline are made of them. Without a version it gets the next
free one: 1, 2, …)",
     .examples = R"(  berth component create -f train.yml
  berth component create -f train.yml --set version=3)",
     .flags = kCreateFlags,
     .run = create},
    {.words = "component list",
     .summary = "List components, or the versions of one",
     .details = "",
     .examples = "  berth component list --query \"[?name=='train'].latest_version | [0]\" -o tsv",
     .flags = kAssetListFlags,
     .run = list},
    {.words = "component show",
     .summary = "Show a component",
     .details = "Without a version: the one made last.",
     .examples = "",
     .flags = kAssetShowFlags,
     .run = show},
    {.words = "component update",
     .summary = "Change description or tags of a component",
     .details = "",
     .examples = "",
     .flags = kAssetUpdateFlags,
     .run = update},
    {.words = "component archive",
     .summary = "Hide a component from lists",
     .details = "Without a version: all of it.",
     .examples = "",
     .flags = kAssetArchiveFlags,
     .run = archive},
    {.words = "component restore",
     .summary = "Show an archived component in lists again",
     .details = "",
     .examples = "",
     .flags = kAssetArchiveFlags,
     .run = restore},
};

}  // namespace

std::span<const Command> component_commands() { return kCommands; }

}  // namespace berth::cli
