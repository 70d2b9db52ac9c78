// SPDX-License-Identifier: Apache-2.0
#include "node/mpi/rank.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstdio>

#include "base/text.h"
#include "io/process/process.h"
#include "node/files/attempt_files.h"
#include "node/mpi/peer.h"
#include "node/runtime/command.h"

namespace berth::node {
namespace {

using Environment = std::map<std::string, std::string>;

Result<std::size_t> local_rank(Environment& environment) {
  const std::string& text = environment["OMPI_COMM_WORLD_LOCAL_RANK"];
  std::size_t rank = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), rank);
  if (failed != std::errc() || end != text.data() + text.size()) {
    return fail(Code::InvalidArgument, "not started by Open MPI");
  }
  return rank;
}

/// As the job asked for it, without what was only for mpirun and its daemons.
void set_environment(const AttemptPaths& paths, const wire::node::RankProcess& process,
                     Environment& environment) {
  const Result<std::vector<MpiPeer>> peers = parse_mpi_hosts(environment[kMpiHostsVariable]);
  if (peers && share_a_machine(*peers)) {
    // Its shared memory is named for the machine; nodes that share one would share that as well.
    environment["OMPI_MCA_btl_vader_backing_directory"] = paths.directory + "/mpi";
  }
  environment.erase("TMPDIR");
  if (const auto before = environment.find(kTemporaryVariable); before != environment.end()) {
    environment["TMPDIR"] = before->second;
  }
  for (const char* const ours :
       {kTemporaryVariable, kExecutableVariable, kMpiHostsVariable, kRankLogsVariable}) {
    environment.erase(ours);
  }
  for (const auto& [name, value] : process.environment) environment[name] = value;
}

Status redirect(std::string_view logs, std::size_t rank) {
  const std::vector<std::string_view> places = split(logs, ':');
  if (rank >= places.size()) return fail(Code::InvalidArgument, "this rank has no log");
  const io::Descriptor pipe(::open(std::string(places[rank]).c_str(), O_WRONLY | O_CLOEXEC));
  if (!pipe) return fail(io::error_from_errno(errno, "open the log"));
  ::dup2(pipe.get(), STDOUT_FILENO);
  ::dup2(pipe.get(), STDERR_FILENO);
  return Done{};
}

Status run() {
  Environment environment = io::current_environment();
  const AttemptPaths paths(environment[kMarkerVariable]);
  const auto record = read_record<LaunchRecord>(paths.launch);
  if (!record) return fail(Code::NotFound, fmt::format("no launch in '{}'", paths.directory));
  const wire::node::Launch& launch = record->launch;
  const std::size_t rank = TRY(local_rank(environment));
  if (rank >= launch.processes.size()) {
    return fail(Code::InvalidArgument, "Open MPI started more processes here than were asked for");
  }
  const wire::node::RankProcess& process = launch.processes[rank];
  TRY(redirect(environment[kRankLogsVariable], rank));
  set_environment(paths, process, environment);
  const std::string folder = paths.directory + "/" + launch.working_directory;
  return fail(become(TRY(
      runtime_of(launch).wrap(record->runtime, {launch.command, folder, std::move(environment)}))));
}

}  // namespace

int mpi_rank_main() {
  const Status ended = run();
  std::fprintf(stderr, "berth mpi-rank: %s\n", ended.error().message.c_str());
  return 127;
}

}  // namespace berth::node
