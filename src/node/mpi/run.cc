// SPDX-License-Identifier: Apache-2.0
#include "node/mpi/run.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "base/text.h"
#include "node/mpi/peer.h"
#include "node/mpi/rank.h"

namespace berth::node {
namespace {

using wire::node::Launch;
using wire::node::Starter;

Status check_program(const CommandSpec& command, const std::string& program) {
  const auto path = command.command.environment.find("PATH");
  const std::string folders = path == command.command.environment.end() ? "" : path->second;
  for (const std::string_view folder : split(folders, ':')) {
    if (folder.empty()) continue;
    if (::access(fmt::format("{}/{}", folder, program).c_str(), X_OK) == 0) return Done{};
  }
  return fail(Code::NotFound, fmt::format("there is no '{}' on this node's PATH; an mpi job needs "
                                          "Open MPI (Debian: openmpi-bin)",
                                          program));
}

/// What makes several nodes of one machine work, and what a machine without a network needs.
std::string parameters_for(const std::vector<MpiPeer>& peers) {
  std::string parameters;
  if (is_loopback(peers.front().address)) {
    parameters += " --mca oob_tcp_if_include lo --mca btl_tcp_if_include lo";
  }
  if (share_a_machine(peers)) {
    // Each node would bind its first process to the same first core, and none would ever yield it.
    parameters += " --bind-to none --mca mpi_yield_when_idle 1 --mca btl self,vader,tcp";
  }
  return parameters;
}

std::string host_list(std::size_t nodes, std::size_t slots) {
  std::string list = fmt::format("localhost:{}", slots);
  for (std::size_t rank = 1; rank < nodes; ++rank) {
    list += fmt::format(",{}:{}", mpi_host_name(rank), slots);
  }
  return list;
}

/// Every node starts the wrapper by its own environment: paths differ from node to node.
std::string mpirun_command(const std::vector<MpiPeer>& peers, std::size_t slots) {
  return fmt::format(
      "mpirun --allow-run-as-root --leave-session-attached --mca plm rsh --mca plm_rsh_agent "
      "'/proc/{}/exe mpi-rsh' "
      "--mca plm_rsh_no_tree_spawn 1{} --host {} --map-by slot:OVERSUBSCRIBE -np {} "
      "/bin/sh -c 'exec \"${}\" mpi-rank'",
      ::getpid(), parameters_for(peers), host_list(peers.size(), slots), peers.size() * slots,
      kExecutableVariable);
}

/// The attempt's directory, with a '/'.
std::string attempt_of(const Launch& launch, const CommandSpec& command) {
  return command.command.working_directory.substr(
      0, command.command.working_directory.size() - launch.working_directory.size());
}

/// mpirun writes nothing of the ranks' itself, but warns, in the middle of the first one's log,
/// when a process that it started was quicker than it (its setpgid is refused then, which does not
/// matter). All else that it says passes, and its exit code is the command's. What passes it on
/// stays until mpirun has said its last word.
std::string without_warning(const std::string& command) {
  return fmt::format(
      "exec 3>&1; code=$({{ {{ {} 2>&1 >&3 3>&- 4>&-; echo $? >&4; }} | "
      "(trap '' TERM; exec sed -u '/plm:rsh: Warning: setpgid(/d' >&2 3>&- 4>&-); }} 4>&1); "
      "exit ${{code:-1}}",
      command);
}

/// Its temporary files go into the attempt's directory, and with it. And inside an allocation of
/// Slurm's it must not ask Slurm for nodes.
void set_environment(const Launch& launch, CommandSpec& command) {
  std::erase_if(command.command.environment,
                [](const auto& each) { return each.first.starts_with("SLURM_"); });
  const auto before = command.command.environment.find("TMPDIR");
  if (before != command.command.environment.end()) {
    command.command.environment[kTemporaryVariable] = before->second;
  }
  command.command.environment["TMPDIR"] = attempt_of(launch, command) + "mpi";
  command.command.environment[kExecutableVariable] = fmt::format("/proc/{}/exe", ::getpid());
}

}  // namespace

Status let_mpi_start(const Launch& launch, CommandSpec& command) {
  const bool is_head = launch.starter == Starter::Mpirun;
  TRY(check_program(command, is_head ? "mpirun" : "orted"));
  const std::vector<MpiPeer> peers =
      TRY(parse_mpi_hosts(command.command.environment[kMpiHostsVariable]));
  const std::size_t slots = std::max<std::size_t>(launch.processes.size(), 1);
  command.command.text = is_head ? without_warning(mpirun_command(peers, slots))
                                 : fmt::format("exec /proc/{}/exe mpi-host", ::getpid());
  command.rank_logs = {command.log};
  for (std::size_t rank = 1; rank < launch.processes.size(); ++rank) {
    command.rank_logs.push_back(attempt_of(launch, command) + launch.processes[rank].log);
  }
  set_environment(launch, command);
  return Done{};
}

}  // namespace berth::node
