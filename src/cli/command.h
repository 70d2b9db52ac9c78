// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/client.h"
#include "cli/output/console.h"
#include "cli/output/output.h"
#include "cli/place.h"

namespace berth::cli {

enum class Takes {
  Nothing,   ///< A switch.
  Value,     ///< One; the last one given counts.
  Maybe,     ///< One or none: --list-defaults, --list-defaults true.
  EachTime,  ///< One each time it is given: --env A=1 --env B=2.
  Several,   ///< All words up to the next flag: --set a=1 b=2.
};

struct Flag {
  /// "-n,--name"; commands ask for it by the long one without dashes. A bare word among them
  /// ("-n,--name,NAME") means that it may also be given without the flag.
  std::string_view spelling;
  Takes takes;
  std::string_view value;  ///< What help calls its value.
  std::string_view help;
  bool is_required = false;
};

/// The long spelling without its dashes.
std::string_view key_of(const Flag& flag);

/// What was given, by key.
struct Arguments {
  std::map<std::string, std::vector<std::string>, std::less<>> values{};
  std::vector<std::string> rest{};  ///< Behind "--", of commands that take a command.

  bool has(std::string_view key) const { return values.contains(key); }
  std::string get(std::string_view key, std::string_view otherwise = {}) const;
  std::vector<std::string> all(std::string_view key) const;
};

/// All a command may use. It never sees argv, the environment or std::cout.
struct Context {
  const Arguments& arguments;
  const Place& place;
  const Console& console;
  Client& client;
  OutputOptions output{};

  /// Prints a command's answer in the format that was asked for.
  Status print(const Answer& answer) const;
};

/// One command. `run` returns the exit status; without one, the command is known but not there yet.
struct Command {
  std::string_view words;     ///< As typed: "job create".
  std::string_view summary;   ///< One line.
  std::string_view details;   ///< What else is worth knowing; may be empty.
  std::string_view examples;  ///< Lines to copy; may be empty.
  std::span<const Flag> flags;
  Result<int> (*run)(Context& context);
  bool takes_rest = false;  ///< Words behind "--", or from the first that is not a flag.
};

/// Prints what is wrong with the way a command was called; the exit status for it.
Result<int> wrong_usage(const Context& context, std::string_view message);

/// What every command takes.
std::span<const Flag> global_flags();

/// Every command there is.
std::vector<Command> all_commands();

// One function for each group:
std::span<const Command> run_commands();
std::span<const Command> job_commands();
std::span<const Command> compute_commands();
std::span<const Command> data_commands();
std::span<const Command> environment_commands();
std::span<const Command> component_commands();
std::span<const Command> model_commands();
std::span<const Command> workspace_commands();
std::span<const Command> deployment_commands();
std::span<const Command> datastore_commands();
std::span<const Command> site_commands();
std::span<const Command> node_commands();
std::span<const Command> user_commands();
std::span<const Command> role_commands();
std::span<const Command> audit_commands();
std::span<const Command> secret_commands();
std::span<const Command> env_commands();
std::span<const Command> storage_commands();
std::span<const Command> service_commands();
std::span<const Command> server_commands();
// What scripts written for `az` also say:
std::span<const Command> configure_commands();
std::span<const Command> account_commands();
std::span<const Command> group_commands();
std::span<const Command> extension_commands();
std::span<const Command> absent_commands();

}  // namespace berth::cli
