// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <boost/json.hpp>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/result.h"
#include "io/files/object_store.h"
#include "model/workspace.h"
#include "store/store.h"

namespace berth::server {

/// Names of workspaces by their ids, as they were when somebody asked.
using Workspaces = std::map<model::WorkspaceId, model::Workspace>;

struct ReportParts {
  store::Store& store;
  const io::ObjectStore& objects;
  std::string home{};
};

/// What kind of thing a file is, by the asset that names it or the folder it lies in: "logs",
/// "run artifacts", "outputs", "code", "data", "models", "uploads", "other".
class FileKinds {
 public:
  FileKinds() = default;
  explicit FileKinds(const std::vector<store::AssetPlace>& places);
  std::string_view of(const store::BlobKey& key) const;

 private:
  std::map<std::string, std::string_view, std::less<>>
      named_{};  ///< By workspace, container, path.
};

/// Adds up what is kept, in steps on the store's inspecting thread, and answers on the loop. With
/// `is_whole`, what belongs to no workspace too: the database, objects, live logs, nodes.
void report_storage(const ReportParts& parts, Workspaces workspaces, bool is_whole,
                    std::function<void(Result<boost::json::object>)> done);

}  // namespace berth::server
