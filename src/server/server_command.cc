// SPDX-License-Identifier: Apache-2.0
#include "server/server_command.h"

#include <charconv>
#include <cstdio>
#include <filesystem>
#include <limits>

#include "base/result.h"
#include "server/server.h"

namespace berth::server {
namespace {

constexpr const char* kHelp = R"(berth server: run the server in front, until Ctrl-C or SIGTERM.

Usage: berth server [flags]
       berth server status|stop

The command line starts a server by itself when none answers, so this is for service managers and
for watching. Jobs that run go on when the server stops, and are found again when it starts.

  --home DIR         state directory (default: $BERTH_HOME, else ~/.local/share/berth)
  --port N           loopback port for https and http (default 8470; 0: any free one)
  --slots N          jobs at once on this machine (default: one per core)
  --node-idle SECS   let the local node go after so long without work (default 120)
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
  } else if (flag == "--ready-fd") {
    options.ready_fd = TRY(number(flag, value, 1 << 20));
  } else {
    return fail(Code::InvalidArgument, fmt::format("unknown flag '{}'", flag));
  }
  return Done{};
}

Result<ServerOptions> parse(std::span<const std::string> flags, const std::string& home) {
  ServerOptions options{.home = home};
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
