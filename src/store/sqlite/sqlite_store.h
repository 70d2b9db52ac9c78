// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "store/database/sqlite.h"
#include "store/overlay.h"
#include "store/sqlite/deployment_rows.h"
#include "store/sqlite/experiment_ids.h"
#include "store/sqlite/inspect_thread.h"
#include "store/sqlite/search_thread.h"
#include "store/sqlite/secret_rows.h"
#include "store/sqlite/tracking_reader.h"
#include "store/sqlite/writer.h"
#include "store/store.h"

namespace berth::store {

class SqliteStore final : public Store {
 public:
  static Result<std::unique_ptr<SqliteStore>> open(const std::string& directory, io::Loop& loop,
                                                   const io::ObjectStore& objects,
                                                   Broken on_broken = {});

  void commit(Batch batch, Committed done) override;
  void resume() override { writer_->resume(); }
  void flush() override { writer_->drain(); }
  bool is_full() const override { return writer_->is_full(); }

  Result<core::State> load() override;
  Result<std::int64_t> last_sequence() override;
  Result<std::int64_t> last_node_sequence() override;
  Result<Page<model::AuditLine>> audit(const AuditQuery& query) override;
  Result<AuditHead> audit_head() override;
  Result<std::vector<model::Usage>> usage(const UsageQuery& query) override;
  Result<std::optional<model::Job>> job(const model::JobKey& key) override;
  Result<Page<JobRow>> job_rows(const JobQuery& query) override;

  Result<std::optional<model::Asset>> asset(const model::WorkspaceId& workspace,
                                            model::AssetKind kind, const std::string& name,
                                            const std::string& version) override;
  Result<std::optional<model::Asset>> latest_asset(const model::WorkspaceId& workspace,
                                                   model::AssetKind kind,
                                                   const std::string& name) override;
  Result<Page<model::Asset>> assets(const AssetQuery& query) override;
  Result<std::optional<model::AssetContainer>> container(const model::WorkspaceId& workspace,
                                                         model::AssetKind kind,
                                                         const std::string& name) override;
  Result<Page<model::AssetContainer>> containers(const AssetQuery& query) override;
  Result<Page<model::AssetContainer>> search_models(const ModelQuery& query) override;
  Result<Page<model::Asset>> search_model_versions(const ModelQuery& query) override;
  Result<std::vector<model::Asset>> latest_of_stages(const model::WorkspaceId& workspace,
                                                     const std::string& name) override;

  DeploymentReader& deployments() override { return deployments_; }
  SecretReader& secrets() override { return secrets_; }
  Result<std::optional<Blob>> blob(const BlobKey& key) override;
  Result<Page<Blob>> blobs(const BlobQuery& query) override;
  Result<std::vector<Block>> blocks(const BlobKey& key) override;

  Tracking& tracking() override { return tracking_; }
  Result<std::string> experiment_of(const model::Job& job) override;
  void search(Reading reading) override { searches_.run(std::move(reading)); }
  void inspect(Inspection inspection) override { inspections_.run(std::move(inspection)); }

  /// How many transactions were committed: fewer than batches, when many came at once.
  std::uint64_t transactions() const { return writer_->transactions(); }

 private:
  struct Connections {
    Database writer;
    Database reader;
    Database searcher;
    Database inspector;
    std::int64_t last_sequence = 0;
  };
  static Result<Connections> connect(const std::string& directory, const std::string& path);
  SqliteStore(Connections connections, Writer::Parts parts);

  Result<core::State> load_snapshot();
  Result<core::State> load_rows();

  std::string path_;
  const io::ObjectStore& objects_;
  Database reader_;
  DeploymentRows deployments_{reader_};
  SecretRows secrets_{reader_};
  /// Shared with the callbacks of commits, which may outlive the store in the loop's queue.
  std::shared_ptr<Overlay> overlay_ = std::make_shared<Overlay>();
  TrackingReader tracking_{reader_, *overlay_};
  ExperimentIds experiments_;
  SearchThread searches_;
  InspectThread inspections_;
  std::unique_ptr<Writer> writer_;  // Behind those whom it makes begin again.
};

}  // namespace berth::store
