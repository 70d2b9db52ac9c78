// SPDX-License-Identifier: Apache-2.0
// What the store in memory does not keep, and secrets, which it does.
#pragma once

#include <map>

#include "store/secrets.h"
#include "store/storage.h"
#include "store/tracking.h"

namespace berth::store {

/// Of a store whose jobs log nothing.
class NoTracking final : public Tracking {
 public:
  using WorkspaceId = model::WorkspaceId;
  template <typename T>
  using Found = Result<std::optional<T>>;

  Found<model::Experiment> experiment(const WorkspaceId&, const std::string&) override {
    return std::nullopt;
  }
  Found<model::Experiment> experiment_named(const WorkspaceId&, const std::string&) override {
    return std::nullopt;
  }
  Result<bool> is_experiment_name_taken(const WorkspaceId&, const std::string&) override {
    return false;
  }
  Result<Page<model::Experiment>> experiments(const Search&) override {
    return Page<model::Experiment>{};
  }
  Found<model::Run> run(const model::RunKey&) override { return std::nullopt; }
  Found<model::LoggedRun> logged_run(const model::RunKey&) override { return std::nullopt; }
  Result<Page<model::LoggedRun>> runs(const Search&) override { return Page<model::LoggedRun>{}; }
  Found<std::string> param(const model::RunKey&, const std::string&) override {
    return std::nullopt;
  }
  Found<std::string> tag(const model::RunKey&, const std::string&) override { return std::nullopt; }
  Result<std::size_t> shown_bytes(const model::RunKey&) override { return 0; }
  Found<model::Metric> latest_metric(const model::RunKey&, const std::string&) override {
    return std::nullopt;
  }
  Result<Page<model::Metric>> history(const HistoryQuery&) override {
    return Page<model::Metric>{};
  }
  Result<std::vector<DatasetSummary>> datasets(const WorkspaceId&,
                                               const std::vector<std::string>&) override {
    return std::vector<DatasetSummary>{};
  }
  Found<model::LoggedModel> logged_model(const WorkspaceId&, const std::string&) override {
    return std::nullopt;
  }
  Result<Page<model::LoggedModel>> logged_models(const Search&,
                                                 const std::vector<DatasetFilter>&) override {
    return Page<model::LoggedModel>{};
  }
};

class FakeSecrets final : public SecretReader {
 public:
  Result<std::optional<model::Secret>> find(const model::SecretKey& key) override {
    const auto found = rows.find(key);
    return found == rows.end() ? std::optional<model::Secret>() : found->second;
  }
  Result<std::vector<model::Secret>> list(const model::WorkspaceId& workspace,
                                          const std::string& owner) override {
    std::vector<model::Secret> found;
    for (const auto& [key, secret] : rows) {
      if (key.workspace == workspace && key.owner == owner) found.push_back(secret);
    }
    return found;
  }

  std::map<model::SecretKey, model::Secret> rows;
};

/// Of a store that has nothing to show.
class NoStorage final : public StorageReader {
 public:
  Result<SelectedJobs> jobs(const JobSelection&) override { return SelectedJobs{}; }
  Result<bool> has_logs(const model::JobKey&) override { return false; }
  Result<JobFootprint> footprint(const model::JobKey&) override { return JobFootprint{}; }
  Result<StoredFiles> files(const FileCursor&, std::size_t) override {
    return StoredFiles{.next = {.is_end = true}};
  }
  Result<std::vector<AssetPlace>> asset_places() override { return std::vector<AssetPlace>{}; }
  Result<std::vector<CodeVersion>> idle_code(WallTime, std::size_t) override {
    return std::vector<CodeVersion>{};
  }
  Result<std::vector<UploadFolder>> idle_uploads(WallTime, std::size_t) override {
    return std::vector<UploadFolder>{};
  }
  Result<std::vector<BlobKey>> stale_blocks(WallTime, std::size_t) override {
    return std::vector<BlobKey>{};
  }
  Result<std::uint64_t> free_bytes() override { return 0; }
};

}  // namespace berth::store
