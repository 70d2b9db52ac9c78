// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>

#include "sim/stage.h"
#include "store/fake_store.h"

namespace berth::sim {

/// What is on the disk, and stays there when the server dies.
using Disk = store::FakeStore;

/// The store of one server process, over a disk that may be slow, full or broken. As the real one
/// it commits all that waits at once, answers later and in order, and after a failure refuses
/// everything until resume().
class SimStore : public store::Store {
 public:
  SimStore(Stage& stage, Disk& disk) : stage_(stage), disk_(disk) {}

  void commit(store::Batch batch, Committed done) override;
  void resume() override;
  void flush() override {}

  /// Whether anything was handed over since the last call: whatever changes, is.
  bool take_changes() { return std::exchange(has_changes_, false); }
  bool is_idle() const { return waiting_.empty() && !is_writing_ && answers_ == 0; }

  Result<core::State> load() override;
  Result<std::int64_t> last_sequence() override { return disk_.last_sequence(); }
  Result<std::int64_t> last_node_sequence() override { return disk_.last_node_sequence(); }
  Result<std::optional<model::Job>> job(const model::JobKey& key) override {
    return disk_.job(key);
  }
  Result<store::Page<store::JobRow>> job_rows(const store::JobQuery& query) override {
    return disk_.job_rows(query);
  }
  store::Tracking& tracking() override { return disk_.tracking(); }
  Result<std::string> experiment_of(const model::Job& job) override {
    return disk_.experiment_of(job);
  }
  void search(Reading reading) override { disk_.search(std::move(reading)); }
  void inspect(Inspection inspection) override { disk_.inspect(std::move(inspection)); }
  Result<std::vector<model::Usage>> usage(const store::UsageQuery& query) override {
    return disk_.usage(query);
  }
  Result<std::optional<model::Asset>> asset(const model::WorkspaceId& workspace,
                                            model::AssetKind kind, const std::string& name,
                                            const std::string& version) override {
    return disk_.asset(workspace, kind, name, version);
  }
  Result<std::optional<model::Asset>> latest_asset(const model::WorkspaceId& workspace,
                                                   model::AssetKind kind,
                                                   const std::string& name) override {
    return disk_.latest_asset(workspace, kind, name);
  }
  Result<store::Page<model::Asset>> assets(const store::AssetQuery& query) override {
    return disk_.assets(query);
  }
  Result<std::optional<model::AssetContainer>> container(const model::WorkspaceId& workspace,
                                                         model::AssetKind kind,
                                                         const std::string& name) override {
    return disk_.container(workspace, kind, name);
  }
  Result<store::Page<model::AssetContainer>> containers(const store::AssetQuery& query) override {
    return disk_.containers(query);
  }
  Result<store::Page<model::AssetContainer>> search_models(
      const store::ModelQuery& query) override {
    return disk_.search_models(query);
  }
  Result<store::Page<model::Asset>> search_model_versions(const store::ModelQuery& query) override {
    return disk_.search_model_versions(query);
  }
  Result<std::vector<model::Asset>> latest_of_stages(const model::WorkspaceId& workspace,
                                                     const std::string& name) override {
    return disk_.latest_of_stages(workspace, name);
  }
  store::DeploymentReader& deployments() override { return disk_.deployments(); }
  store::SecretReader& secrets() override { return disk_.secrets(); }
  Result<std::optional<store::Blob>> blob(const store::BlobKey& key) override {
    return disk_.blob(key);
  }
  Result<store::Page<store::Blob>> blobs(const store::BlobQuery& query) override {
    return disk_.blobs(query);
  }
  Result<std::vector<store::Block>> blocks(const store::BlobKey& key) override {
    return disk_.blocks(key);
  }
  Result<store::Page<model::AuditLine>> audit(const store::AuditQuery& query) override {
    return disk_.audit(query);
  }
  Result<store::AuditHead> audit_head() override { return disk_.audit_head(); }

 protected:
  struct Item {
    store::Batch batch{};
    Committed done{};
    bool resumes = false;
  };

  void write_soon();
  void write_group();
  void answer(std::vector<Committed> waiting, const Status& outcome);
  bool fails();

  Stage& stage_;
  Disk& disk_;
  std::deque<Item> waiting_{};
  bool is_writing_ = false;
  bool has_changes_ = true;
  int answers_ = 0;
  Duration last_answer_{0};
  std::optional<Error> failure_{};
  std::shared_ptr<int> alive_ = std::make_shared<int>(0);
};

}  // namespace berth::sim
