// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "store/database/sqlite.h"
#include "store/storage.h"

namespace berth::store {

class StorageRows final : public StorageReader {
 public:
  explicit StorageRows(Database& database) : database_(database) {}

  Result<SelectedJobs> jobs(const JobSelection& selection) override;
  Result<bool> has_logs(const model::JobKey& job) override;
  Result<JobFootprint> footprint(const model::JobKey& job) override;
  Result<StoredFiles> files(const FileCursor& from, std::size_t limit) override;
  Result<std::vector<AssetPlace>> asset_places() override;
  Result<std::vector<CodeVersion>> idle_code(WallTime before, std::size_t limit) override;
  Result<std::vector<UploadFolder>> idle_uploads(WallTime before, std::size_t limit) override;
  Result<std::vector<BlobKey>> stale_blocks(WallTime before, std::size_t limit) override;
  Result<std::uint64_t> free_bytes() override;

 private:
  Result<std::vector<StoredFile>> read_files(Cursor rows);
  Result<std::vector<UploadFolder>> uploads_of(const model::WorkspaceId& workspace);
  Result<bool> is_idle(const UploadFolder& folder, WallTime before);

  Database& database_;
};

}  // namespace berth::store
