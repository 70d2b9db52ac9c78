// SPDX-License-Identifier: Apache-2.0
#include "cli/commands/server_configure.h"

#include "base/text.h"
#include "cli/discovery.h"
#include "io/files/file.h"
#include "io/files/state_directory.h"
#include "wire/yaml/server_settings.h"

namespace berth::cli {
namespace {

using wire::yaml::key_of;
using wire::yaml::ServerSetting;
using wire::yaml::ServerSettings;
using wire::yaml::SettingKind;

constexpr Column kColumns[] = {{"Name", "name"}, {"Value", "value"}, {"Source", "source"}};
constexpr std::uint64_t kLargest = 16u << 20;

std::string path_of(const Context& context, const char* file) {
  return fmt::format("{}/{}", context.place.home, file);
}

/// Every setting, what the next start by a command would use, and why.
Result<int> show(Context& context) {
  const auto home = TRY(wire::yaml::load_home_settings(context.place.home));
  json::array list;
  for (const ServerSetting& setting : wire::yaml::server_settings()) {
    const std::string key = key_of(setting);
    json::object line = {{"name", key}, {"value", setting.otherwise}, {"source", "default"}};
    for (const auto& [settings, source] : {std::pair(&home.last_start, wire::yaml::kLastStartFile),
                                           std::pair(&home.configured, wire::yaml::kServerFile)}) {
      const auto found = settings->find(key);
      if (found == settings->end()) continue;
      line["value"] = fmt::format("{}", fmt::join(found->second, ", "));
      line["source"] = source;
      break;
    }
    list.push_back(std::move(line));
  }
  TRY(context.print({.value = std::move(list), .columns = kColumns}));
  return 0;
}

Result<std::vector<std::string>> given_values(const Context& context,
                                              const ServerSetting& setting) {
  std::vector<std::string> values;
  for (const std::string& text : context.arguments.all(setting.flag.substr(2))) {
    const bool is_path = setting.kind == SettingKind::Path && !text.empty();
    values.push_back(TRY(wire::yaml::checked_setting(
        setting, setting.flag, is_path ? context.place.absolute(text) : text)));
  }
  return values;
}

/// "node_idle", "node-idle" or "--node-idle".
Result<std::string> key_named(std::string_view name) {
  std::vector<std::string> keys;
  for (const ServerSetting& setting : wire::yaml::server_settings()) {
    keys.push_back(key_of(setting));
    if (name == keys.back() || name == setting.flag || name == setting.flag.substr(2)) {
      return keys.back();
    }
  }
  const std::vector<std::string_view> known(keys.begin(), keys.end());
  std::string message = fmt::format("'{}' is not a setting of the server", to_valid_utf8(name));
  if (const auto near = nearest(name, known)) message += fmt::format("; did you mean '{}'?", *near);
  return fail(Code::InvalidArgument, std::move(message));
}

/// What was asked for, by key; without a value: taken away.
Result<ServerSettings> changes_of(const Context& context) {
  ServerSettings changes;
  for (const ServerSetting& setting : wire::yaml::server_settings()) {
    if (!context.arguments.has(setting.flag.substr(2))) continue;
    changes[key_of(setting)] = TRY(given_values(context, setting));
  }
  for (const std::string& name : context.arguments.all("unset")) {
    const std::string key = TRY(key_named(name));
    if (!changes.emplace(key, std::vector<std::string>()).second) {
      return fail(Code::InvalidArgument, fmt::format("'{}' is both set and unset", key));
    }
  }
  return changes;
}

Result<std::string> text_of(const std::string& path) {
  Result<std::string> text = io::read_file(path, kLargest);
  if (!text && text.error().code == Code::NotFound) return std::string();
  return text;
}

/// The last word counts: what is configured now is not undone by the flags of an earlier start.
Status forget_last_start(const Context& context, const ServerSettings& changes) {
  const std::string path = path_of(context, wire::yaml::kLastStartFile);
  const std::string text = TRY(text_of(path));
  if (text.empty()) return Done{};
  ServerSettings gone = changes;
  for (auto& [key, values] : gone) values.clear();
  const std::string without = TRY(wire::yaml::edited(text, path, gone));
  return without == text ? Status(Done{}) : io::write_file(path, without);
}

Status write(const Context& context, const ServerSettings& changes) {
  TRY(io::check_private(io::state_directory(context.place.home)));
  TRY(io::make_directories(context.place.home, 0700));
  // Against others who change them, and against a command that starts a server just now.
  const io::FileLock lock = TRY(io::FileLock::lock(path_of(context, "start.lock")));
  const std::string path = path_of(context, wire::yaml::kServerFile);
  const std::string text = TRY(text_of(path));
  TRY(io::write_file(path, TRY(wire::yaml::edited(text, path, changes))));
  return forget_last_start(context, changes);
}

void tell_when(const Context& context) {
  const auto server = running_server(context.place);
  if (!server) {
    context.console.note("written; the next start uses it");
    return;
  }
  const auto home = wire::yaml::load_home_settings(context.place.home);
  const std::string start =
      home ? wire::yaml::value_of(home->repeated(), "start_command") : std::string();
  const std::string restart = start.starts_with("systemctl start ")
                                  ? "systemctl restart " + start.substr(16)
                                  : "berth server stop";
  context.console.note(
      fmt::format("written; the server that runs (pid {}) goes on with its old settings until it "
                  "is started again: '{}', jobs that run go on",
                  server->pid, restart));
}

constexpr std::string_view kUnset = "--unset";

}  // namespace

std::span<const Flag> configure_server_flags() {
  static const std::vector<Flag> flags = [] {
    std::vector<Flag> made;
    for (const ServerSetting& setting : wire::yaml::server_settings()) {
      const bool is_list = setting.kind == SettingKind::Names;
      made.push_back(
          {setting.flag, is_list ? Takes::EachTime : Takes::Value, setting.value, setting.help});
    }
    made.push_back({kUnset, Takes::EachTime, "KEY", "take a setting out of server.yml"});
    made.push_back({"--show", Takes::Nothing, "", "show the settings and where each comes from"});
    return made;
  }();
  return flags;
}

Result<int> configure_server(Context& context) {
  const Result<ServerSettings> changes = changes_of(context);
  if (!changes) return wrong_usage(context, changes.error().message);
  if (!changes->empty()) {
    TRY(write(context, *changes));
    tell_when(context);
  }
  if (!changes->empty() && !context.arguments.has("show")) return 0;
  return show(context);
}

}  // namespace berth::cli
