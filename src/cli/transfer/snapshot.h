// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace berth::cli {

struct SnapshotFile {
  std::string path{};    ///< Below the upload, '/'-separated.
  std::string source{};  ///< On this machine.
  std::uint64_t size = 0;
};

/// The files of a folder (or one file) that an upload takes along, sorted as the hash wants them.
struct Snapshot {
  std::vector<SnapshotFile> files{};
  std::uint64_t bytes = 0;
};

struct SnapshotLimits {
  std::size_t files = 1'000'000;
  std::uint64_t bytes = UINT64_MAX;
};

using Warn = std::function<void(std::string_view message)>;

/// Lists what to upload: what .amlignore, else .gitignore, of the folder itself leaves in. Links
/// that lead out of the folder, and Berth's own state, are left out and warned about.
Result<Snapshot> take_snapshot(const std::string& path, const SnapshotLimits& limits,
                               const Warn& warn);

/// Azure ML's content hash, algorithm 202208: file count, then "#path#size" of each file in the
/// order of the lower-cased paths, then all contents. Lower-case hex.
Result<std::string> content_hash(const Snapshot& snapshot);

}  // namespace berth::cli
