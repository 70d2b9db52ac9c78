// SPDX-License-Identifier: Apache-2.0
#include "model/job.h"

#include <fmt/format.h>

#include <regex>

#include "model/datastore.h"

namespace berth::model {
namespace {

constexpr std::string_view kDefaultOutputUri =
    "azureml://datastores/${{default_datastore}}/paths/azureml/${{name}}/${{output_name}}/";

/// Replaces "${{ name }}", with or without spaces inside the braces.
std::string replace_expression(const std::string& text, const std::string& name,
                               std::string_view value) {
  const std::regex expression("\\$\\{\\{\\s*" + name + "\\s*\\}\\}");
  std::string result;
  auto rest = text.cbegin();
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end;
       ++match) {
    result.append(rest, (*match)[0].first).append(value);
    rest = (*match)[0].second;
  }
  return result.append(rest, text.cend());
}

}  // namespace

const Member* find_member(const Job& job, const NodeId& node) {
  for (const Member& member : job.members) {
    if (member.node == node) return &member;
  }
  return nullptr;
}

NodeId head_node(const Job& job) {
  return job.members.empty() ? NodeId{} : job.members.front().node;
}

bool is_terminal(JobStatus status) {
  return status == JobStatus::Completed || status == JobStatus::Failed ||
         status == JobStatus::Canceled;
}

std::string artifact_prefix(const JobKey& key) {
  return fmt::format("ExperimentRun/dcid.{}/", key.name);
}

std::string output_uri(const Job& job, const std::string& output_name) {
  const auto output = job.spec.outputs.find(output_name);
  const bool is_known = output != job.spec.outputs.end();
  const bool is_default = !is_known || output->second.uri.empty();
  std::string uri = is_default ? std::string(kDefaultOutputUri) : output->second.uri;
  if (uri.find("${{") != std::string::npos) {
    uri = replace_expression(uri, "default_datastore", kDatastores[0].name);
    uri = replace_expression(uri, "name", job.key.name);
    uri = replace_expression(uri, "output_name", output_name);
  }
  // A file cannot be called like a folder.
  if (is_known && output->second.type == DataType::UriFile && uri.ends_with('/'))
    uri += output_name;
  return uri;
}

}  // namespace berth::model
