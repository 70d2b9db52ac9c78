// SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include "base/text.h"
#include "cli/commands/asset_commands.h"
#include "cli/given.h"
#include "cli/transfer/download.h"
#include "cli/transfer/upload.h"
#include "model/assets/reference.h"
#include "wire/yaml/asset.h"

namespace berth::cli {
namespace {

constexpr auto kKind = model::AssetKind::Model;

/// A path on the command line is seen from here, not from the file's folder.
std::string path_from_here(const Context& context, const std::string& path) {
  const bool is_address = path.find("://") != std::string::npos || path.starts_with("azureml:") ||
                          path.starts_with("runs:/");
  return is_address ? path : context.place.absolute(path);
}

/// The server refuses it as well, but only when all of it is uploaded.
Status check_mlmodel(const wire::yaml::ModelFile& file) {
  if (!file.local || file.asset.body.at("modelType") != "mlflow_model") return Done{};
  std::error_code failed;
  const std::filesystem::path path = file.local->path;
  if (!std::filesystem::exists(path, failed)) return Done{};  // The upload says so.
  if (std::filesystem::exists(path / "MLmodel", failed)) return Done{};
  return fail(Code::InvalidArgument,
              fmt::format("'{}' has no file MLmodel, which every mlflow_model has; other models "
                          "are of the type custom_model",
                          file.local->path));
}

Result<int> create(Context& context) {
  Document document = TRY(load_document(context));
  for (const char* key : {"name", "version", "type", "description", "stage", "datastore"}) {
    if (context.arguments.has(key)) set_text(document.root, key, context.arguments.get(key));
  }
  if (context.arguments.has("path")) {
    set_text(document.root, "path", path_from_here(context, context.arguments.get("path")));
  }
  TRY(set_tags(document.root, context.arguments.all("tags")));
  if (document.root.find("name") == nullptr) {
    return wrong_usage(context, "the model needs a name: -n NAME");
  }
  wire::yaml::ModelFile file =
      TRY(wire::yaml::model_from_yaml(document.root, document.base_directory));
  TRY(check_mlmodel(file));
  if (file.local) file.asset.body["modelUri"] = TRY(upload_data(context, file.local->path));
  return put_asset(context, std::move(file.asset));
}

Result<int> list(Context& context) { return list_assets(context, kKind); }
Result<int> show(Context& context) { return show_asset(context, kKind); }
Result<int> update(Context& context) { return update_asset(context, kKind); }
Result<int> archive(Context& context) { return archive_asset(context, kKind, true); }
Result<int> restore(Context& context) { return archive_asset(context, kKind, false); }

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

/// As az does it: <folder>/<name of the model>/<name of what was registered>.
Result<int> download(Context& context) {
  const json::object resource = TRY(chosen_asset(context, kKind));
  const std::string uri = text_at(resource.at("properties").as_object(), "modelUri");
  const auto reference = TRY(model::parse_data_ref(uri));
  const auto* place = std::get_if<model::DatastorePath>(&reference);
  if (place == nullptr) {
    return fail(Code::NotSupported, fmt::format("this model is not kept here; it is at {}", uri));
  }
  const std::string name = context.arguments.get("name");
  const PlaceWish wish{
      .datastore = place->datastore,
      .path = place->path,
      .directory = context.place.absolute(context.arguments.get("download-path", ".")),
      .folder = name + "/",
      .what = name};
  const std::size_t files = TRY(download_place(context, wish));
  context.console.note(fmt::format("downloaded {} {} to {}/{}", files,
                                   files == 1 ? "file" : "files", wish.directory, name));
  return 0;
}

constexpr Flag kCreateFlags[] = {
    {"-f,--file", Takes::Value, "FILE", "its YAML file"},
    {"-n,--name", Takes::Value, "NAME", "its name"},
    kAssetVersion,
    {"-p,--path", Takes::Value, "PATH",
     "a file or folder here, azureml://…, runs:/RUN/PATH or https://…"},
    {"-t,--type", Takes::Value, "TYPE", "custom_model (default), mlflow_model or triton_model"},
    {"-s,--stage", Takes::Value, "STAGE", "its stage, such as Production"},
    {"--datastore", Takes::Value, "NAME", "where to upload to: workspaceblobstore"},
    kAssetDescription,
    kAssetTags,
    {"--set", Takes::Several, "a.b=c", "change a key of the file"},
};

constexpr Flag kUpdateFlags[] = {
    kAssetName,        kAssetVersion,
    kAssetLabel,       {"-s,--stage", Takes::Value, "STAGE", "its stage, such as Production"},
    kAssetDescription, kEditSet,
    kEditAdd,          kEditRemove,
    kEditText,
};

constexpr Flag kDownloadFlags[] = {
    kAssetName,
    kAssetVersion,
    kAssetLabel,
    {"-p,--download-path", Takes::Value, "FOLDER", "where to (the current folder)"},
};

constexpr Command kCommands[] = {
    {.words = "model create",
     .summary = "Register a model, uploading it if it is local",
     .details = "Without a version it gets the next free one. MLflow sees it, too.",
     .examples = R"(  berth model create -n ranker -p ./model -t mlflow_model
  berth model create -n ranker -p azureml://jobs/train-7/outputs/fitted
  berth model create -f model.yml --set version=3)",
     .flags = kCreateFlags,
     .run = create},
    {.words = "model list",
     .summary = "List models, or the versions of one",
     .details = "",
     .examples = "",
     .flags = kAssetListFlags,
     .run = list},
    {.words = "model show",
     .summary = "Show a model",
     .details = "Without a version: the one made last. MLflow's aliases are labels.",
     .examples = "  berth model show -n ranker --label champion",
     .flags = kAssetShowFlags,
     .run = show},
    {.words = "model update",
     .summary = "Change description, tags or stage of a model",
     .details = "",
     .examples = "  berth model update -n ranker -v 3 --stage Production --set tags.reviewed=yes",
     .flags = kUpdateFlags,
     .run = update},
    {.words = "model archive",
     .summary = "Hide a model from lists",
     .details = "Without a version: all of it. Jobs that name it can still use it.",
     .examples = "",
     .flags = kAssetArchiveFlags,
     .run = archive},
    {.words = "model restore",
     .summary = "Show an archived model in lists again",
     .details = "",
     .examples = "",
     .flags = kAssetArchiveFlags,
     .run = restore},
    {.words = "model download",
     .summary = "Fetch a model's files",
     .details = "They go to FOLDER/NAME/….",
     .examples = "  berth model download -n ranker -v 3 -p models",
     .flags = kDownloadFlags,
     .run = download},
};

}  // namespace

std::span<const Command> model_commands() { return kCommands; }

}  // namespace berth::cli
