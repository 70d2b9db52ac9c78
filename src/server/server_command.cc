// SPDX-License-Identifier: Apache-2.0
#include "server/server_command.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

#include "base/result.h"
#include "base/text.h"
#include "io/files/state_directory.h"
#include "io/process/process.h"
#include "io/process/systemd.h"
#include "server/server.h"
#include "wire/yaml/server_settings.h"

namespace berth::server {
namespace {

using wire::yaml::checked_setting;
using wire::yaml::key_of;
using wire::yaml::load_server_settings;
using wire::yaml::merged;
using wire::yaml::server_settings;
using wire::yaml::ServerSetting;
using wire::yaml::ServerSettings;
using wire::yaml::value_of;

constexpr const char* kAbout =
    R"(berth server: run the server in front, until Ctrl-C or SIGTERM.

Usage: berth server [flags]
       berth server status|stop|configure

The command line starts a server by itself when none answers, so this is for service managers and
for watching. Jobs that run go on when the server stops, and are found again when it starts.

Flags count for this run, before the settings in server.yml of the state directory, which
'berth server configure' changes and shows. A command that has to start the server again, after a
crash or a stop, repeats the flags of the last start by hand. It starts none where systemd started
the last one, where server.yml says 'start: manual', or where somebody else owns the state
directory. docs/server.md tells more, and has a unit for systemd.

)";

constexpr std::size_t kHelpWidth = 100;
constexpr std::size_t kHelpColumn = 23;

std::string help_line(const std::string& left, std::string_view right) {
  std::string text = fmt::format("  {:<{}}", left, kHelpColumn - 2);
  std::size_t column = kHelpColumn;
  for (const std::string_view word : split(right, ' ')) {
    if (column + word.size() > kHelpWidth) {
      text += "\n" + std::string(kHelpColumn, ' ');
      column = kHelpColumn;
    }
    text += fmt::format("{}{}", column == kHelpColumn ? "" : " ", word);
    column += word.size() + 1;
  }
  return text + "\n";
}

std::string help() {
  std::string text = kAbout;
  text +=
      help_line("--home DIR", "state directory (default: $BERTH_HOME, else ~/.local/share/berth)");
  for (const ServerSetting& setting : server_settings()) {
    if (setting.is_only_in_the_file) continue;
    text += help_line(fmt::format("{} {}", setting.flag, setting.value),
                      fmt::format("{} (default: {})", setting.help, setting.otherwise));
  }
  return text;
}

/// What the words say that is no setting, and the settings they give.
struct Given {
  ServerOptions options{};
  ServerSettings settings{};
};

Result<int> descriptor(const std::string& text) {
  int fd = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, failed] = std::from_chars(text.data(), end, fd);
  if (failed == std::errc() && stopped == end && fd >= 0) return fd;
  return fail(Code::InvalidArgument, fmt::format("'{}' is not a descriptor", text));
}

std::string whole_path(const std::string& path) {
  return std::filesystem::absolute(path).lexically_normal();
}

const ServerSetting* setting_of(std::string_view flag) {
  const auto all = server_settings();
  const auto found = std::ranges::find(all, flag, &ServerSetting::flag);
  return found == all.end() || found->is_only_in_the_file ? nullptr : &*found;
}

tl::unexpected<Error> unknown_flag(const std::string& flag) {
  std::vector<std::string_view> known = {"--home", "--help"};
  for (const ServerSetting& setting : server_settings()) known.push_back(setting.flag);
  std::string message = fmt::format("unknown flag '{}'", flag);
  const bool is_of_file = std::ranges::find(known, flag) != known.end();
  if (is_of_file) message += "; 'berth server configure' has it";
  const auto near = is_of_file ? std::nullopt : nearest(flag, known);
  if (near) message += fmt::format("; did you mean '{}'?", *near);
  return fail(Code::InvalidArgument, std::move(message));
}

Status take(Given& given, const std::string& flag, const std::string& value) {
  if (flag == "--home") {
    given.options.home = whole_path(value);
    return Done{};
  }
  if (flag == "--ready-fd") {
    given.options.ready_fd = TRY(descriptor(value));
    return Done{};
  }
  const ServerSetting* setting = setting_of(flag);
  if (setting == nullptr) return unknown_flag(flag);
  const bool is_path = setting->kind == wire::yaml::SettingKind::Path;
  auto& values = given.settings[key_of(*setting)];
  if (setting->kind != wire::yaml::SettingKind::Names) values.clear();
  values.push_back(TRY(checked_setting(*setting, flag, is_path ? whole_path(value) : value)));
  return Done{};
}

Result<Given> parse(std::span<const std::string> flags, const std::string& home) {
  Given given{.options = {.home = home}};
  for (std::size_t i = 0; i < flags.size(); ++i) {
    const std::size_t equals = flags[i].find('=');
    const std::string flag = flags[i].substr(0, equals);
    if (flag == "--background") {
      given.options.is_background = true;
    } else if (equals != std::string::npos) {
      TRY(take(given, flag, flags[i].substr(equals + 1)));
    } else if (i + 1 < flags.size()) {
      TRY(take(given, flag, flags[++i]));
    } else if (setting_of(flag) == nullptr) {
      return unknown_flag(flag);
    } else {
      return fail(Code::InvalidArgument, fmt::format("'{}' lacks its value", flag));
    }
  }
  return given;
}

/// Checked when they were read.
std::optional<int> number_of(const ServerSettings& settings, std::string_view key) {
  const std::string text = value_of(settings, key);
  if (text.empty()) return std::nullopt;
  int number = 0;
  (void)std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

void put_into(const ServerSettings& settings, ServerOptions& options) {
  const auto set = [&](std::string_view key, auto change) {
    if (const auto number = number_of(settings, key)) change(*number);
  };
  set("port", [&](int number) {
    options.port = static_cast<std::uint16_t>(number);
    options.is_port_chosen = true;
  });
  set("slots", [&](int number) { options.slots = number; });
  set("node_idle", [&](int number) { options.node_idle = std::chrono::seconds(number); });
  set("lease", [&](int number) { options.lease = std::chrono::seconds(number); });
  set("max_preemptions", [&](int number) { options.max_requeues = number; });
  if (const auto bind = settings.find("bind"); bind != settings.end()) options.bind = bind->second;
  options.job_users_file = value_of(settings, "job_users");
  options.sizes_file = value_of(settings, "sizes");
}

Status read_variables(ServerOptions& options) {
  const auto environment = io::current_environment();
  const auto most = environment.find("BERTH_MAX_PREEMPTIONS");
  if (most == environment.end()) return Done{};
  const ServerSetting& setting = *wire::yaml::find_server_setting("max_preemptions");
  const ServerSettings settings = {
      {"max_preemptions", {TRY(checked_setting(setting, most->first, most->second))}}};
  put_into(settings, options);
  return Done{};
}

/// The words of this start over server.yml; a start by a command repeats the last one by hand.
Result<ServerOptions> settle(Given given) {
  ServerOptions& options = given.options;
  TRY(read_variables(options));
  const std::string& home = options.home;
  ServerSettings settings =
      TRY(load_server_settings(fmt::format("{}/{}", home, wire::yaml::kServerFile)));
  const bool is_start_chosen = settings.contains("start");
  const Result<ServerSettings> last =
      load_server_settings(fmt::format("{}/{}", home, wire::yaml::kLastStartFile));
  if (options.is_background) {
    if (!last) return fail(last.error());
    settings = merged(std::move(settings), *last);
    TRY(wire::yaml::check_automatic_start(home, settings));
  }
  settings = merged(std::move(settings), given.settings);
  put_into(settings, options);
  if (options.is_background) return options;
  const auto service = io::service_start_command(io::current_environment());
  if (service && !is_start_chosen) {
    given.settings["start"] = {"manual"};
    given.settings["start_command"] = {*service};
  }
  options.last_start = wire::yaml::to_yaml_text(given.settings);
  options.is_less_protected =
      last && last->contains("job_users") && !settings.contains("job_users");
  return options;
}

int give_up(const Given& given, const Error& why) {
  if (given.options.ready_fd >= 0) {
    (void)io::write_all(given.options.ready_fd, fmt::format("error: {}\n", why.message));
  }
  std::fprintf(stderr, "error: %s\n", why.message.c_str());
  return 1;
}

}  // namespace

int server_main(std::span<const std::string> flags, const std::string& home) {
  if (!flags.empty() && (flags[0] == "--help" || flags[0] == "-h")) {
    std::fputs(help().c_str(), stdout);
    return 0;
  }
  const Result<Given> given = parse(flags, home);
  if (!given) {
    std::fprintf(stderr, "error: %s\nsee 'berth server --help'\n", given.error().message.c_str());
    return 2;
  }
  // Before anything is read or written there.
  if (const Status ours = io::check_private(io::state_directory(given->options.home)); !ours) {
    return give_up(*given, ours.error());
  }
  const Result<ServerOptions> options = settle(*given);
  if (!options) return give_up(*given, options.error());
  return run_server(*options);
}

}  // namespace berth::server
