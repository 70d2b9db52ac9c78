// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/result.h"
#include "cli/command.h"
#include "cli/transfer/snapshot.h"
#include "model/job.h"
#include "wire/yaml/job.h"

namespace berth::cli {

/// A job as the server has it.
struct Submitted {
  model::Job job{};
  json::object resource{};
};

/// Reads a job resource of the server.
Result<Submitted> read_job(const json::object& resource);
Result<Submitted> get_job(Client& client, const std::string& name);

/// What `az ml job show` prints.
json::object view_of(const Submitted& submitted, const model::Workspace& workspace);
/// Where the job is shown on the web.
std::string web_view(const Submitted& submitted);

/// Uploads what is local, names what has no name, adds where the code comes from: all but the PUT.
/// `source` is the folder whose repository is recorded.
Status complete(Context& context, wire::yaml::JobFile& file, const std::string& source,
                const SnapshotLimits& code_limits = {});
/// Makes an inline environment and returns its id. Its version follows from its content, so that
/// the same one is made once.
Result<std::string> make_environment(Context& context, wire::yaml::EnvironmentSpec& spec);
Result<Submitted> submit(Context& context, const model::Job& job);

/// An experiment's name from that of the folder in which the job is submitted.
std::string experiment_of(const std::string& directory);

/// What has come to be known of the job since: files that are kept under other names, say.
void warn_of_news(const Console& console, const model::Job& before, const model::Job& now);

/// Exit status for a job that is over: its own; 128 + n after signal n; 1 when it failed otherwise.
int exit_status(const model::Job& job);

/// Why a job did not complete, in one line for people.
std::string failure_of(const model::Job& job);

}  // namespace berth::cli
