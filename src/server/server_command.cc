// SPDX-License-Identifier: Apache-2.0
#include "server/server_command.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "base/result.h"
#include "io/process.h"
#include "server/server.h"

namespace berth::server {
namespace {

constexpr const char* kHelp = R"(berth server: run the server in front, until Ctrl-C or SIGTERM.

Usage: berth server [flags]
       berth server status|stop

The command line starts a server by itself when none answers, so this is for service managers and
for watching. Jobs that run go on when the server stops, and are found again when it starts.

  --home DIR         state directory (default: $BERTH_HOME, else ~/.local/share/berth)
  --port N           port for https, and http on loopback (default 8470; 0: any free one)
  --bind ADDRESS     answer there too, https only, for nodes and people of other machines; an
                     address or name of this one, or 0.0.0.0; may be repeated (default: loopback)
  --slots N          jobs at once on this machine (default: one per core)
  --node-idle SECS   let the local node go after so long without work (default 120)
  --lease SECS       how long nodes of other machines work on without a word from here (default 10)
  --max-preemptions N   how often a job may be preempted or lose its node before it fails
                     (default: $BERTH_MAX_PREEMPTIONS, else 100)
  --job-users FILE   the Unix user that each Berth user's jobs run as; needs root
                     (default: all run as the server does; see docs/security.md)
  --sizes FILE       sizes of your own for clusters (default: sizes.yml of the state directory)
)";

Result<int> number(const std::string& flag, const std::string& text, int most) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, value);
  if (failed == std::errc() && stopped == end && value >= 0 && value <= most) return value;
  return fail(Code::InvalidArgument,
              fmt::format("{} takes a number from 0 to {}, not '{}'", flag, most, text));
}

Status take(ServerOptions& options, const std::string& flag, const std::string& value) {
  if (flag == "--home") {
    options.home = std::filesystem::absolute(value).lexically_normal();
  } else if (flag == "--port") {
    options.port = static_cast<std::uint16_t>(TRY(number(flag, value, 65535)));
  } else if (flag == "--slots") {
    options.slots = TRY(number(flag, value, 4096));
  } else if (flag == "--node-idle") {
    options.node_idle = std::chrono::seconds(TRY(number(flag, value, 1'000'000)));
  } else if (flag == "--bind") {
    options.bind.push_back(value);
  } else if (flag == "--lease") {
    options.lease = std::chrono::seconds(std::max(1, TRY(number(flag, value, 86'400))));
  } else if (flag == "--max-preemptions") {
    options.max_requeues = TRY(number(flag, value, 1'000'000));
  } else if (flag == "--job-users") {
    options.job_users_file = std::filesystem::absolute(value).lexically_normal();
  } else if (flag == "--sizes") {
    options.sizes_file = std::filesystem::absolute(value).lexically_normal();
  } else if (flag == "--ready-fd") {
    options.ready_fd = TRY(number(flag, value, 1 << 20));
  } else {
    return fail(Code::InvalidArgument, fmt::format("unknown flag '{}'", flag));
  }
  return Done{};
}

Result<ServerOptions> parse(std::span<const std::string> flags, const std::string& home) {
  ServerOptions options{.home = home};
  const auto environment = io::current_environment();
  if (const auto most = environment.find("BERTH_MAX_PREEMPTIONS"); most != environment.end()) {
    options.max_requeues = TRY(number(most->first, most->second, 1'000'000));
  }
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::size_t equals = flags[i].find('=');
    const std::string flag = flags[i].substr(0, equals);
    if (flag == "--background") {
      options.is_background = true;
    } else if (equals != std::string::npos) {
      TRY(take(options, flag, flags[i].substr(equals + 1)));
    } else if (i + 1 < flags.size()) {
      TRY(take(options, flag, flags[++i]));
    } else {
      return fail(Code::InvalidArgument, fmt::format("'{}' is unknown or lacks its value", flag));
    }
  }
  return options;
}

}  // namespace

int server_main(std::span<const std::string> flags, const std::string& home) {
  if (!flags.empty() && (flags[0] == "--help" || flags[0] == "-h")) {
    std::fputs(kHelp, stdout);
    return 0;
  }
  const Result<ServerOptions> options = parse(flags, home);
  if (options) return run_server(*options);
  std::fprintf(stderr, "error: %s\nsee 'berth server --help'\n", options.error().message.c_str());
  return 2;
}

}  // namespace berth::server
