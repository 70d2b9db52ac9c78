// SPDX-License-Identifier: Apache-2.0
// Run history: how the second API of Azure ML writes what ARM calls a job.
#pragma once

#include <boost/json.hpp>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/job.h"
#include "model/workspace.h"

namespace berth::wire::arm {

namespace json = boost::json;

/// How the kinds of inputs and outputs are written: "UriFolder", or "uri_folder" as ARM does.
enum class RunSpelling { History, Arm };

/// azure-ai-ml looks for ARM's words from 1.35 on, and finds no outputs under those that Azure
/// sends; before, it knew only the latter.
RunSpelling spelling_for(std::string_view user_agent);

/// A run, with everything about it that does not need the server's address.
json::object run_json(const model::Job& job, RunSpelling spelling = RunSpelling::History);

/// "azureml://jobs/<job>/outputs/<output>": what run history calls the asset of an output.
std::string output_asset_id(const model::Job& job, const std::string& output);

/// "azureml://subscriptions/…/datastores/<d>/paths/<p>".
std::string long_datastore_uri(const model::Workspace& workspace, const std::string& datastore,
                               const std::string& path);

/// What a PATCH of a run asks for: fields that are absent stay, maps are added to.
struct RunChanges {
  std::optional<std::string> display_name{};
  std::optional<std::string> description{};
  std::optional<bool> is_archived{};
  std::map<std::string, std::string> tags{};
  std::map<std::string, std::string> properties{};
};
Result<RunChanges> run_changes_from_json(const json::value& body);

}  // namespace berth::wire::arm
