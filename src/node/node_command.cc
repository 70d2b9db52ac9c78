// SPDX-License-Identifier: Apache-2.0
#include "node/node_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <set>

#include "base/log.h"
#include "base/text.h"
#include "io/process/process.h"
#include "node/shim/leftovers.h"
#include "target/local/local_provider.h"

namespace berth::node {
namespace {

constexpr const char* kUsage =
    "usage: berth node --name ID --home DIR [--slots N]\n"
    "       berth node --name ID --server https://HOST:PORT --ca FILE --token-file FILE\n"
    "                  [--slots N] [--work-directory DIR]\n"
    "       berth node --sweep WORK-DIRECTORY\n";

using Flags = std::map<std::string, std::string>;

Result<Flags> parse_flags(std::span<const std::string> arguments,
                          const std::set<std::string_view>& known) {
  Flags flags;
  for (std::size_t index = 0; index < arguments.size(); index += 2) {
    const std::string& flag = arguments[index];
    if (!known.contains(flag)) {
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

Result<model::NodeId> parse_name(const std::string& text) {
  if (is_resource_name(text)) return model::NodeId{text};
  return fail(Code::InvalidArgument, fmt::format("'--name {}' is not a name", text));
}

bool is_remote(std::span<const std::string> arguments) {
  return std::ranges::find(arguments, "--server") != arguments.end();
}

int finish(const Status& ended) {
  if (ended) return 0;
  log::error("{}", ended.error().message);
  return 1;
}

int misused(const Error& error) {
  std::fprintf(stderr, "error: %s\n%s", error.message.c_str(), kUsage);
  return 2;
}

}  // namespace

Result<AgentOptions> parse_node_arguments(std::span<const std::string> arguments) {
  Flags flags = TRY(parse_flags(arguments, {"--name", "--home", "--slots", "--work-root"}));
  AgentOptions options;
  options.id = TRY(parse_name(flags["--name"]));
  options.home = flags["--home"];
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

Result<RemoteArguments> parse_remote_arguments(std::span<const std::string> arguments) {
  Flags flags = TRY(parse_flags(
      arguments, {"--name", "--server", "--ca", "--token-file", "--slots", "--work-directory"}));
  RemoteArguments remote{.server = flags["--server"],
                         .authority_file = flags["--ca"],
                         .token_file = flags["--token-file"],
                         .work_directory = flags["--work-directory"]};
  remote.id = TRY(parse_name(flags["--name"]));
  TRY(io::parse_https_address(remote.server));
  if (remote.authority_file.empty() || remote.token_file.empty()) {
    return fail(Code::InvalidArgument, "'--server' needs '--ca' and '--token-file'");
  }
  if (!remote.work_directory.empty() && !remote.work_directory.starts_with('/')) {
    return fail(Code::InvalidArgument, "'--work-directory' needs an absolute path");
  }
  if (flags.contains("--slots")) remote.slots = TRY(parse_slots(flags["--slots"]));
  return remote;
}

int node_main(std::span<const std::string> arguments) {
  log::to_stderr(log::Level::Info);
  if (arguments.size() == 2 && arguments[0] == "--sweep") return finish(sweep(arguments[1]));
  io::keep_memory_private();  // It holds the node's token.
  if (is_remote(arguments)) {
    const Result<RemoteArguments> remote = parse_remote_arguments(arguments);
    return remote ? finish(run_remote_node(*remote)) : misused(remote.error());
  }
  const Result<AgentOptions> options = parse_node_arguments(arguments);
  return options ? finish(run_agent(*options)) : misused(options.error());
}

}  // namespace berth::node
