// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/transfer/submit.h"

namespace berth::cli {

struct DownloadWish {
  std::string directory{};    ///< Absolute; made if missing. Nothing is written outside it.
  std::string output_name{};  ///< Only this one.
  bool all = false;           ///< Artifacts and every named output; otherwise artifacts only.
};

/// artifacts/… and named-outputs/<name>/…, of a job that is over. Models that it logged with MLflow
/// 3 are in artifacts/<name>/. Returns the number of files.
Result<std::size_t> download_job(Context& context, const model::Job& job, const DownloadWish& wish);

/// A folder of a datastore, or one file, which keeps its name here.
struct PlaceWish {
  std::string datastore{};
  std::string path{};
  std::string directory{};  ///< As above.
  std::string folder{};     ///< Below the directory; empty, or with a '/' at its end.
  std::string what{};       ///< For the progress shown.
};

/// Returns the number of files; none at all is NotFound.
Result<std::size_t> download_place(Context& context, const PlaceWish& wish);

}  // namespace berth::cli
