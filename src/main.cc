// SPDX-License-Identifier: Apache-2.0
// One executable: server, node agent and command line.

#include <cstdio>
#include <span>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "cli/place.h"
#include "node/node_command.h"
#include "server/server_command.h"

namespace {

int run_server(std::span<const std::string> flags) {
  const auto place = berth::cli::current_place();
  if (place) return berth::server::server_main(flags, place->home);
  std::fprintf(stderr, "error: %s\n", place.error().message.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  // `berth server status` and the like are commands; `berth server` and `berth server --port 0` are
  // not.
  const bool only_flags = words.size() == 1 || (words.size() > 1 && words[1].starts_with('-'));
  if (!words.empty() && words[0] == "server" && only_flags) {
    return run_server(std::span(words).subspan(1));
  }
  if (!words.empty() && words[0] == "node" && only_flags) {
    return berth::node::node_main(std::span(words).subspan(1));
  }
  return berth::cli::run(words);
}
