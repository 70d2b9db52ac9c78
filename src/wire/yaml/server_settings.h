// SPDX-License-Identifier: Apache-2.0
// How the server of a state directory runs: the flags of `berth server`, and the same as keys of
// server.yml.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "wire/yaml/document.h"

namespace berth::wire::yaml {

/// What the operator wrote, and what the server wrote down when it was last started by hand.
inline constexpr const char* kServerFile = "server.yml";
inline constexpr const char* kLastStartFile = "last-start.yml";

enum class SettingKind {
  Number,
  Path,    ///< Absolute.
  Names,   ///< One or several.
  Choice,  ///< One of `choices`.
  Text,    ///< One line.
};

struct ServerSetting {
  std::string_view flag;  ///< "--node-idle"; as a key it is node_idle.
  SettingKind kind;
  std::string_view value;      ///< What help calls its value.
  std::string_view otherwise;  ///< What holds when it is not set, for people to read.
  std::string_view help;
  std::int64_t least = 0;  ///< Of numbers.
  std::int64_t most = 0;
  std::string_view choices = {};     ///< Separated by '|'.
  bool is_only_in_the_file = false;  ///< Not a flag of `berth server` itself.
};

/// Every setting there is. A new flag of `berth server` is a line here.
std::span<const ServerSetting> server_settings();
std::string key_of(const ServerSetting& setting);
const ServerSetting* find_server_setting(std::string_view key);

/// Checked values by key; a key that is not there is not set.
using ServerSettings = std::map<std::string, std::vector<std::string>, std::less<>>;

/// The only value of a key; empty when it is not set.
std::string value_of(const ServerSettings& settings, std::string_view key);
/// `over` counts first.
ServerSettings merged(ServerSettings below, const ServerSettings& over);

/// `name` is what a message calls it: "--port".
Result<std::string> checked_setting(const ServerSetting& setting, std::string_view name,
                                    std::string_view text);
Result<ServerSettings> server_settings_from(const Node& root);
/// No settings when there is no such file.
Result<ServerSettings> load_server_settings(const std::string& path);

std::string to_yaml_text(const ServerSettings& settings);
/// The text of server.yml with these settings changed, and those without a value taken out.
/// Comments and the order of the rest stay as they are.
Result<std::string> edited(const std::string& text, const std::string& path,
                           const ServerSettings& changes);

/// Both files of a state directory.
struct HomeSettings {
  ServerSettings configured{};
  ServerSettings last_start{};

  /// With what a command starts the server again: as it was started by hand last.
  ServerSettings repeated() const { return merged(configured, last_start); }
};
Result<HomeSettings> load_home_settings(const std::string& home);

/// Whether a command may start the server by itself. The error says who does it, and how.
Status check_automatic_start(const std::string& home, const ServerSettings& settings);

}  // namespace berth::wire::yaml
