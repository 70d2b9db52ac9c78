// SPDX-License-Identifier: Apache-2.0
#include "cli/help.h"

#include "base/text.h"
#include "base/version.h"
#include "cli/output/text_width.h"

namespace berth::cli {
namespace {

constexpr std::string_view kGuide =
    R"(Berth runs Azure ML jobs on hardware you own.

Start here:
  berth run -- python3 -c 'print("hi")'     run a command here, see its output
  berth job create -f job.yml --stream      run a job file and follow it
  berth job list                            what ran, and how it ended
  berth job show NAME                       one job
  berth job download -n NAME --all          its logs and outputs
  berth compute create -n pool              a cluster that grows from zero: berth run --on pool -- …

A server is started in the background when none is running. Its state is in $BERTH_HOME,
else ~/.local/share/berth.

Commands:
)";

struct Line {
  std::string left{};
  std::string right{};
};

std::string lines_text(std::span<const Line> lines) {
  std::size_t width = 0;
  for (const Line& line : lines) width = std::max(width, display_width(line.left));
  width = std::min<std::size_t>(width, 34);
  std::string text;
  for (const Line& line : lines) {
    text += "  " + padded(line.left, width);
    if (display_width(line.left) > width) text += "\n" + std::string(width + 2, ' ');
    text += "  " + line.right + "\n";
  }
  return text;
}

std::string flag_text(const Flag& flag) {
  std::string text;
  for (const std::string_view name : split(flag.spelling, ',')) {
    if (!name.starts_with('-')) continue;
    text += text.empty() ? "" : ", ";
    text += name;
  }
  if (flag.takes == Takes::Nothing) return text;
  if (flag.takes == Takes::Maybe) return fmt::format("{} [{}]", text, flag.value);
  text += " " + std::string(flag.value);
  return flag.takes == Takes::Value ? text : text + "…";
}

std::string flags_text(std::span<const Flag> flags) {
  std::vector<Line> lines;
  for (const Flag& flag : flags) lines.push_back({flag_text(flag), std::string(flag.help)});
  return lines_text(lines);
}

bool is_below(std::string_view words, std::string_view group) {
  return words.size() > group.size() && words.starts_with(group) && words[group.size()] == ' ';
}

}  // namespace

std::string guide(std::span<const Command> commands) {
  std::vector<Line> lines;
  for (const Command& command : commands) {
    if (command.run == nullptr) continue;
    const std::size_t space = command.words.find(' ');
    if (space == std::string_view::npos) {
      lines.push_back({std::string(command.words), std::string(command.summary)});
      continue;
    }
    const std::string group(command.words.substr(0, space));
    const std::string verb(command.words.substr(space + 1));
    if (!lines.empty() && lines.back().left == group) {
      lines.back().right += ", " + verb;
    } else {
      lines.push_back({group, verb});
    }
  }
  return std::string(kGuide) + lines_text(lines) +
         "\nberth COMMAND --help tells more; groups, verbs and flags are those of `az ml`.\n"
         "berth server runs a server in front, for service managers and for watching.\n";
}

std::string group_help(std::string_view group, std::span<const Command> commands) {
  std::vector<Line> lines;
  for (const Command& command : commands) {
    if (!is_below(command.words, group)) continue;
    lines.push_back(
        {std::string(command.words.substr(group.size() + 1)), std::string(command.summary)});
  }
  return fmt::format("usage: berth {} COMMAND …\n\n{}\nberth {} COMMAND --help tells more.\n",
                     group, lines_text(lines), group);
}

std::string usage_line(const Command& command) {
  std::string text = fmt::format("usage: berth {}", command.words);
  for (const Flag& flag : command.flags) {
    const auto names = split(flag.spelling, ',');
    if (!names.back().starts_with('-')) text += fmt::format(" {}", names.back());
  }
  if (!command.flags.empty()) text += " [flags]";
  return command.takes_rest ? text + " -- COMMAND…" : text;
}

std::string command_help(const Command& command) {
  std::string text = fmt::format("{}\n\n{}\n", usage_line(command), command.summary);
  if (!command.details.empty()) text += fmt::format("\n{}\n", command.details);
  if (!command.flags.empty()) text += "\nFlags:\n" + flags_text(command.flags);
  if (!command.examples.empty()) text += fmt::format("\nExamples:\n{}\n", command.examples);
  return text + "\nEvery command takes:\n" + flags_text(global_flags());
}

}  // namespace berth::cli
