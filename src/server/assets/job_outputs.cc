// SPDX-License-Identifier: Apache-2.0
#include "server/assets/job_outputs.h"

#include <algorithm>

#include "server/assets/asset_versions.h"
#include "server/assets/model_files.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

using model::DataType;

bool is_data(DataType type) {
  return type == DataType::UriFile || type == DataType::UriFolder || type == DataType::MlTable;
}

model::Asset asset_of(const model::Job& job, const std::string& name,
                      const model::JobOutput& output) {
  model::Asset asset{
      .workspace = job.key.workspace,
      .kind = is_data(output.type) ? model::AssetKind::Data : model::AssetKind::Model,
      .name = output.asset_name,
      .version = output.asset_version};
  const std::string uri = model::output_uri(job, name);
  const std::string type(wire::arm::to_arm(output.type));
  if (is_data(output.type)) {
    asset.body = {{"dataType", type}, {"dataUri", uri}};
  } else {
    asset.body = {{"modelType", type}, {"modelUri", uri}, {"jobName", job.key.name}};
  }
  asset.description = output.description;
  return asset;
}

/// With the files of a model, as the job has left them.
Result<store::Batch> rows_of(store::Store& store, model::Asset asset, WallTime now) {
  store::Batch files;
  if (asset.kind == model::AssetKind::Model) files = TRY(pin_files(store, asset));
  store::Batch rows = TRY(new_version(store, std::move(asset), now));
  std::ranges::move(files, std::back_inserter(rows));
  return rows;
}

}  // namespace

RegisteredOutputs register_outputs(store::Store& store, const model::Job& job, WallTime now) {
  RegisteredOutputs registered;
  for (const auto& [name, output] : job.spec->outputs) {
    if (output.asset_name.empty()) continue;
    Result<store::Batch> added = rows_of(store, asset_of(job, name, output), now);
    if (!added) {
      registered.warnings.push_back(
          fmt::format("output '{}' was not registered: {}", name, added.error().message));
      continue;
    }
    for (store::Write& row : *added) registered.rows.push_back(std::move(row));
  }
  return registered;
}

}  // namespace berth::server
