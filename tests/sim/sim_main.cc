// SPDX-License-Identifier: Apache-2.0
// sim --seeds 1..5000: lives through so many worlds. The first that goes wrong is told of, and is
// lived through again by sim --seed N.
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <span>

#include "base/log.h"
#include "sim/options.h"
#include "sim/world.h"

namespace {

using berth::sim::World;

std::uint64_t current_seed = 0;
const World* current_world = nullptr;

void tell(const std::string& what) {
  std::fprintf(stderr, "%s\nseed %llu failed: %s\nreplay it with --seed %llu\n",
               current_world == nullptr ? "" : current_world->journal().c_str(),
               static_cast<unsigned long long>(current_seed), what.c_str(),
               static_cast<unsigned long long>(current_seed));
}

/// A check inside the server has failed. The process is at its end, in a call of our own, so that
/// more than a signal handler's few functions may be used.
void told_to_abort(int) {
  tell("a check of the server's own, above");
  ::_exit(1);
}

int run(const berth::sim::RunOptions& options) {
  berth::sim::Outside outside;
  std::uint64_t events = 0;
  for (current_seed = options.from; current_seed <= options.to; ++current_seed) {
    World world(current_seed, outside);
    current_world = &world;
    const auto verdict = world.live();
    events += world.events();
    if (verdict) {
      tell(*verdict);
      return 1;
    }
    if (options.shows_journal) std::printf("%s", world.journal().c_str());
    current_world = nullptr;
  }
  std::printf("seeds %llu..%llu: nothing went wrong in %llu notable events\n",
              static_cast<unsigned long long>(options.from),
              static_cast<unsigned long long>(options.to), static_cast<unsigned long long>(events));
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGABRT, told_to_abort);
  berth::log::to_file("/dev/null", berth::log::Level::Error);
  const auto options =
      berth::sim::read_options(std::span(argv + 1, static_cast<std::size_t>(argc - 1)));
  if (!options) {
    std::fprintf(stderr, "error: %s\n", options.error().message.c_str());
    return 2;
  }
  return run(*options);
}
