// SPDX-License-Identifier: Apache-2.0
// What `az configure` and `az config` keep: which workspace is meant when a command names none.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/result.h"
#include "cli/place.h"

namespace berth::cli {

/// By "section.key", as in "defaults.workspace".
using SettingMap = std::map<std::string, std::string, std::less<>>;

enum class Scope { Global, Local };

/// $BERTH_CONFIG_DIR/config, else $XDG_CONFIG_HOME/berth/config, else ~/.config/berth/config; for
/// Local, .berth/config of the working directory. It belongs to the person, not to a server.
Result<std::string> settings_path(const Place& place, Scope scope);

/// What the file says; nothing when there is none. Local: the nearest .berth/config, looking
/// upwards.
Result<SettingMap> load_settings(const Place& place, Scope scope);

/// Changes the file's settings; an empty value takes one away.
Status change_settings(const Place& place, Scope scope, const SettingMap& changes);

/// "AZURE_DEFAULTS_WORKSPACE" for "defaults.workspace".
std::string setting_variable(std::string_view setting);

/// A setting in force: the variable AZURE_<SECTION>_<KEY>, else the local file's, else the global
/// one's. Empty when nobody says anything.
Result<std::string> setting(const Place& place, std::string_view name);

}  // namespace berth::cli
