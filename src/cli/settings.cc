// SPDX-License-Identifier: Apache-2.0
#include "cli/settings.h"

#include <filesystem>

#include "base/text.h"
#include "io/files/file.h"

namespace berth::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kLargest = 1 << 20;

Result<SettingMap> parse_ini(const std::string& text, const std::string& path) {
  SettingMap settings;
  std::string section;
  int number = 0;
  for (const std::string_view whole : split(text, '\n')) {
    ++number;
    const std::string_view line = trim(whole);
    if (line.empty() || line[0] == '#' || line[0] == ';') continue;
    const std::size_t equals = line.find('=');
    if (line.front() == '[' && line.back() == ']') {
      section = std::string(trim(line.substr(1, line.size() - 2)));
    } else if (equals != std::string_view::npos && !section.empty()) {
      settings[fmt::format("{}.{}", section, trim(line.substr(0, equals)))] =
          std::string(trim(line.substr(equals + 1)));
    } else {
      return fail(Code::InvalidArgument,
                  fmt::format("{}:{}: neither '[section]' nor 'key = value'", path, number));
    }
  }
  return settings;
}

std::string to_ini(const SettingMap& settings) {
  std::string text;
  std::string section;
  for (const auto& [name, value] : settings) {
    const std::size_t dot = name.find('.');
    if (const std::string its = name.substr(0, dot); its != section) {
      section = its;
      text += fmt::format("{}[{}]\n", text.empty() ? "" : "\n", section);
    }
    text += fmt::format("{} = {}\n", name.substr(dot + 1), value);
  }
  return text;
}

/// The nearest .berth/config, from the working directory upwards.
std::string nearest_local(const Place& place) {
  std::error_code failed;
  for (fs::path folder = place.directory; !folder.empty(); folder = folder.parent_path()) {
    const fs::path path = folder / ".berth" / "config";
    if (fs::is_regular_file(path, failed)) return path.string();
    if (folder == folder.parent_path()) break;
  }
  return "";
}

Result<SettingMap> load_file(const std::string& path) {
  const auto text = io::read_file(path, kLargest);
  if (!text && text.error().code == Code::NotFound) return SettingMap();
  if (!text) return fail(text.error());
  return parse_ini(*text, path);
}

}  // namespace

std::string setting_variable(std::string_view setting) {
  std::string name = "AZURE_";
  for (const char c : setting) {
    name += c >= 'a' && c <= 'z'   ? static_cast<char>(c - 'a' + 'A')
            : c == '.' || c == '-' ? '_'
                                   : c;
  }
  return name;
}

Result<std::string> settings_path(const Place& place, Scope scope) {
  if (scope == Scope::Local) return place.directory + "/.berth/config";
  const std::string chosen = place.variable("BERTH_CONFIG_DIR");
  const std::string config_home = place.variable("XDG_CONFIG_HOME");
  if (!chosen.empty()) return place.absolute(chosen) + "/config";
  if (!config_home.empty() && config_home.front() == '/') return config_home + "/berth/config";
  if (!place.user_home.empty()) return place.user_home + "/.config/berth/config";
  return fail(Code::InvalidArgument,
              "neither BERTH_CONFIG_DIR nor HOME is set: nowhere to keep settings");
}

Result<SettingMap> load_settings(const Place& place, Scope scope) {
  if (scope == Scope::Local) {
    const std::string path = nearest_local(place);
    return path.empty() ? SettingMap() : load_file(path);
  }
  const auto path = settings_path(place, scope);
  return path ? load_file(*path) : SettingMap();  // Nowhere to keep them: none are kept.
}

Status change_settings(const Place& place, Scope scope, const SettingMap& changes) {
  const std::string path = TRY(settings_path(place, scope));
  SettingMap settings = TRY(load_file(path));
  for (const auto& [name, value] : changes) {
    if (value.find_first_of("\r\n") != std::string::npos) {
      return fail(Code::InvalidArgument, fmt::format("'{}' cannot have several lines", name));
    }
    if (value.empty()) {
      settings.erase(name);
    } else {
      settings[name] = value;
    }
  }
  TRY(io::make_directories(fs::path(path).parent_path().string()));
  return io::write_file(path, to_ini(settings));
}

Result<std::string> setting(const Place& place, std::string_view name) {
  const std::string variable = place.variable(setting_variable(name));
  if (!variable.empty()) return variable;
  for (const Scope scope : {Scope::Local, Scope::Global}) {
    const SettingMap settings = TRY(load_settings(place, scope));
    if (const auto found = settings.find(name); found != settings.end()) return found->second;
  }
  return std::string();
}

}  // namespace berth::cli
