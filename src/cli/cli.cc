// SPDX-License-Identifier: Apache-2.0
#include "cli/cli.h"

#include <csignal>

#include "base/text.h"
#include "base/version.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/parse.h"
#include "cli/scope.h"
#include "cli/settings.h"
#include "cli/word_file.h"
#include "io/files/file.h"
#include "lang/jmespath/jmespath.h"

namespace berth::cli {
namespace {

/// The command that the words begin with; the longest one wins.
const Command* find_command(std::span<const Command> commands, std::span<const std::string> words) {
  const Command* found = nullptr;
  for (const Command& command : commands) {
    const auto wanted = split(command.words, ' ');
    const bool begins =
        words.size() >= wanted.size() && std::ranges::equal(wanted, words.first(wanted.size()));
    if (begins && (found == nullptr || found->words.size() < command.words.size()))
      found = &command;
  }
  return found;
}

std::vector<std::string_view> verbs_of(std::span<const Command> commands, std::string_view group) {
  std::vector<std::string_view> verbs;
  for (const Command& command : commands) {
    const auto words = split(command.words, ' ');
    if (words.size() > 1 && words[0] == group) verbs.push_back(words[1]);
  }
  return verbs;
}

std::vector<std::string_view> first_words(std::span<const Command> commands) {
  std::vector<std::string_view> words = {"help"};
  for (const Command& command : commands) words.push_back(split(command.words, ' ')[0]);
  return words;
}

/// Groups of `az` that scripts use beside `ml`, and that mean nothing without Azure.
constexpr std::string_view kAzureOnly[] = {
    "acr",     "ad",       "aks",     "appservice",  "bicep",    "container", "cosmosdb",
    "disk",    "eventhub", "feature", "functionapp", "identity", "keyvault",  "lock",
    "monitor", "network",  "policy",  "provider",    "resource", "rest",      "sql",
    "storage", "tag",      "vm",      "webapp"};

int unknown_command(const Console& console, std::span<const Command> commands,
                    std::span<const std::string> words) {
  const auto verbs = verbs_of(commands, words[0]);
  const bool is_group = !verbs.empty() && words.size() > 1;
  const std::string wrong = is_group ? words[0] + " " + words[1] : words[0];
  const auto near = is_group ? nearest(words[1], verbs) : nearest(words[0], first_words(commands));
  std::string message = fmt::format("'berth {}' is not a command", wrong);
  if (std::ranges::find(kAzureOnly, words[0]) != std::end(kAzureOnly)) {
    message = fmt::format(
        "'az {}' is about Azure itself; of az, Berth has 'ml' and what goes with it", words[0]);
  } else if (near) {
    message += fmt::format("; did you mean 'berth {}{}'?", is_group ? words[0] + " " : "", *near);
  }
  console.error(message);
  console.note(is_group
                   ? fmt::format("'berth {} --help' lists the commands of {}", words[0], words[0])
                   : "'berth --help' lists the commands");
  return 2;
}

bool is_help(std::string_view word) { return word == "-h" || word == "--help" || word == "help"; }

Result<OutputOptions> output_of(const Arguments& arguments, const Place& place) {
  OutputOptions options{.query = arguments.get("query")};
  if (arguments.has("query")) {
    const auto expression = lang::jmespath::compile(options.query);
    if (!expression) {
      return fail(Code::InvalidArgument,
                  fmt::format("--query '{}': {}", options.query, expression.error().message));
    }
  }
  const std::string format =
      arguments.has("output") ? arguments.get("output") : TRY(setting(place, "core.output"));
  if (!format.empty()) options.format = TRY(format_from(format));
  return options;
}

Result<int> run_command(const Command& command, const Arguments& arguments, const Place& place,
                        const Console& console, OutputOptions output) {
  const Locate locate = [&](bool again) -> Result<Endpoint> {
    const auto found = find_server(place);
    if (again || !found) return ensure_server(place, console);
    if (!found->version.empty() && found->version != kVersion) {
      console.warning(
          fmt::format("the server is Berth {}, this is {}; 'berth server stop' makes "
                      "way for a new one, running jobs go on",
                      found->version, kVersion));
    }
    return found;
  };
  Client client(locate, TRY(scope_of(arguments, place)), console);
  Context context{.arguments = arguments,
                  .place = place,
                  .console = console,
                  .client = client,
                  .output = std::move(output)};
  return command.run(context);
}

/// --token-file says who we are, as BERTH_TOKEN does.
Result<Place> with_token(const Arguments& arguments, Place place) {
  if (!arguments.has("token-file")) return place;
  const std::string path = place.absolute(arguments.get("token-file"));
  const auto text = io::read_file(path, 4096);
  if (!text) return fail(text.error().code, "cannot read the token: " + text.error().message);
  place.environment["BERTH_TOKEN"] = trim(*text);
  return place;
}

int misused(const Console& console, const Command& command, const Error& error) {
  console.error(error.message);
  console.note(fmt::format("{}\n'berth {} --help' tells more", usage_line(command), command.words));
  return 2;
}

std::string explained(const Error& error) {
  if (error.target.empty() || error.message.find(error.target) != std::string::npos) {
    return error.message;
  }
  return fmt::format("{}: {}", error.target, error.message);
}

/// A command of `az ml` that is not there yet: whatever its flags are, the answer is the same.
int not_yet(const Command& command, std::span<const std::string> words, const Console& console) {
  if (std::ranges::any_of(words, is_help)) return console.out(command_help(command)) ? 0 : 1;
  console.error(fmt::format("'berth {}' is not supported yet{}{}", command.words,
                            command.details.empty() ? "" : "; ", command.details));
  return 1;
}

/// As in `az`: 3 for what is not there, so that scripts can make it.
int exit_status_of(const Error& error) { return error.code == Code::NotFound ? 3 : 1; }

int run_words(const Command& command, std::span<const std::string> words, Console& console,
              const Result<Place>& place) {
  if (command.run == nullptr) return not_yet(command, words, console);
  const auto arguments = parse(command, words);
  if (!arguments) return misused(console, command, arguments.error());
  if (arguments->has("help")) return console.out(command_help(command)) ? 0 : 1;
  if (arguments->has("registry-name")) {
    console.error("registries are not supported yet; without --registry-name it is the workspace");
    return 1;
  }
  console.only_errors = arguments->has("only-show-errors");
  console.verbose = arguments->has("verbose") || arguments->has("debug");
  auto output = output_of(*arguments, place.value_or(Place()));
  if (!output) return misused(console, command, output.error());
  const Result<Place> who = place ? with_token(*arguments, *place) : place;
  const auto status = who ? run_command(command, *arguments, *who, console, std::move(*output))
                          : Result<int>(tl::unexpect, who.error());
  if (status) return *status;
  // As if SIGPIPE had ended us: whoever closed the pipe wants to hear nothing more.
  if (is_closed_pipe(status.error())) return 128 + SIGPIPE;
  console.error(explained(status.error()));
  return exit_status_of(status.error());
}

}  // namespace

int run(std::span<const std::string> words, Console console, const Result<Place>& place) {
  const std::vector<Command> commands = all_commands();
  // `az ml job show` arrives as `berth ml job show` where az is a wrapper for berth.
  if (!words.empty() && words[0] == "ml") words = words.subspan(1);
  if (words.size() > 1 && words[0] == "help") {
    std::vector<std::string> asked(words.begin() + 1, words.end());
    asked.emplace_back("--help");
    return run(asked, std::move(console), place);
  }
  if (words.empty() || is_help(words[0])) return console.out(guide(commands)) ? 0 : 1;
  if (words[0] == "--version" || words[0] == "-v") {
    return console.out(fmt::format("berth {}\n", kVersion)) ? 0 : 1;
  }
  if (const Command* command = find_command(commands, words)) {
    const auto rest = words.subspan(split(command->words, ' ').size());
    const bool is_verbatim = command->takes_rest || !place;
    const auto expanded =
        is_verbatim ? std::vector(rest.begin(), rest.end()) : with_files_read(rest, *place);
    return run_words(*command, expanded, console, place);
  }
  if (!verbs_of(commands, words[0]).empty() && (words.size() == 1 || is_help(words[1]))) {
    return console.out(group_help(words[0], commands)) ? 0 : 1;
  }
  return unknown_command(console, commands, words);
}

int run(std::span<const std::string> words) {
  // A reader that went away is an error of the write, not the end of us.
  std::signal(SIGPIPE, SIG_IGN);
  const auto place = current_place();
  const bool allow_color =
      place && place->variable("NO_COLOR").empty() && place->variable("TERM") != "dumb";
  return run(words, process_console(allow_color), place);
}

}  // namespace berth::cli
