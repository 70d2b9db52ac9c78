// SPDX-License-Identifier: Apache-2.0
// One executable: server, node agent and command line.

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/place.h"
#include "node/mpi/host.h"
#include "node/mpi/rank.h"
#include "node/mpi/rsh.h"
#include "node/node_command.h"
#include "server/server_command.h"

namespace {

int run_server(std::span<const std::string> flags) {
  const auto place = berth::cli::current_place();
  if (place) return berth::server::server_main(flags, place->home);
  std::fprintf(stderr, "error: %s\n", place.error().message.c_str());
  return 1;
}

/// What a node starts of itself, for MPI; nothing for people to type.
int run_for_mpi(std::span<const std::string> words) {
  if (words[0] == "mpi-host") return berth::node::mpi_host_main();
  if (words[0] == "mpi-rank") return berth::node::mpi_rank_main();
  return berth::node::mpi_rsh_main(words.subspan(1));
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  // `berth server status` and the like are commands; `berth server` and `berth server --port 0` are
  // not.
  const bool has_flags = words.size() > 1 && words[1].starts_with('-');
  if (!words.empty() && words[0] == "server" && (words.size() == 1 || has_flags)) {
    return run_server(std::span(words).subspan(1));
  }
  const bool asks_for_help = has_flags && (words[1] == "-h" || words[1] == "--help");
  if (has_flags && words[0] == "node" && !asks_for_help) {
    return berth::node::node_main(std::span(words).subspan(1));
  }
  if (!words.empty() &&
      (words[0] == "mpi-host" || words[0] == "mpi-rank" || words[0] == "mpi-rsh")) {
    return run_for_mpi(words);
  }
  return berth::cli::run(words);
}
