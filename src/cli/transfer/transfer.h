// SPDX-License-Identifier: Apache-2.0
// Many files at once, up or down, on a few threads of its own. The threads share nothing but a
// counter and a stop flag, and are joined before these functions return: callers stay
// single-threaded.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/output/console.h"
#include "io/files/file.h"

namespace berth::cli {

struct Upload {
  std::string source{};
  std::string url{};  ///< Of the blob, with its signature.
};

struct Download {
  std::string url{};
  std::string path{};  ///< Below the root.
};

struct TransferOptions {
  const Console& console;
  std::string what{};             ///< "uploading code": the start of the progress line.
  std::uint64_t total_bytes = 0;  ///< For the progress line; 0: not known.
  std::string authority_file{};
};

/// Puts every file; larger ones in blocks. The first failure ends it.
Status upload_all(const std::vector<Upload>& files, const TransferOptions& options);

/// Writes every blob to its path below the root and nowhere else.
Status download_all(const std::vector<Download>& files, const io::Root& root,
                    const TransferOptions& options);

}  // namespace berth::cli
