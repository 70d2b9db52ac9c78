// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "io/files/file.h"
#include "io/files/object_store.h"
#include "io/message/http.h"
#include "io/offload.h"
#include "model/job.h"
#include "store/blob.h"

namespace berth::server {

/// Logs of attempts that are not over: files that grow, below <home>/live. When an attempt ends its
/// log is sealed: hashed, made an object, and from then on a blob like any other
/// (workspaceartifactstore, ExperimentRun/dcid.<job>/user_logs/std_log.txt).
///
/// Loop thread only; hashing and syncing run off it.
class LogStore {
 public:
  LogStore(std::string directory, const io::ObjectStore& objects, io::Offload& disk);
  ~LogStore();

  /// Takes bytes at their offset and returns the size stored now. A repeat is skipped, a gap stores
  /// nothing: the node sends again from the returned size.
  Result<std::uint64_t> append(const model::JobKey& job, int attempt, std::uint64_t offset,
                               std::string_view bytes);

  /// Up to `limit` bytes of the live log from `offset`; nullopt when the job has no live log.
  std::optional<std::string> read(const model::JobKey& job, std::uint64_t offset,
                                  std::size_t limit) const;
  /// The whole live log as a body.
  std::optional<io::FileRange> open(const model::JobKey& job) const;

  /// Syncs and hashes the live log and hands over the content of the blob that replaces it (no
  /// pieces when the job wrote nothing, and then at once). The live file stays until drop(), called
  /// after the commit.
  void seal(const model::JobKey& job, int attempt,
            std::function<void(Result<std::vector<store::Piece>>)> done);
  void drop(const model::JobKey& job, int attempt);

  /// Takes up the live logs a previous server left behind; logs of jobs for which `is_live` is
  /// false are removed.
  Status recover(const std::function<bool(const model::JobKey&, int attempt)>& is_live);

 private:
  struct Live;

  std::string path_of(const model::JobKey& job, int attempt) const;
  Result<Live*> find_or_make(const model::JobKey& job, int attempt);
  void remove(const model::JobKey& job, int attempt) const;

  std::string directory_;
  const io::ObjectStore& objects_;
  io::Offload& disk_;
  std::map<model::JobKey, std::shared_ptr<Live>> live_;
};

}  // namespace berth::server
