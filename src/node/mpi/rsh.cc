// SPDX-License-Identifier: Apache-2.0
#include "node/mpi/rsh.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>

#include "io/process/process.h"
#include "node/mpi/relay.h"

namespace berth::node {
namespace {

constexpr int kNoStatus = 255;
constexpr unsigned kPauseMicroseconds = 20'000;

/// All members are told to start at the same time; the other may take a moment longer.
Result<io::Descriptor> connect_patiently(const MpiCall& call) {
  const SystemClock clock;
  const TimePoint deadline = clock.now().mono + call.patience;
  while (true) {
    Result<io::Descriptor> link = connect_to(call.place);
    if (link || link.error().code != Code::Unavailable) return link;
    if (clock.now().mono >= deadline) return link;
    ::usleep(kPauseMicroseconds);
  }
}

Result<MpiCall> call_from(std::span<const std::string> words,
                          std::map<std::string, std::string> environment) {
  if (words.size() < 2) return fail(Code::InvalidArgument, "usage: berth mpi-rsh HOST COMMAND…");
  const std::size_t rank = TRY(rank_of_mpi_host(words[0]));
  const std::vector<MpiPeer> peers = TRY(parse_mpi_hosts(environment[kMpiHostsVariable]));
  if (rank >= peers.size()) {
    return fail(Code::NotFound, fmt::format("the job has no member {}", rank));
  }
  return MpiCall{.place = peers[rank],
                 .secret = environment[kMpiSecretVariable],
                 .command = fmt::format("{}", fmt::join(words.subspan(1), " "))};
}

}  // namespace

Result<int> call_mpi_host(const MpiCall& call) {
  const io::Descriptor link = TRY(connect_patiently(call));
  TRY(prove_as_caller(link.get(), call.secret));
  TRY(send_mpi_frame(link.get(), MpiRelay::kCommand, call.command));
  MpiRelay relay(link.get());
  relay.send_from(STDIN_FILENO, MpiRelay::kInput);
  relay.receive_to(STDOUT_FILENO, MpiRelay::kOutput);
  relay.receive_to(STDERR_FILENO, MpiRelay::kError);
  const std::optional<int> status = TRY(relay.run());
  return status.value_or(kNoStatus);
}

int mpi_rsh_main(std::span<const std::string> words) {
  ::signal(SIGPIPE, SIG_IGN);
  const Result<MpiCall> call = call_from(words, io::current_environment());
  const Result<int> status = call ? call_mpi_host(*call) : Result<int>(fail(call.error()));
  if (status) return *status;
  std::fprintf(stderr, "berth mpi-rsh: %s\n", status.error().message.c_str());
  return kNoStatus;
}

}  // namespace berth::node
