// SPDX-License-Identifier: Apache-2.0
#include "model/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <regex>
#include <utility>

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

const CommandWork& command_of(const JobSpec& spec) {
  if (const auto* command = std::get_if<CommandWork>(&spec.work)) return *command;
  if (const auto* service = std::get_if<ServiceWork>(&spec.work)) return service->serves;
  return std::get<ArrayWork>(spec.work).each;
}

CommandWork& command_of(JobSpec& spec) {
  return const_cast<CommandWork&>(command_of(std::as_const(spec)));
}

const ServiceSpec* service_of(const JobSpec& spec) {
  const auto* work = std::get_if<ServiceWork>(&spec.work);
  return work == nullptr ? nullptr : &work->service;
}

int nodes_of_attempt(const JobSpec& spec) {
  return std::max(command_of(spec).resources.instance_count, 1);
}

const std::vector<Member>& members_of(const Job& job) {
  static const std::vector<Member> kNobody;
  const auto* held = std::get_if<Members>(&job.holding);
  return held == nullptr ? kNobody : held->members;
}

const Member* find_member(const Job& job, const NodeId& node) {
  for (const Member& member : members_of(job)) {
    if (member.node == node) return &member;
  }
  return nullptr;
}

NodeId head_node(const Job& job) {
  const std::vector<Member>& members = members_of(job);
  return members.empty() ? NodeId{} : members.front().node;
}

bool is_terminal(JobStatus status) {
  return status == JobStatus::Completed || status == JobStatus::Failed ||
         status == JobStatus::Canceled;
}

std::string artifact_prefix(const JobKey& key) {
  return fmt::format("ExperimentRun/dcid.{}/", key.name);
}

std::string output_uri(const Job& job, const std::string& output_name) {
  const auto output = job.spec->outputs.find(output_name);
  const bool is_known = output != job.spec->outputs.end();
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
