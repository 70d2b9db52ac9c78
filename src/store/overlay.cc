// SPDX-License-Identifier: Apache-2.0
#include "store/overlay.h"

#include <algorithm>

namespace berth::store {

std::uint64_t Overlay::add(const Batch& batch) {
  ++batches_;
  for (const Write& write : batch) {
    ++writes_;
    std::visit([&](const auto& change) { note(change); }, write);
  }
  return batches_;
}

void Overlay::settle(std::uint64_t batch) {
  // What a later batch wrote to the same key bears that batch's number and stays.
  const auto is_settled = [&](const auto& item) { return item.second.batch <= batch; };
  std::erase_if(assets_, is_settled);
  std::erase_if(containers_, is_settled);
  std::erase_if(blobs_, is_settled);
  std::erase_if(deleted_containers_, is_settled);
  std::erase_if(deleted_workspaces_, is_settled);
  std::erase_if(experiment_names_, is_settled);
  std::erase_if(params_, is_settled);
}

void Overlay::note(const PutAsset& write) {
  const model::Asset& asset = write.asset;
  assets_[{asset.workspace, asset.kind, asset.name, asset.version}] = entry<model::Asset>(asset);
}

void Overlay::note(const DeleteAsset& write) {
  assets_[{write.workspace, write.kind, write.name, write.version}] =
      entry<model::Asset>(std::nullopt);
}

/// It may stay after all, when a job was submitted that names it; for a moment nobody can.
void Overlay::note(const DropCode& write) {
  const CodeVersion& code = write.code;
  note(DeleteAsset{code.workspace, model::AssetKind::Code, code.name, code.version});
}

void Overlay::note(const PutContainer& write) {
  const model::AssetContainer& container = write.container;
  containers_[{container.workspace, container.kind, container.name}] =
      entry<model::AssetContainer>(container);
}

void Overlay::note(const DeleteContainer& write) {
  deleted_containers_[{write.workspace, write.kind, write.name}] = {writes_, batches_};
}

/// Versions under the new name are on disk when the batch is; until then they are nowhere.
void Overlay::note(const RenameContainer& write) {
  note(DeleteContainer{write.container.workspace, write.container.kind, write.name});
  note(PutContainer{write.container});
}

void Overlay::note(const PutBlob& write) { blobs_[write.blob.key] = entry<Blob>(write.blob); }

void Overlay::note(const DeleteBlob& write) { blobs_[write.key] = entry<Blob>(std::nullopt); }

void Overlay::note(const Erase<model::Workspace>& write) {
  deleted_workspaces_[write.key] = {writes_, batches_};
}

void Overlay::note(const Put<model::Job>& write) {
  const model::Job& job = write.value;
  experiment_names_[{job.key.workspace, job.spec->experiment_name}] = {writes_, batches_};
}

void Overlay::note(const Track& write) {
  if (const auto* put = std::get_if<PutExperiment>(&write.change)) {
    experiment_names_[{put->experiment.workspace, put->experiment.name}] = {writes_, batches_};
  } else if (const auto* log = std::get_if<LogToRun>(&write.change)) {
    for (const auto& [key, value] : log->params) {
      params_[{log->run, key}] = entry<std::string>(value);
    }
  }
}

bool Overlay::takes_experiment_name(const model::WorkspaceId& workspace,
                                    const std::string& name) const {
  return experiment_names_.contains({workspace, name});
}

std::optional<std::string> Overlay::param(const model::RunKey& run, const std::string& key) const {
  const auto found = params_.find({run, key});
  return found == params_.end() ? std::nullopt : found->second.value;
}

std::uint64_t Overlay::deleted(const model::WorkspaceId& workspace) const {
  const auto found = deleted_workspaces_.find(workspace);
  return found == deleted_workspaces_.end() ? 0 : found->second.write;
}

template <typename T, typename Key>
Overlay::Pending<T> Overlay::newest(const std::map<Key, Entry<T>>& entries, const Key& key,
                                    std::uint64_t deleted) {
  const auto found = entries.find(key);
  if (found != entries.end() && found->second.write > deleted) {
    return Pending<T>(std::in_place, found->second.value);
  }
  return deleted > 0 ? Pending<T>(std::in_place, std::nullopt) : std::nullopt;
}

Overlay::Pending<model::Asset> Overlay::asset(const AssetKey& key) const {
  const auto& [workspace, kind, name, version] = key;
  std::uint64_t gone = deleted(workspace);
  const auto container = deleted_containers_.find({workspace, kind, name});
  if (container != deleted_containers_.end()) gone = std::max(gone, container->second.write);
  return newest(assets_, key, gone);
}

Overlay::Pending<model::AssetContainer> Overlay::container(const ContainerKey& key) const {
  std::uint64_t gone = deleted(std::get<0>(key));
  const auto container = deleted_containers_.find(key);
  if (container != deleted_containers_.end()) gone = std::max(gone, container->second.write);
  return newest(containers_, key, gone);
}

Overlay::Pending<Blob> Overlay::blob(const BlobKey& key) const {
  return newest(blobs_, key, deleted(key.workspace));
}

}  // namespace berth::store
