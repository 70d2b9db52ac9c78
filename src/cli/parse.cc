// SPDX-License-Identifier: Apache-2.0
// The only file that includes CLI11: it takes longer to compile than the rest of this folder.
#include "cli/parse.h"

#include <CLI/CLI.hpp>

#include "base/text.h"

namespace berth::cli {
namespace {

using Values = std::map<std::string, std::vector<std::string>, std::less<>>;

void add_flag(CLI::App& app, const Flag& flag, Values& values) {
  const std::string spelling(flag.spelling);
  std::vector<std::string>& target = values[std::string(key_of(flag))];
  if (flag.takes == Takes::Nothing) {
    app.add_flag_callback(spelling, [&target] { target = {"true"}; });
    return;
  }
  CLI::Option* option = app.add_option(spelling, target);
  switch (flag.takes) {
    case Takes::Several: option->expected(1, -1); break;
    case Takes::EachTime: option->allow_extra_args(false); break;
    case Takes::Maybe: option->expected(0, 1)->default_str("true"); break;
    default:
      option->expected(1)->allow_extra_args(false);
      option->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
      break;
  }
}

std::vector<std::string_view> known_flags(const Command& command) {
  std::vector<std::string_view> known;
  for (const auto flags : {command.flags, global_flags()}) {
    for (const Flag& flag : flags) {
      for (const std::string_view name : split(flag.spelling, ',')) {
        if (name.starts_with("--")) known.push_back(name);
      }
    }
  }
  return known;
}

tl::unexpected<Error> unknown_word(const Command& command, const std::string& word) {
  if (!word.starts_with('-')) {
    return fail(Code::InvalidArgument, fmt::format("'{}' takes no word '{}'", command.words, word));
  }
  const std::string flag = word.substr(0, word.find('='));
  const auto near = nearest(flag, known_flags(command));
  return fail(Code::InvalidArgument,
              fmt::format("'{}' is not a flag of '{}'{}", flag, command.words,
                          near ? fmt::format("; did you mean '{}'?", *near) : ""));
}

/// Python's argparse, and so `az`, takes the beginning of a flag for all of it when only one begins
/// so: --endpoint for --endpoint-name.
Result<std::string> unabbreviated(const Command& command, const std::string& word) {
  const std::string flag = word.substr(0, word.find('='));
  if (!flag.starts_with("--") || flag.size() < 3) return word;
  std::vector<std::string_view> matching;
  for (const std::string_view known : known_flags(command)) {
    if (known == flag) return word;
    if (known.starts_with(flag)) matching.push_back(known);
  }
  if (matching.empty()) return word;
  if (matching.size() == 1) return std::string(matching[0]) + word.substr(flag.size());
  return fail(Code::InvalidArgument,
              fmt::format("'{}' could be {}", flag, fmt::join(matching, " or ")));
}

Status check_required(const Command& command, const Arguments& arguments) {
  for (const Flag& flag : command.flags) {
    if (!flag.is_required || arguments.has(key_of(flag)) || arguments.has("help")) continue;
    return fail(Code::InvalidArgument, fmt::format("'{}' needs {}: {} {}", command.words, flag.help,
                                                   split(flag.spelling, ',')[0], flag.value));
  }
  return Done{};
}

std::string lower_first(std::string text) {
  if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a' && text[1] <= 'z') {
    text[0] = static_cast<char>(text[0] - 'A' + 'a');
  }
  return text;
}

/// CLI11 throws; nothing leaves this function.
Status run_parser(CLI::App& app, std::vector<std::string> words) {
  std::ranges::reverse(words);  // It takes them from the back.
  try {
    app.parse(words);
  } catch (const CLI::ParseError& error) {
    return fail(Code::InvalidArgument, lower_first(error.what()));
  }
  return Done{};
}

}  // namespace

Result<Arguments> parse(const Command& command, std::span<const std::string> words) {
  Arguments arguments;
  std::vector<std::string> ours(words.begin(), words.end());
  if (!command.takes_rest) {
    for (std::string& word : ours) word = TRY(unabbreviated(command, word));
  }
  if (command.takes_rest) {
    const auto dashes = std::ranges::find(ours, "--");
    if (dashes != ours.end()) arguments.rest.assign(dashes + 1, ours.end());
    ours.erase(dashes, ours.end());
  }
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  const bool rest_begins_anywhere = command.takes_rest && arguments.rest.empty();
  if (rest_begins_anywhere) app.prefix_command();
  Values values;
  for (const auto flags : {command.flags, global_flags()}) {
    for (const Flag& flag : flags) add_flag(app, flag, values);
  }
  TRY(run_parser(app, std::move(ours)));
  const std::vector<std::string> left = app.remaining();
  const bool is_rest = rest_begins_anywhere && !left.empty() && !left.front().starts_with('-');
  if (is_rest) arguments.rest = left;
  if (!is_rest && !left.empty()) return unknown_word(command, left.front());
  std::erase_if(values, [](const auto& entry) { return entry.second.empty(); });
  arguments.values = std::move(values);
  TRY(check_required(command, arguments));
  return arguments;
}

}  // namespace berth::cli
