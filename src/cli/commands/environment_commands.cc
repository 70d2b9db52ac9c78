// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/asset_commands.h"
#include "cli/given.h"
#include "cli/transfer/upload.h"
#include "wire/yaml/asset.h"

namespace berth::cli {
namespace {

constexpr auto kKind = model::AssetKind::Environment;

/// -b and -d make the file's `build`.
void set_build(const Context& context, wire::yaml::Node& root) {
  if (!context.arguments.has("build-context")) return;
  wire::yaml::Node build;
  build.kind = wire::yaml::Node::Kind::Mapping;
  set_text(build, "path", context.place.absolute(context.arguments.get("build-context")));
  if (context.arguments.has("dockerfile-path")) {
    std::string path = context.arguments.get("dockerfile-path");
    while (path.starts_with('/')) path.erase(0, 1);  // az's default is "/Dockerfile".
    set_text(build, "dockerfile_path", path);
  }
  std::erase_if(root.members, [](const auto& member) { return member.first == "build"; });
  root.members.emplace_back("build", std::move(build));
  root.key_marks.resize(root.members.size());
}

Result<int> create(Context& context) {
  Document document = TRY(load_document(context));
  for (const char* key : {"name", "version", "image", "description", "datastore"}) {
    if (context.arguments.has(key)) set_text(document.root, key, context.arguments.get(key));
  }
  if (context.arguments.has("os-type")) {
    set_text(document.root, "os_type", context.arguments.get("os-type"));
  }
  if (context.arguments.has("conda-file")) {
    set_text(document.root, "conda_file",
             context.place.absolute(context.arguments.get("conda-file")));
  }
  set_build(context, document.root);
  TRY(set_tags(document.root, context.arguments.all("tags")));
  wire::yaml::EnvironmentFile file =
      TRY(wire::yaml::environment_from_yaml(document.root, document.base_directory));
  if (file.asset.name.empty()) return wrong_usage(context, "the environment needs a name: -n NAME");
  if (file.build_context) {
    file.asset.body["build"].as_object()["contextUri"] =
        TRY(upload_data(context, file.build_context->path));
  }
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
    {"-i,--image", Takes::Value, "IMAGE", "a container image"},
    {"-c,--conda-file", Takes::Value, "FILE", "a conda file, on top of the image"},
    {"-b,--build-context", Takes::Value, "FOLDER", "a folder with a Dockerfile"},
    {"-d,--dockerfile-path", Takes::Value, "PATH", "the Dockerfile in it"},
    {"--os-type", Takes::Value, "TYPE", "linux (default) or windows"},
    kAssetDescription,
    kAssetTags,
    {"--set", Takes::Several, "a.b=c", "change a key of the file"},
    {"--datastore", Takes::Value, "NAME", "where to upload to: workspaceblobstore"},
    kAssetRegistry,
};

constexpr Command kCommands[] = {
    {.words = "environment create",
     .summary = "Register an environment",
     .details =
         R"(Environments are recorded; jobs on 'local' run with the programs of this machine for now.
Without a version it gets the next free one.)",
     .examples = "  berth environment create -n plain -i docker.io/library/python:3.11",
     .flags = kCreateFlags,
     .run = create},
    {.words = "environment list",
     .summary = "List environments, or the versions of one",
     .details = "",
     .examples = "",
     .flags = kAssetListFlags,
     .run = list},
    {.words = "environment show",
     .summary = "Show an environment",
     .details = "Without a version: the one made last.",
     .examples = "",
     .flags = kAssetShowFlags,
     .run = show},
    {.words = "environment update",
     .summary = "Change description or tags of an environment",
     .details = "",
     .examples = "",
     .flags = kAssetUpdateFlags,
     .run = update},
    {.words = "environment archive",
     .summary = "Hide an environment from lists",
     .details = "Without a version: all of it.",
     .examples = "",
     .flags = kAssetArchiveFlags,
     .run = archive},
    {.words = "environment restore",
     .summary = "Show an archived environment in lists again",
     .details = "",
     .examples = "",
     .flags = kAssetArchiveFlags,
     .run = restore},
};

}  // namespace

std::span<const Command> environment_commands() { return kCommands; }

}  // namespace berth::cli
