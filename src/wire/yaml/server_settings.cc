// SPDX-License-Identifier: Apache-2.0
#include "wire/yaml/server_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "base/text.h"
#include "wire/yaml/value.h"

namespace berth::wire::yaml {
namespace {

using Kind = SettingKind;

constexpr std::size_t kLongestText = 1024;

constexpr ServerSetting kSettings[] = {
    {"--port", Kind::Number, "N", "8470",
     "port for https, and for http on loopback; 0 takes any that is free", 0, 65535},
    {"--bind", Kind::Names, "ADDRESS", "loopback",
     "answer there too, https only, for nodes and people of other machines: an address or name of "
     "this machine, or 0.0.0.0; may be repeated"},
    {"--job-users", Kind::Path, "FILE", "all jobs run as the server's user",
     "says which Unix user each Berth user's jobs run as; needs root (docs/security.md)"},
    {"--slots", Kind::Number, "N", "one for each core", "jobs at once on this machine", 0, 4096},
    {"--node-idle", Kind::Number, "SECS", "120", "let the local node go after so long without work",
     0, 1'000'000},
    {"--lease", Kind::Number, "SECS", "10",
     "how long nodes of other machines work on without a word from the server", 1, 86'400},
    {"--max-preemptions", Kind::Number, "N", "$BERTH_MAX_PREEMPTIONS, else 100",
     "how often a job may be preempted or lose its node before it fails", 0, 1'000'000},
    {"--sizes", Kind::Path, "FILE", "sizes.yml of the state directory",
     "sizes of your own for clusters"},
    {.flag = "--start",
     .kind = Kind::Choice,
     .value = "WHO",
     .otherwise = "automatic, unless systemd started it last",
     .help = "automatic: a command starts the server when none answers; manual: only a service "
             "manager or a person does",
     .choices = "automatic|manual",
     .is_only_in_the_file = true},
    {.flag = "--start-command",
     .kind = Kind::Text,
     .value = "TEXT",
     .otherwise = "berth server",
     .help = "what people are told to type when it is manual; never run by Berth",
     .is_only_in_the_file = true},
};

bool is_plain_line(std::string_view text) {
  return !text.empty() && text.size() <= kLongestText && is_valid_utf8(text) &&
         std::ranges::none_of(
             text, [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
}

tl::unexpected<Error> wrong(std::string message) {
  return fail(Code::InvalidArgument, std::move(message));
}

Result<std::string> checked_number(const ServerSetting& setting, std::string_view name,
                                   std::string_view text) {
  std::int64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, number);
  if (failed == std::errc() && stopped == end && number >= setting.least &&
      number <= setting.most) {
    return std::to_string(number);
  }
  return wrong(fmt::format("{} takes a number from {} to {}, not '{}'", name, setting.least,
                           setting.most, to_valid_utf8(text)));
}

Result<std::string> checked_choice(const ServerSetting& setting, std::string_view name,
                                   std::string_view text) {
  const auto choices = split(setting.choices, '|');
  for (const std::string_view choice : choices) {
    if (equals_ignoring_case(choice, text)) return std::string(choice);
  }
  return wrong(
      fmt::format("{} is {}, not '{}'", name, fmt::join(choices, " or "), to_valid_utf8(text)));
}

Result<std::vector<std::string>> values_of(const Node& node, const ServerSetting& setting,
                                           const std::string& key) {
  std::vector<std::string> values;
  const auto take = [&](const Node& item) -> Status {
    Result<std::string> value =
        checked_setting(setting, fmt::format("'{}'", key), TRY(as_text(item, key)));
    if (!value) return error_at(item.mark, value.error().message);
    values.push_back(*std::move(value));
    return Done{};
  };
  if (setting.kind == Kind::Names && node.kind == Node::Kind::Sequence) {
    for (const Node& item : node.items) TRY(take(item));
  } else {
    TRY(take(node));
  }
  return values;
}

std::string scalar_text(const ServerSetting& setting, const std::string& value) {
  if (setting.kind == Kind::Number) return value;
  return boost::json::serialize(boost::json::string(value));  // JSON's quotes are YAML's too.
}

/// "bind: [10.0.0.5, berth.example]".
std::string line_of(const std::string& key, const std::vector<std::string>& values) {
  const ServerSetting& setting = *find_server_setting(key);
  std::vector<std::string> texts;
  for (const std::string& value : values) texts.push_back(scalar_text(setting, value));
  if (setting.kind != Kind::Names) return fmt::format("{}: {}\n", key, texts.front());
  return fmt::format("{}: [{}]\n", key, fmt::join(texts, ", "));
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (const std::string_view line : split(text, '\n')) lines.push_back(std::string(line) + "\n");
  if (lines.back() == "\n") lines.pop_back();
  return lines;
}

bool says_nothing(std::string_view line) {
  const std::string_view words = trim(line);
  return words.empty() || words.front() == '#';
}

/// What lies between one key and the next: its lines, without the comments before the next.
std::size_t end_of_member(const Node& root, std::size_t member,
                          const std::vector<std::string>& lines) {
  const auto first = static_cast<std::size_t>(root.key_marks[member].line);
  std::size_t end = member + 1 < root.key_marks.size()
                        ? static_cast<std::size_t>(root.key_marks[member + 1].line) - 1
                        : lines.size();
  while (end > first && says_nothing(lines[end - 1])) --end;
  return std::max(end, first);
}

/// One key on a line of its own, one after the other, as people write such files. Merged keys, flow
/// mappings and other line breaks are something else.
bool has_plain_lines(const Node& root, const std::vector<std::string>& lines) {
  int last = 0;
  for (const Mark& mark : root.key_marks) {
    if (mark.line <= last || mark.column != 1) return false;
    last = mark.line;
  }
  return static_cast<std::size_t>(last) <= lines.size();
}

/// From the last member to the first, so that the lines above keep their numbers.
std::string with_lines_changed(const std::string& text, const Node& root, ServerSettings changes) {
  std::vector<std::string> lines = lines_of(text);
  if (!has_plain_lines(root, lines)) return {};
  for (std::size_t i = root.members.size(); i-- > 0;) {
    const auto change = changes.find(root.members[i].first);
    if (change == changes.end()) continue;
    const std::size_t begin = static_cast<std::size_t>(root.key_marks[i].line) - 1;
    const std::size_t end = end_of_member(root, i, lines);
    lines.erase(lines.begin() + std::ptrdiff_t(begin), lines.begin() + std::ptrdiff_t(end));
    if (!change->second.empty()) {
      lines.insert(lines.begin() + std::ptrdiff_t(begin), line_of(change->first, change->second));
    }
    changes.erase(change);
  }
  for (const auto& [key, values] : changes) {
    if (!values.empty()) lines.push_back(line_of(key, values));
  }
  return fmt::format("{}", fmt::join(lines, ""));
}

}  // namespace

std::span<const ServerSetting> server_settings() { return kSettings; }

std::string key_of(const ServerSetting& setting) {
  std::string key(setting.flag.substr(2));
  std::ranges::replace(key, '-', '_');
  return key;
}

const ServerSetting* find_server_setting(std::string_view key) {
  const auto found = std::ranges::find(kSettings, key, key_of);
  return found == std::end(kSettings) ? nullptr : found;
}

std::string value_of(const ServerSettings& settings, std::string_view key) {
  const auto found = settings.find(key);
  return found == settings.end() || found->second.empty() ? "" : found->second.front();
}

ServerSettings merged(ServerSettings below, const ServerSettings& over) {
  for (const auto& [key, values] : over) below[key] = values;
  return below;
}

Result<std::string> checked_setting(const ServerSetting& setting, std::string_view name,
                                    std::string_view text) {
  if (setting.kind == Kind::Number) return checked_number(setting, name, text);
  if (setting.kind == Kind::Choice) return checked_choice(setting, name, text);
  if (!is_plain_line(text)) {
    return wrong(
        fmt::format("{} takes {}: one line of up to {} bytes", name, setting.value, kLongestText));
  }
  if (setting.kind == Kind::Path && !text.starts_with('/')) {
    return wrong(
        fmt::format("{} takes the whole path of a file, from '/' on, not '{}'", name, text));
  }
  return std::string(text);
}

Result<ServerSettings> server_settings_from(const Node& root) {
  ServerSettings settings;
  if (root.kind == Node::Kind::Null) return settings;
  if (root.kind != Node::Kind::Mapping) {
    return error_at(root.mark, "the settings of a server are keys and values: 'port: 8470'");
  }
  std::vector<std::string> keys;
  for (const ServerSetting& setting : kSettings) keys.push_back(key_of(setting));
  const std::vector<std::string_view> known(keys.begin(), keys.end());
  TRY(check_keys(root, "a server's settings", known));
  for (const auto& [key, node] : root.members) {
    if (node.kind == Node::Kind::Null) continue;
    settings[key] = TRY(values_of(node, *find_server_setting(key), key));
  }
  return settings;
}

Result<ServerSettings> load_server_settings(const std::string& path) {
  std::error_code failed;
  if (!std::filesystem::exists(path, failed) && !failed) return ServerSettings();
  return server_settings_from(TRY(load(path)));
}

std::string to_yaml_text(const ServerSettings& settings) {
  std::string text;
  for (const auto& [key, values] : settings) {
    if (!values.empty()) text += line_of(key, values);
  }
  return text;
}

Result<std::string> edited(const std::string& text, const std::string& path,
                           const ServerSettings& changes) {
  const Node root = TRY(parse(text, path));
  ServerSettings wanted = merged(TRY(server_settings_from(root)), changes);
  std::erase_if(wanted, [](const auto& setting) { return setting.second.empty(); });
  // A file of another shape is written anew, without its comments.
  std::string changed = with_lines_changed(text, root, changes);
  const Result<Node> again = parse(changed, path);
  const auto read = again ? server_settings_from(*again) : fail(again.error());
  if (!read || *read != wanted) changed = to_yaml_text(wanted);
  return changed;
}

Result<HomeSettings> load_home_settings(const std::string& home) {
  HomeSettings settings;
  settings.configured = TRY(load_server_settings(fmt::format("{}/{}", home, kServerFile)));
  settings.last_start = TRY(load_server_settings(fmt::format("{}/{}", home, kLastStartFile)));
  return settings;
}

Status check_automatic_start(const std::string& home, const ServerSettings& settings) {
  if (value_of(settings, "start") != "manual") return Done{};
  const std::string command = value_of(settings, "start_command");
  return fail(
      Code::Unavailable,
      fmt::format("no Berth server answers on {}, and it is not for a command to start one there; "
                  "start it with '{}' ('berth server configure --start automatic' changes that)",
                  home, command.empty() ? "berth server" : command));
}

}  // namespace berth::wire::yaml
