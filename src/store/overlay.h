// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <tuple>

#include "store/store.h"

namespace berth::store {

/// What is handed to the writer and not on disk yet, by key. Loop thread only.
class Overlay {
 public:
  using ContainerKey = std::tuple<model::WorkspaceId, model::AssetKind, std::string>;
  using AssetKey = std::tuple<model::WorkspaceId, model::AssetKind, std::string, std::string>;

  /// Nothing: the disk knows. Else what the key will hold: a value, or none.
  template <typename T>
  using Pending = std::optional<std::optional<T>>;

  /// Numbers the batch; settle() with that number when it is on disk or refused, in order.
  std::uint64_t add(const Batch& batch);
  void settle(std::uint64_t batch);

  Pending<model::Asset> asset(const AssetKey& key) const;
  Pending<model::AssetContainer> container(const ContainerKey& key) const;
  Pending<Blob> blob(const BlobKey& key) const;

  /// Somebody is about to make an experiment of that name: a client, or a job that is the first of
  /// its experiment.
  bool takes_experiment_name(const model::WorkspaceId& workspace, const std::string& name) const;
  /// The value that a parameter of a run is about to have.
  std::optional<std::string> param(const model::RunKey& run, const std::string& key) const;

 private:
  /// The value of a key as of a batch; none when it is deleted.
  template <typename T>
  struct Entry {
    std::uint64_t write = 0;  ///< Later writes have higher numbers.
    std::uint64_t batch = 0;
    std::optional<T> value{};
  };
  /// When something happened.
  struct Mark {
    std::uint64_t write = 0;
    std::uint64_t batch = 0;
  };

  void note(const PutAsset& write);
  void note(const DeleteAsset& write);
  void note(const DropCode& write);
  void note(const PutContainer& write);
  void note(const DeleteContainer& write);
  void note(const RenameContainer& write);
  void note(const PutBlob& write);
  void note(const DeleteBlob& write);
  void note(const Erase<model::Workspace>& write);
  void note(const Put<model::Job>& write);
  void note(const Track& write);
  template <typename Other>
  void note(const Other&) {}

  template <typename T>
  Entry<T> entry(std::optional<T> value) const {
    return {.write = writes_, .batch = batches_, .value = std::move(value)};
  }
  template <typename T, typename Key>
  static Pending<T> newest(const std::map<Key, Entry<T>>& entries, const Key& key,
                           std::uint64_t deleted);
  std::uint64_t deleted(const model::WorkspaceId& workspace) const;

  std::uint64_t batches_ = 0;
  std::uint64_t writes_ = 0;
  std::map<AssetKey, Entry<model::Asset>> assets_;
  std::map<ContainerKey, Entry<model::AssetContainer>> containers_;
  std::map<BlobKey, Entry<Blob>> blobs_;
  std::map<ContainerKey, Mark> deleted_containers_;  ///< With all their versions.
  std::map<model::WorkspaceId, Mark> deleted_workspaces_;
  std::map<std::pair<model::WorkspaceId, std::string>, Mark> experiment_names_;
  std::map<std::pair<model::RunKey, std::string>, Entry<std::string>> params_;
};

}  // namespace berth::store
