// SPDX-License-Identifier: Apache-2.0
#include "node/node_command.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdio>
#include <map>

#include "base/log.h"
#include "base/text.h"
#include "target/local/local_provider.h"

namespace berth::node {
namespace {

constexpr const char* kUsage = "usage: berth node --name ID --home DIR [--slots N]\n";

Result<std::map<std::string, std::string>> parse_flags(std::span<const std::string> arguments) {
  std::map<std::string, std::string> flags;
  for (std::size_t index = 0; index < arguments.size(); index += 2) {
    const std::string& flag = arguments[index];
    if (flag != "--name" && flag != "--home" && flag != "--slots" && flag != "--work-root") {
      return fail(Code::InvalidArgument, fmt::format("unknown argument '{}'", flag));
    }
    if (index + 1 == arguments.size()) {
      return fail(Code::InvalidArgument, fmt::format("'{}' needs a value", flag));
    }
    flags[flag] = arguments[index + 1];
  }
  return flags;
}

Result<int> parse_slots(const std::string& text) {
  int slots = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), slots);
  if (failed != std::errc() || end != text.data() + text.size() || slots < 1) {
    return fail(Code::InvalidArgument, fmt::format("'--slots {}' is not a positive number", text));
  }
  return slots;
}

}  // namespace

Result<AgentOptions> parse_node_arguments(std::span<const std::string> arguments) {
  std::map<std::string, std::string> flags = TRY(parse_flags(arguments));
  AgentOptions options;
  options.id.text = flags["--name"];
  options.home = flags["--home"];
  if (!is_resource_name(options.id.text)) {
    return fail(Code::InvalidArgument, fmt::format("'--name {}' is not a name", options.id.text));
  }
  if (!options.home.starts_with('/')) {
    return fail(Code::InvalidArgument, "'--home' needs an absolute path");
  }
  if (flags.contains("--slots")) options.slots = TRY(parse_slots(flags["--slots"]));
  const target::local::NodePaths paths(options.home, options.id);
  options.work_root = flags.contains("--work-root") ? flags["--work-root"] : paths.work_root;
  options.token_file = paths.token;
  options.identity_file = paths.agent;
  return options;
}

int node_main(std::span<const std::string> arguments) {
  const Result<AgentOptions> options = parse_node_arguments(arguments);
  if (!options) {
    std::fprintf(stderr, "error: %s\n%s", options.error().message.c_str(), kUsage);
    return 2;
  }
  log::to_stderr(log::Level::Info);
  const Status ended = run_agent(*options);
  if (ended) return 0;
  log::error("{}", ended.error().message);
  return 1;
}

}  // namespace berth::node
