// SPDX-License-Identifier: Apache-2.0
// A store in memory whose commits a test completes, or fails, by hand. tests/contract holds it to
// what the real one promises.
#pragma once

#include <deque>
#include <map>
#include <optional>
#include <utility>

#include "store/fake_deployments.h"
#include "store/fake_rows.h"
#include "store/overlay.h"
#include "store/store.h"

namespace berth::store {

class FakeStore final : public Store {
 public:
  void commit(Batch batch, Committed done) override {
    const std::uint64_t number = overlay_.add(batch);
    pending_.push_back({.batch = std::move(batch), .done = std::move(done), .number = number});
  }
  void resume() override { pending_.push_back({.resumes = true}); }
  void flush() override { complete(); }

  /// Everything that waits, and what that makes wait, reaches the disk.
  void complete() {
    while (!pending_.empty()) complete_next();
  }
  void complete_next() {
    pass_resumptions();
    if (pending_.empty()) return;
    Pending next = take();
    if (!failure_) {
      const Status written = rows_.write(next.batch);
      if (!written) failure_ = written.error();
    }
    answer(next);
  }
  /// Everything that waits fails, as when the disk is full; not what is handed over after resume().
  void fail_all(const Error& error) {
    fail_next(error);
    while (!pending_.empty() && !pending_.front().resumes) answer(take());
  }
  void fail_next(const Error& error) {
    pass_resumptions();
    if (pending_.empty()) return;
    if (!failure_) failure_ = error;
    answer(take());
  }
  /// Batches that wait.
  std::size_t waiting() const {
    return static_cast<std::size_t>(std::ranges::count(pending_, false, &Pending::resumes));
  }
  /// Every row of an entity; of jobs, also those that are over.
  template <typename T>
  auto& all() {
    return rows_.all<T>();
  }

  Result<core::State> load() override { return rows_.load(); }
  Result<std::int64_t> last_sequence() override { return rows_.last_sequence(); }
  Result<std::int64_t> last_node_sequence() override { return rows_.last_node_sequence(); }
  Result<Page<model::AuditLine>> audit(const AuditQuery& query) override {
    return Page<model::AuditLine>(rows_.audit(query));
  }
  Result<AuditHead> audit_head() override { return rows_.audit_head(); }
  Result<std::vector<model::Usage>> usage(const UsageQuery& query) override {
    return rows_.usage(query);
  }
  Result<std::optional<model::Job>> job(const model::JobKey& key) override {
    return rows_.find<model::Job>(key);
  }
  Result<Page<JobRow>> job_rows(const JobQuery& query) override {
    Page<JobRow> rows;
    for (const model::Job& job : rows_.jobs(query)) {
      rows.push_back({job.sequence, record::encode_text(job)});
    }
    return rows;
  }

  Result<std::optional<model::Asset>> asset(const model::WorkspaceId& workspace,
                                            model::AssetKind kind, const std::string& name,
                                            const std::string& version) override {
    const FakeRows::AssetKey key{workspace, kind, name, version};
    if (auto pending = overlay_.asset(key)) return *std::move(pending);
    return rows_.asset(key);
  }
  Result<std::optional<model::Asset>> latest_asset(const model::WorkspaceId& workspace,
                                                   model::AssetKind kind,
                                                   const std::string& name) override {
    const std::vector<model::Asset> newest =
        rows_.assets({.workspace = workspace, .kind = kind, .name = name, .limit = 1});
    return newest.empty() ? std::optional<model::Asset>() : newest.front();
  }
  Result<Page<model::Asset>> assets(const AssetQuery& query) override {
    return Page<model::Asset>(rows_.assets(query));
  }
  Result<std::optional<model::AssetContainer>> container(const model::WorkspaceId& workspace,
                                                         model::AssetKind kind,
                                                         const std::string& name) override {
    if (auto pending = overlay_.container({workspace, kind, name})) return *std::move(pending);
    return rows_.container({workspace, kind, name, ""});
  }
  Result<Page<model::AssetContainer>> containers(const AssetQuery& query) override {
    return Page<model::AssetContainer>(rows_.containers(query));
  }
  Result<Page<model::AssetContainer>> search_models(const ModelQuery&) override {
    return Page<model::AssetContainer>{};
  }
  Result<Page<model::Asset>> search_model_versions(const ModelQuery&) override {
    return Page<model::Asset>{};
  }
  Result<std::vector<model::Asset>> latest_of_stages(const model::WorkspaceId&,
                                                     const std::string&) override {
    return std::vector<model::Asset>{};
  }
  DeploymentReader& deployments() override { return deployments_.over(rows_); }
  SecretReader& secrets() override { return rows_.secrets(); }

  Result<std::optional<Blob>> blob(const BlobKey& key) override {
    if (auto pending = overlay_.blob(key)) return *std::move(pending);
    return rows_.blob(key);
  }
  Result<Page<Blob>> blobs(const BlobQuery& query) override {
    return Page<Blob>(rows_.blobs(query));
  }
  Result<std::vector<Block>> blocks(const BlobKey& key) override { return rows_.blocks(key); }

  Tracking& tracking() override { return no_tracking_; }
  Result<std::string> experiment_of(const model::Job&) override {
    return std::string(model::kDefaultExperimentId);
  }
  void search(Reading reading) override { reading(no_tracking_)(); }
  void inspect(Inspection inspection) override {
    if (const auto then = inspection(no_storage_)) then();
  }

 private:
  struct Pending {
    Batch batch{};
    Committed done{};
    std::uint64_t number = 0;  ///< Of the overlay.
    bool resumes = false;      ///< Not a batch, but the place from which batches are taken again.
  };

  Pending take() {
    Pending next = std::move(pending_.front());
    pending_.pop_front();
    return next;
  }
  void pass_resumptions() {
    while (!pending_.empty() && pending_.front().resumes) {
      pending_.pop_front();
      failure_.reset();
    }
  }
  void answer(const Pending& settled) {
    overlay_.settle(settled.number);
    if (settled.done) settled.done(failure_ ? Status(fail(*failure_)) : Status(Done{}));
  }

  FakeRows rows_;
  Overlay overlay_;
  std::deque<Pending> pending_;
  std::optional<Error> failure_;  ///< Set until resumed.
  FakeDeployments deployments_;
  NoTracking no_tracking_;
  NoStorage no_storage_;
};

}  // namespace berth::store
