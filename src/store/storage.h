// SPDX-License-Identifier: Apache-2.0
// What the store keeps, and how much of it: for people who ask, and for whoever makes room.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "model/assets/asset.h"
#include "model/job.h"
#include "store/blob.h"

namespace berth::store {

/// Jobs that are over, oldest first.
struct JobSelection {
  model::WorkspaceId workspace{};
  std::vector<std::string> names{};          ///< Empty: any.
  std::vector<model::JobStatus> statuses{};  ///< Empty: any.
  std::optional<WallTime> ended_before{};
  std::string tag_key{};    ///< Empty: any.
  std::string tag_value{};  ///< Empty: any value of the key.
  std::string experiment{};
  std::int64_t after = 0;  ///< Only sequences above: where the page before ended.
  std::size_t limit = 100;
};

struct SelectedJobs {
  std::vector<model::Job> jobs{};
  std::optional<std::int64_t> next{};  ///< `after` of the next page; none when there is none.
};

/// What a job's own places hold. Objects that others have too are counted here as well.
struct JobFootprint {
  std::uint64_t files = 0;
  std::uint64_t log_bytes = 0;
  std::uint64_t other_bytes = 0;
  std::uint64_t kept_files = 0;  ///< Named by a registered asset: they stay when the job goes.
  std::uint64_t kept_bytes = 0;
  std::vector<std::string> kept_by{};  ///< "model 'net' version '3'".
  std::uint64_t metric_points = 0;
};

/// A blob or an uploaded block, and the objects it is made of.
struct StoredFile {
  BlobKey key{};
  std::string block{};  ///< Of a block, its id.
  std::vector<Piece> pieces{};
  std::uint64_t size = 0;
  WallTime created_at{};
};
BOOST_DESCRIBE_STRUCT(StoredFile, (), (pieces, size, created_at))

/// Where the listing of all files goes on: blobs first, then blocks, in order of their keys.
struct FileCursor {
  bool in_blocks = false;
  BlobKey after{};
  std::string after_block{};
  bool is_end = false;
};

struct StoredFiles {
  std::vector<StoredFile> files{};
  bool are_blocks = false;
  FileCursor next{};
};

/// A folder, or a file, that an asset names.
struct AssetPlace {
  model::WorkspaceId workspace{};
  model::AssetKind kind = model::AssetKind::Data;
  std::string container{};
  std::string path{};
};

/// A code version that may have lost its last job.
struct CodeVersion {
  model::WorkspaceId workspace{};
  std::string name{};
  std::string version{};
};

/// "LocalUpload/<hash>/": what clients upload of the inputs that a job file names by a local path.
struct UploadFolder {
  model::WorkspaceId workspace{};
  std::string prefix{};
};

/// Sees what is committed. Each call is a read of its own, so that the database's log is not held
/// up for long; none looks at more rows than it is asked for.
class StorageReader {
 public:
  virtual ~StorageReader() = default;

  virtual Result<SelectedJobs> jobs(const JobSelection& selection) = 0;
  virtual Result<bool> has_logs(const model::JobKey& job) = 0;
  virtual Result<JobFootprint> footprint(const model::JobKey& job) = 0;
  virtual Result<StoredFiles> files(const FileCursor& from, std::size_t limit) = 0;
  virtual Result<std::vector<AssetPlace>> asset_places() = 0;
  /// Anonymous code that no job names and that was made before.
  virtual Result<std::vector<CodeVersion>> idle_code(WallTime before, std::size_t limit) = 0;
  /// Uploads that neither job nor asset names and that nobody changed since.
  virtual Result<std::vector<UploadFolder>> idle_uploads(WallTime before, std::size_t limit) = 0;
  /// Keys with uploaded blocks of which none is younger.
  virtual Result<std::vector<BlobKey>> stale_blocks(WallTime before, std::size_t limit) = 0;
  /// Pages of the database file that hold nothing and are used again.
  virtual Result<std::uint64_t> free_bytes() = 0;
};

}  // namespace berth::store
