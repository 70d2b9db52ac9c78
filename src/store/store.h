// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "core/state.h"
#include "io/files/object_store.h"
#include "io/loop.h"
#include "model/assets/asset.h"
#include "model/audit.h"
#include "model/job.h"
#include "store/blob.h"
#include "store/deployments.h"
#include "store/model_query.h"
#include "store/page.h"
#include "store/secrets.h"
#include "store/storage.h"
#include "store/tracking.h"

namespace berth::store {

/// Changes of rows, each to one row unless it says more. A batch is all or nothing.

/// A durable thing of the State (core/entity.h) as it is now.
template <typename T>
struct Put {
  T value{};
};
template <typename T>
Put(T) -> Put<T>;
/// It is gone, and what it owns with it:
/// - a workspace with everything in it,
/// - a user with their secrets,
/// - a deployment with its operations, also when another one takes its name,
/// - a job with its run, its logged models, and the files in its own places that no registered
///   asset names.
template <typename T>
struct Erase {
  core::EntityKey<T> key{};
};
/// Some of the files that go with a job, so that a job with very many does not go in one commit.
struct DropJobFiles {
  model::JobKey job;
  bool only_logs = false;
  std::size_t limit = 500;
};
/// Likewise some of the points that its run has logged.
struct DropMetrics {
  model::JobKey job;
  std::size_t limit = 10'000;
};
/// A code version with its files, unless a job or another asset names it.
struct DropCode {
  CodeVersion code;
};
/// A folder that a client uploaded for the inputs of jobs, unless a job or an asset names it.
struct DropUpload {
  UploadFolder folder;
};
/// Time that a node was there, or that a job had it. Only ever added to.
struct AddUsage {
  model::Usage usage;
};
/// Only ever added to. The writer numbers it and ties it to the line before.
struct AddAudit {
  model::AuditRecord record;
};
struct PutAsset {
  model::Asset asset;
};
struct DeleteAsset {
  model::WorkspaceId workspace;
  model::AssetKind kind;
  std::string name{};
  std::string version{};
};
struct PutContainer {
  model::AssetContainer container;
};
/// With its versions.
struct DeleteContainer {
  model::WorkspaceId workspace;
  model::AssetKind kind;
  std::string name{};
};
/// With its versions: what was called `name` is `container` from now on.
struct RenameContainer {
  std::string name{};
  model::AssetContainer container;
};
/// Makes the blob, or replaces it whole. Its objects' directories are synced before the commit.
struct PutBlob {
  Blob blob;
};
struct DeleteBlob {
  BlobKey key;
};
/// A block that is uploaded but not yet part of a blob.
struct PutBlock {
  Block block;
};
/// Forgets the uncommitted blocks of a blob.
struct DropBlocks {
  BlobKey key;
};
/// Likewise, when none of them is younger: an upload that nobody goes on with.
struct DropStaleBlocks {
  BlobKey key;
  WallTime before{};
};

/// A change to what is logged about experiments and runs (store/tracking.h).
struct Track {
  TrackingChange change;
};

template <typename List, typename... Others>
struct WriteOf;
template <typename... T, typename... Others>
struct WriteOf<core::TypeList<T...>, Others...> {
  using Type = std::variant<Put<T>..., Erase<T>..., Others...>;
};
using Write =
    WriteOf<core::Entities, DropJobFiles, DropMetrics, DropCode, DropUpload, DropStaleBlocks,
            AddUsage, PutAsset, DeleteAsset, PutContainer, DeleteContainer, RenameContainer,
            PutBlob, DeleteBlob, PutBlock, DropBlocks, AddAudit, PutResourceGroup,
            DeleteResourceGroup, PutSecret, DeleteSecret, Track>::Type;
using Batch = std::vector<Write>;

struct JobQuery {
  model::WorkspaceId workspace{};
  enum class View { ActiveOnly, ArchivedOnly, All } view = View::ActiveOnly;
  std::string type{};       ///< A kind of work (model::kind_of): "Command"; empty: any.
  std::string tag_key{};    ///< Empty: any.
  std::string tag_value{};  ///< Empty: any value of the key.
  std::string experiment{};
  std::string parent{};  ///< The name of the job whose children they are; empty: any.
  std::optional<std::int64_t> before{};  ///< Only sequences below: the page's continuation.
  std::size_t limit = 50;
};

/// A job as its row has it. Two rows with the same text say the same of a job.
struct JobRow {
  std::int64_t sequence = 0;
  std::string text{};
};
Result<model::Job> job_of(const JobRow& row);

struct AssetQuery {
  model::WorkspaceId workspace{};
  model::AssetKind kind = model::AssetKind::Data;
  std::string name{};  ///< Versions of this asset.
  JobQuery::View view = JobQuery::View::ActiveOnly;
  std::string hash{};  ///< properties.hash_sha256 equals; empty: any. With an empty name, of all.
  std::string tag_key{};
  bool oldest_first = false;
  std::size_t skip = 0;
  std::size_t limit = 50;
};

struct UsageQuery {
  model::WorkspaceId workspace{};
  WallTime from{};
  WallTime to = WallTime::max();
  std::size_t limit = 10'000;
};

struct AuditQuery {
  std::int64_t after = 0;  ///< Only lines of higher numbers, oldest first.
  std::size_t limit = 1000;
};

/// How far the audit log has ever come, kept apart from it: lines taken off its end are missed.
struct AuditHead {
  std::int64_t number = 0;
  std::string hash{};
};

struct BlobQuery {
  model::WorkspaceId workspace{};
  std::string container{};
  std::string prefix{};
  std::string after{};  ///< Only paths that sort after this one.
  std::size_t limit = 1000;
};

/// SQLite behind one writer thread and one reading connection.
///
/// Reads run on the caller's (the loop's) thread and never wait for the writer. Reads of one thing
/// by its key (asset, container, blob) also see what was handed to commit() and is not on disk yet,
/// so that two requests cannot both find a name free; an answer built on them must itself wait for
/// the commit. Lists see what is committed. Writes go to the writer, which commits everything that
/// is waiting in one transaction (WAL, synchronous=FULL), in order.
///
/// A commit that fails never happened: its batch and every batch behind it are refused, each with
/// the same error (OutOfSpace for a full disk, else Unavailable), until resume() says that the
/// state has been loaded again.
class Store {
 public:
  using Committed = std::function<void(Status)>;
  using Broken = std::function<void(const Error&)>;

  /// Opens or makes <directory>/berth.db and migrates it forward. A database of a newer version is
  /// refused and left untouched, and so is one that is damaged. Callbacks of commit() run on
  /// `loop`, and so does `on_broken`: a sync failed, or the disk gave back something else than it
  /// was given. Nothing is written from then on, and only a new process may trust what is there.
  static Result<std::unique_ptr<Store>> open(const std::string& directory, io::Loop& loop,
                                             const io::ObjectStore& objects, Broken on_broken = {});
  virtual ~Store() = default;

  virtual void commit(Batch batch, Committed done) = 0;
  virtual void resume() = 0;
  /// Is there no room on the disk? What ends work or makes room is still taken, out of room that
  /// is kept back for it; all else is to be turned away, or is refused. From any thread.
  virtual bool is_full() const { return false; }

  /// What can still change: workspaces, sites, computes, nodes; jobs and deployments that are not
  /// over; and who may do what. Without the indexes: whoever takes it over makes them, once it has
  /// put right what is not as it was.
  virtual Result<core::State> load() = 0;
  /// The highest job sequence ever given out, and the highest of a node.
  virtual Result<std::int64_t> last_sequence() = 0;
  virtual Result<std::int64_t> last_node_sequence() = 0;

  virtual Result<std::optional<model::Job>> job(const model::JobKey& key) = 0;
  /// Newest first.
  virtual Result<Page<JobRow>> job_rows(const JobQuery& query) = 0;
  Result<Page<model::Job>> jobs(const JobQuery& query);

  /// Usage that came to its end in [from, to), oldest first.
  virtual Result<std::vector<model::Usage>> usage(const UsageQuery& query) = 0;

  virtual Result<std::optional<model::Asset>> asset(const model::WorkspaceId& workspace,
                                                    model::AssetKind kind, const std::string& name,
                                                    const std::string& version) = 0;
  /// The most recently created version that is not archived.
  virtual Result<std::optional<model::Asset>> latest_asset(const model::WorkspaceId& workspace,
                                                           model::AssetKind kind,
                                                           const std::string& name) = 0;
  virtual Result<Page<model::Asset>> assets(const AssetQuery& query) = 0;
  virtual Result<std::optional<model::AssetContainer>> container(
      const model::WorkspaceId& workspace, model::AssetKind kind, const std::string& name) = 0;
  virtual Result<Page<model::AssetContainer>> containers(const AssetQuery& query) = 0;
  /// Models and their versions, as MLflow searches them: archived ones are left out.
  virtual Result<Page<model::AssetContainer>> search_models(const ModelQuery& query) = 0;
  virtual Result<Page<model::Asset>> search_model_versions(const ModelQuery& query) = 0;
  /// Of the versions in each stage, the one of the highest number.
  virtual Result<std::vector<model::Asset>> latest_of_stages(const model::WorkspaceId& workspace,
                                                             const std::string& name) = 0;

  virtual Result<Page<model::AuditLine>> audit(const AuditQuery& query) = 0;
  virtual Result<AuditHead> audit_head() = 0;

  /// Templates that were deployed; resource groups.
  virtual DeploymentReader& deployments() = 0;
  virtual SecretReader& secrets() = 0;

  virtual Result<std::optional<Blob>> blob(const BlobKey& key) = 0;
  virtual Result<Page<Blob>> blobs(const BlobQuery& query) = 0;
  virtual Result<std::vector<Block>> blocks(const BlobKey& key) = 0;

  virtual Tracking& tracking() = 0;
  /// The id of the experiment that the run of this job belongs to, whose submission is committed.
  virtual Result<std::string> experiment_of(const model::Job& job) = 0;
  /// For what may take long: runs on a thread of its own, with a connection of its own that sees
  /// what is committed, and what it returns runs on the loop.
  using Reading = std::function<std::function<void()>(Tracking&)>;
  virtual void search(Reading reading) = 0;

  /// The same for what looks at everything that is kept: a thread and a connection of its own.
  using Inspection = std::function<std::function<void()>(StorageReader&)>;
  virtual void inspect(Inspection inspection) = 0;

  /// Runs the queue dry; used when the server stops.
  virtual void flush() = 0;
};

}  // namespace berth::store
