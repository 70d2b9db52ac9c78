// SPDX-License-Identifier: Apache-2.0
// Where a job's own files lie, and which of them a registered asset names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/assets/asset.h"
#include "model/job.h"
#include "store/database/sqlite.h"

namespace berth::store {

/// A file, or all files below a path that ends in '/'; all of the container when it is empty.
struct FilePlace {
  std::string container{};
  std::string path{};

  bool covers(std::string_view container_of_file, std::string_view file) const;
};

/// Its artifacts, and the outputs whose place bears its name. An output that was sent to a place of
/// the user's own choosing is not among them: others may write there too.
std::vector<FilePlace> own_places(const model::Job& job);
/// The part of them in which its logs are.
FilePlace log_place(const model::JobKey& job);

/// A place that an asset names, and which asset that is.
struct KeptPlace {
  FilePlace place{};
  std::string by{};  ///< "model 'net' version '3'".
};

/// What of the job's places the registered assets name. Whatever looks like one of them and cannot
/// be understood keeps all of them.
Result<std::vector<KeptPlace>> kept_places(Database& database, const model::Job& job);

/// Whether an asset other than the given one mentions the text.
struct AssetName {
  model::AssetKind kind = model::AssetKind::Code;
  std::string name{};
  std::string version{};
};
Result<bool> is_mentioned(Database& database, const model::WorkspaceId& workspace,
                          std::string_view text, const AssetName& except = {});

/// What of the datastores an address means: azureml://datastores/…, mlflow-artifacts:/…, or a URL
/// of a blob of ours. NotFound: something else.
Result<FilePlace> place_of_address(const model::WorkspaceId& workspace, const std::string& address);

/// The least text that sorts after everything that starts with the prefix; empty when there is
/// none.
std::string end_of(std::string prefix);

/// What a job uses, as the table of uses has it.
std::vector<std::string> uses_of(const model::Job& job);
std::string code_use(const std::string& name, const std::string& version);

}  // namespace berth::store
