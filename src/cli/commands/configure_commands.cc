// SPDX-License-Identifier: Apache-2.0
// `az configure --defaults workspace=w`, and `az config set defaults.workspace=w`.
#include "base/text.h"
#include "cli/command.h"
#include "cli/scope.h"
#include "cli/settings.h"

namespace berth::cli {
namespace {

constexpr Column kColumns[] = {{"Name", "name"}, {"Value", "value"}, {"Source", "source"}};

bool is_setting_name(std::string_view name) {
  const std::size_t dot = name.find('.');
  return dot != std::string_view::npos && dot > 0 && dot + 1 < name.size() &&
         name.find_first_of(" =[]#;\t\r\n") == std::string_view::npos;
}

/// "key=value" pairs; `section` goes before each key.
Result<SettingMap> changes_of(const std::vector<std::string>& pairs, std::string_view section) {
  SettingMap changes;
  for (const std::string& pair : pairs) {
    const std::size_t equals = pair.find('=');
    const std::string name = std::string(section) + std::string(trim(pair.substr(0, equals)));
    if (equals == std::string::npos || !is_setting_name(name)) {
      return fail(
          Code::InvalidArgument,
          fmt::format("'{}' is not {}", pair, section.empty() ? "section.key=value" : "key=value"));
    }
    std::string_view value = trim(std::string_view(pair).substr(equals + 1));
    if (value == "''" || value == "\"\"") value = {};  // az's way to take a default away.
    changes[name] = std::string(value);
  }
  return changes;
}

json::array listed(const SettingMap& settings, std::string_view section, const std::string& path) {
  json::array list;
  for (const auto& [name, value] : settings) {
    if (!name.starts_with(section)) continue;
    list.push_back({{"name", name.substr(section.size())}, {"value", value}, {"source", path}});
  }
  return list;
}

/// Global ones, with the local ones over them, unless only those of one scope are wanted.
Result<SettingMap> in_force(const Context& context, bool only_local) {
  SettingMap settings = TRY(load_settings(context.place, Scope::Local));
  if (!only_local) settings.merge(TRY(load_settings(context.place, Scope::Global)));
  return settings;
}

/// What was set without effect would be a riddle.
void note_overrides(const Context& context, const SettingMap& changes) {
  for (const auto& [name, value] : changes) {
    const std::string variable =
        overriding_variable(context.place, name.substr(name.find('.') + 1));
    if (variable.empty() || context.place.variable(variable) == value) continue;
    context.console.note(fmt::format("note: {}={} is set in this shell and counts before it",
                                     variable, context.place.variable(variable)));
  }
}

Result<int> configure(Context& context) {
  const std::string scope_name = context.arguments.get("scope", "global");
  if (scope_name != "global" && scope_name != "local") {
    return wrong_usage(context, fmt::format("--scope is global or local, not '{}'", scope_name));
  }
  const Scope scope = scope_name == "local" ? Scope::Local : Scope::Global;
  if (context.arguments.has("defaults")) {
    const auto changes = changes_of(context.arguments.all("defaults"), "defaults.");
    if (!changes) return wrong_usage(context, changes.error().message);
    TRY(change_settings(context.place, scope, *changes));
    note_overrides(context, *changes);
  }
  const bool lists = context.arguments.has("list-defaults") &&
                     !equals_ignoring_case(context.arguments.get("list-defaults"), "false");
  if (lists) {
    const SettingMap settings = TRY(in_force(context, scope == Scope::Local));
    const std::string path = TRY(settings_path(context.place, scope));
    TRY(context.print({.value = listed(settings, "defaults.", path), .columns = kColumns}));
    return 0;
  }
  if (context.arguments.has("defaults")) return 0;
  return wrong_usage(context,
                     "nothing to do; set defaults: berth configure --defaults workspace=NAME");
}

Scope wanted_scope(const Context& context) {
  return context.arguments.has("local") ? Scope::Local : Scope::Global;
}

Result<int> set(Context& context) {
  const auto changes = changes_of(context.arguments.all("key-value"), "");
  if (!changes) return wrong_usage(context, changes.error().message);
  TRY(change_settings(context.place, wanted_scope(context), *changes));
  note_overrides(context, *changes);
  return 0;
}

Result<int> unset(Context& context) {
  SettingMap changes;
  for (const std::string& name : context.arguments.all("key")) {
    if (!is_setting_name(name)) {
      return wrong_usage(context, fmt::format("'{}' is not section.key", name));
    }
    changes[name] = "";
  }
  TRY(change_settings(context.place, wanted_scope(context), changes));
  return 0;
}

/// One setting, a section of them, or all by section, as `az config get` answers.
Result<int> get(Context& context) {
  const SettingMap settings = TRY(in_force(context, context.arguments.has("local")));
  const std::string path = TRY(settings_path(context.place, wanted_scope(context)));
  const std::string key = context.arguments.get("key");
  if (const auto found = settings.find(key); found != settings.end()) {
    TRY(context.print({.value = {{"name", key.substr(key.find('.') + 1)},
                                 {"value", found->second},
                                 {"source", path}},
                       .columns = kColumns}));
    return 0;
  }
  if (key.find('.') != std::string::npos) {
    return fail(Code::InvalidArgument, fmt::format("'{}' is not set", key));
  }
  if (!key.empty()) {
    TRY(context.print({.value = listed(settings, key + ".", path), .columns = kColumns}));
    return 0;
  }
  json::object sections;
  for (const auto& [name, value] : settings) {
    const std::string section = name.substr(0, name.find('.'));
    sections[section] = listed(settings, section + ".", path);
  }
  TRY(context.print({.value = std::move(sections)}));
  return 0;
}

constexpr Flag kConfigureFlags[] = {
    {"-d,--defaults", Takes::Several, "key=value",
     "workspace=…, group=…, location=…, subscription=…; an empty value takes one away"},
    {"-l,--list-defaults", Takes::Maybe, "BOOL", "list the defaults"},
    {"--scope", Takes::Value, "SCOPE", "global (default), or local: for this folder and below"},
};
constexpr Flag kLocal = {"--local", Takes::Nothing, "", "of this folder and below"};
constexpr Flag kSetFlags[] = {
    {"--key-value,KEY=VALUE", Takes::Several, "section.key=value", "what to set", true}, kLocal};
constexpr Flag kUnsetFlags[] = {{"--key,KEY", Takes::Several, "section.key", "what to unset", true},
                                kLocal};
constexpr Flag kGetFlags[] = {{"--key,KEY", Takes::Value, "section.key", "which one"}, kLocal};

constexpr Command kCommands[] = {
    {.words = "configure",
     .summary = "Choose the workspace that commands mean when they name none",
     .details =
         R"(Kept in ~/.config/berth/config, or $BERTH_CONFIG_DIR/config; with --scope local in .berth/config of
this folder. What a command names itself counts first, then the variables AZURE_DEFAULTS_WORKSPACE and
AZURE_DEFAULTS_GROUP, then what 'berth env' has set, then the local file, then the global one.)",
     .examples = R"(  berth configure --defaults group=lab workspace=vision
  berth configure --defaults workspace= group=
  berth configure --list-defaults -o table)",
     .flags = kConfigureFlags,
     .run = configure},
    {.words = "config set",
     .summary = "Set what commands do when they are not told otherwise",
     .details =
         "defaults.workspace, defaults.group, defaults.location, defaults.subscription, and\n"
         "core.output: the format when -o is not given.",
     .examples = "  berth config set defaults.workspace=vision core.output=table",
     .flags = kSetFlags,
     .run = set},
    {.words = "config get",
     .summary = "Show a setting, a section of them, or all",
     .details = "",
     .examples = "  berth config get defaults.workspace --query value -o tsv",
     .flags = kGetFlags,
     .run = get},
    {.words = "config unset",
     .summary = "Take settings away",
     .details = "",
     .examples = "  berth config unset defaults.workspace",
     .flags = kUnsetFlags,
     .run = unset},
};

}  // namespace

std::span<const Command> configure_commands() { return kCommands; }

}  // namespace berth::cli
