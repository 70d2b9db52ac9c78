// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/result.h"
#include "store/database/sqlite.h"
#include "store/sqlite/tracking_rows.h"
#include "store/store.h"

namespace berth::store {

/// Turns writes into SQL, on the writer's thread and inside its transaction: begin(), the writes,
/// finish(), and committed() when it is. What many rows change is written once, by finish().
class RowWriter {
 public:
  explicit RowWriter(Database& database) : database_(database) {}

  void begin();
  Status write(const Write& write);
  Status finish();
  void committed() { is_open_ = false; }

 private:
  // An entity is a document, unless it has a table of its own.
  template <typename T>
  Status put(const Put<T>& write);
  template <typename T>
  Status put(const Erase<T>& write);
  Status put(const Put<model::Job>& write);
  Status put(const Erase<model::Job>& write);
  Status put(const Put<model::TemplateDeployment>& write);
  Status put(const Erase<model::TemplateDeployment>& write);
  Status put(const Put<model::DeploymentOperation>& write);
  Status put(const Erase<model::DeploymentOperation>& write);
  // What else changes with some of them.
  template <typename Other>
  Status follow(const Other&) {
    return Done{};
  }
  Status follow(const Put<model::Workspace>& write);
  Status follow(const Erase<model::Workspace>& write);
  Status follow(const Put<model::Node>& write);
  Status follow(const Erase<model::User>& write);

  Status put(const DropJobFiles& write);
  Status put(const DropMetrics& write);
  Status put(const DropCode& write);
  Status put(const DropUpload& write);
  Status put(const DropStaleBlocks& write);
  Status put(const AddUsage& write);
  Status put(const PutAsset& write);
  Status put(const DeleteAsset& write);
  Status put(const PutContainer& write);
  Status put(const DeleteContainer& write);
  Status put(const RenameContainer& write);
  Status put(const PutBlob& write);
  Status put(const DeleteBlob& write);
  Status put(const PutBlock& write);
  Status put(const DropBlocks& write);
  Status put(const PutResourceGroup& write);
  Status put(const DeleteResourceGroup& write);
  Status put(const PutSecret& write);
  Status put(const DeleteSecret& write);
  Status put(const AddAudit& write);
  Status put(const Track& write) { return tracking_.write(write.change); }

  /// What the indexes hold of a job.
  struct IndexedJob {
    bool is_live = false;
    bool is_archived = false;
    std::string tags{};
  };
  /// The highest number given out, kept apart from what bears it: it is not given out again when
  /// that is deleted.
  struct Highest {
    const char* key;                     ///< In the table `meta`.
    std::optional<std::int64_t> seen{};  ///< With the rows of this transaction; none: not read yet.
    std::int64_t written = 0;
  };
  Result<bool> is_higher(Highest& highest, std::int64_t number);
  Status write_highest(Highest& highest);
  Status write_audit_head();
  Result<std::optional<IndexedJob>> indexed(std::int64_t sequence);
  Status insert_job(const model::Job& job, const std::string& tags, const std::string& doc);
  Status add_tags(const model::Job& job, const model::TagMap& tags);
  Status add_uses(const model::Job& job);
  Status drop_logged_models(const model::JobKey& job);
  Result<bool> is_used(const model::WorkspaceId& workspace, std::string_view what);
  Status remove_tags(const model::WorkspaceId& workspace, std::int64_t sequence,
                     const model::TagMap& tags);

  Database& database_;
  TrackingRows tracking_{database_};
  bool is_open_ = false;                   ///< A transaction was begun and did not commit so far.
  std::optional<AuditHead> audit_head_{};  ///< With the lines of this transaction, if it has any.
  Highest job_sequence_{.key = "last_sequence"};
  Highest node_sequence_{.key = "last_node_sequence"};
};

}  // namespace berth::store
