// SPDX-License-Identifier: Apache-2.0
#include "cli/scope.h"

#include "base/text.h"
#include "cli/settings.h"

namespace berth::cli {
namespace {

struct Part {
  std::string_view flag;
  std::string_view key;  ///< Of the section [defaults].
  const char* variable;  ///< Of `berth env`.
  const char* otherwise;
};
constexpr Part kWorkspace = {"workspace-name", "workspace", "BERTH_WORKSPACE",
                             model::kDefaultWorkspace};
constexpr Part kGroup = {"resource-group", "group", "AZURE_RESOURCE_GROUP",
                         model::kDefaultResourceGroup};
constexpr Part kSubscription = {"subscription", "subscription", "AZURE_SUBSCRIPTION_ID",
                                model::kDefaultSubscription};

/// A shell may have variables of Azure's for Azure's sake: they count after `berth env` only.
bool counts(const Place& place, std::string_view variable) {
  return variable.starts_with("BERTH_") || place.variable("AZUREML_CURRENT_CLOUD") == "Berth";
}

std::string told_by_shell(const Place& place, const Part& part) {
  return counts(place, part.variable) ? place.variable(part.variable) : std::string();
}

Result<std::string> chosen(const Arguments& arguments, const Place& place, const Part& part) {
  if (arguments.has(part.flag)) return arguments.get(part.flag);
  const std::string name = fmt::format("defaults.{}", part.key);
  for (const std::string& told :
       {place.variable(setting_variable(name)), told_by_shell(place, part)}) {
    if (!told.empty()) return told;
  }
  const std::string kept = TRY(setting(place, name));
  return kept.empty() ? std::string(part.otherwise) : kept;
}

}  // namespace

Result<model::Workspace> scope_of(const Arguments& arguments, const Place& place) {
  model::Workspace workspace;
  workspace.name = TRY(chosen(arguments, place, kWorkspace));
  workspace.resource_group = TRY(chosen(arguments, place, kGroup));
  workspace.subscription = TRY(chosen(arguments, place, kSubscription));
  for (const auto& name : {workspace.name, workspace.resource_group, workspace.subscription}) {
    if (is_resource_name(name)) continue;
    return fail(Code::InvalidArgument,
                fmt::format("'{}' cannot be the name of a workspace, group or subscription", name));
  }
  return workspace;
}

std::string overriding_variable(const Place& place, std::string_view key) {
  const std::string general = setting_variable(fmt::format("defaults.{}", key));
  if (!place.variable(general).empty()) return general;
  for (const Part& part : {kWorkspace, kGroup, kSubscription}) {
    if (part.key == key && !told_by_shell(place, part).empty()) return part.variable;
  }
  return "";
}

}  // namespace berth::cli
