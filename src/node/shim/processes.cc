// SPDX-License-Identifier: Apache-2.0
#include "node/shim/processes.h"

#include <algorithm>

#include "node/files/restored.h"
#include "node/mpi/run.h"

namespace berth::node {
namespace {

using wire::node::Launch;
using wire::node::Starter;

CommandSpec spec_of(const AttemptPaths& paths, const Launch& launch,
                    const std::map<std::string, std::string>& environment) {
  return {.command = {.text = launch.command,
                      .working_directory = paths.directory + "/" + launch.working_directory,
                      .environment = environment},
          .log = paths.log};
}

}  // namespace

Result<std::vector<CommandSpec>> commands_of(
    const AttemptPaths& paths, const Launch& launch,
    const std::map<std::string, std::string>& environment) {
  const bool is_restored = std::ranges::any_of(
      launch.deliveries, [](const wire::node::Deliver& delivery) { return delivery.only_changed; });
  if (is_restored) TRY(mark_start(paths));
  CommandSpec common = spec_of(paths, launch, environment);
  if (launch.starter != Starter::Shim) {
    TRY(let_mpi_start(launch, common));
    return std::vector{std::move(common)};
  }
  std::vector<CommandSpec> commands;
  for (const wire::node::RankProcess& process : launch.processes) {
    CommandSpec& command = commands.emplace_back(common);
    for (const auto& [name, value] : process.environment) command.command.environment[name] = value;
    // The first one's log is the node's.
    if (commands.size() > 1) command.log = paths.directory + "/" + process.log;
  }
  if (commands.empty()) commands.push_back(std::move(common));
  return commands;
}

}  // namespace berth::node
