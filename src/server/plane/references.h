// SPDX-License-Identifier: Apache-2.0
// What the references in a job mean here: which blobs, or which web address.
#pragma once

#include <string>
#include <variant>

#include "base/result.h"
#include "core/state.h"
#include "model/assets/reference.h"
#include "model/job.h"
#include "store/store.h"

namespace berth::server {

class JobsDesk;

struct Catalogue {
  store::Store& store;
  const core::State& state;
  const JobsDesk& jobs;
};

/// A blob, or all blobs below a prefix that ends in '/'.
struct BlobPlace {
  std::string container{};
  std::string path{};
  bool is_folder = false;
};

using Place = std::variant<BlobPlace, model::WebAddress>;

/// Finds what an input refers to, following data assets and other jobs' outputs. An error says
/// which asset, job or blob is missing.
Result<Place> find_input(const Catalogue& catalogue, const model::WorkspaceId& workspace,
                         const model::JobInput& input);

/// The version of a data asset or a model that a reference means: by number, label or the latest.
Result<model::Asset> find_asset(const Catalogue& catalogue, const model::WorkspaceId& workspace,
                                model::AssetKind kind, const model::AssetRef& reference);

/// Where an output's files go: below `path`, or exactly there for a uri_file.
Result<BlobPlace> find_output(const model::Job& job, const std::string& output);

/// What a URL of ours (http…/blob/<workspace>/<container>/<path>) or a datastore URI names. The
/// host does not count: the server may have been reached another way when the URL was made.
Result<BlobPlace> blob_of_url(const model::WorkspaceId& workspace, const std::string& url);

/// The folder a job's code version lies in.
Result<BlobPlace> find_code(const Catalogue& catalogue, const model::WorkspaceId& workspace,
                            const std::string& code_id);

/// A digest of all names and bytes of a job's code as they are now; empty when it has none.
Result<std::string> digest_of_code(const Catalogue& catalogue, const model::WorkspaceId& workspace,
                                   const std::string& code_id);

/// Refuses the address of a blob of another workspace of this server.
Status check_blob_url(const core::State& state, const model::Workspace& own, std::string_view url);

/// Refuses a body in which some text is the id or the address of another workspace's thing.
Status check_ids(const core::State& state, const model::Workspace& own,
                 const boost::json::value& value);

/// Refuses a job whose code or inputs are not there, or which names what is of another workspace.
/// The error's target names the input.
Status check_references(const Catalogue& catalogue, const model::WorkspaceId& workspace,
                        const model::JobSpec& spec);

}  // namespace berth::server
