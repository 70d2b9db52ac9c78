// SPDX-License-Identifier: Apache-2.0
// Resource groups. Here a group is a part of a workspace's address: it is there when a workspace is
// in it.
#include <algorithm>

#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"

namespace berth::cli {
namespace {

constexpr Column kColumns[] = {
    {"Name", "name"}, {"Location", "location"}, {"Status", "properties.provisioningState"}};

json::object view_of(const Context& context, const std::string& name, const std::string& location) {
  return {{"id", fmt::format("/subscriptions/{}/resourceGroups/{}",
                             context.client.workspace().subscription, name)},
          {"location", location.empty() ? "local" : location},
          {"managedBy", nullptr},
          {"name", name},
          {"properties", {{"provisioningState", "Succeeded"}}},
          {"tags", nullptr},
          {"type", "Microsoft.Resources/resourceGroups"}};
}

/// Ids of workspaces, of one group or of all.
Result<std::vector<std::string>> workspaces_in(Context& context, const std::string& group) {
  const std::string below = group.empty() ? "" : "/resourceGroups/" + group;
  const json::array found = TRY(context.client.list(
      fmt::format("/subscriptions/{}{}/providers/Microsoft.MachineLearningServices/workspaces",
                  context.client.workspace().subscription, below),
      SIZE_MAX));
  std::vector<std::string> ids;
  for (const json::value& resource : found) {
    const json::value* id =
        resource.is_object() ? resource.get_object().if_contains("id") : nullptr;
    if (id != nullptr && id->is_string()) ids.emplace_back(id->get_string());
  }
  return ids;
}

/// -n, else -g: for `az group` both name the group itself.
Result<std::string> group_name(const Context& context) {
  const std::string name = context.arguments.get("name", context.arguments.get("resource-group"));
  if (name.empty()) return fail(Code::InvalidArgument, "which resource group? Name it: -n NAME");
  TRY(check_name(name, "resource group"));
  return name;
}

Result<bool> is_there(Context& context, const std::string& name) {
  if (equals_ignoring_case(name, model::kDefaultResourceGroup)) return true;
  return !TRY(workspaces_in(context, name)).empty();
}

Result<int> create(Context& context) {
  const std::string name = TRY(group_name(context));
  if (!TRY(is_there(context, name))) {
    context.console.note(
        fmt::format("note: resource group '{}' is there as soon as a workspace is in it: berth "
                    "workspace create -g {} -n NAME",
                    name, name));
  }
  TRY(context.print(
      {.value = view_of(context, name, context.arguments.get("location")), .columns = kColumns}));
  return 0;
}

Result<int> show(Context& context) {
  const std::string name = TRY(group_name(context));
  if (!TRY(is_there(context, name))) {
    return fail(Code::NotFound, fmt::format("no workspace is in a resource group '{}'", name));
  }
  TRY(context.print({.value = view_of(context, name, ""), .columns = kColumns}));
  return 0;
}

Result<int> exists(Context& context) {
  const std::string name = TRY(group_name(context));
  TRY(context.print({.value = TRY(is_there(context, name))}));
  return 0;
}

Result<int> list(Context& context) {
  std::vector<std::string> names = {model::kDefaultResourceGroup};
  for (const std::string& id : TRY(workspaces_in(context, ""))) {
    const auto parts = split(id, '/');
    if (parts.size() < 5) continue;
    const std::string name(parts[4]);
    const bool is_known = std::ranges::any_of(
        names, [&](const std::string& each) { return equals_ignoring_case(each, name); });
    if (!is_known) names.push_back(name);
  }
  json::array views;
  for (const std::string& name : names) views.push_back(view_of(context, name, ""));
  TRY(context.print({.value = std::move(views), .columns = kColumns}));
  return 0;
}

Result<int> remove(Context& context) {
  const std::string name = TRY(group_name(context));
  const std::vector<std::string> ids = TRY(workspaces_in(context, name));
  if (ids.empty()) {
    return fail(Code::NotFound, fmt::format("no workspace is in a resource group '{}'", name));
  }
  if (!TRY(is_certain(context, fmt::format("delete {} workspace{} and all in them?", ids.size(),
                                           ids.size() == 1 ? "" : "s")))) {
    return 1;
  }
  for (const std::string& id : ids) TRY(context.client.remove(id));
  return 0;
}

constexpr Flag kName = {"-n,--name,NAME", Takes::Value, "NAME", "the resource group"};
constexpr Flag kCreateFlags[] = {
    kName,
    {"-l,--location", Takes::Value, "TEXT", "accepted"},
    {"--tags", Takes::Several, "key=value", "accepted"},
    {"--managed-by", Takes::Value, "ID", "accepted"},
};
constexpr Flag kNameOnly[] = {kName};
constexpr Flag kDeleteFlags[] = {
    kName,
    {"-y,--yes", Takes::Nothing, "", "do not ask"},
    {"--no-wait", Takes::Nothing, "", "accepted"},
};

constexpr Command kCommands[] = {
    {.words = "group create",
     .summary = "Nothing to make: a resource group is a part of a workspace's address",
     .details = "Answers as az does. The group is there as soon as a workspace is in it.",
     .examples = "  berth workspace create -g lab -n vision",
     .flags = kCreateFlags,
     .run = create},
    {.words = "group show",
     .summary = "Show a resource group that has workspaces",
     .details = "",
     .examples = "",
     .flags = kNameOnly,
     .run = show},
    {.words = "group exists",
     .summary = "Say true or false: whether a resource group has workspaces",
     .details = "",
     .examples = "",
     .flags = kNameOnly,
     .run = exists},
    {.words = "group list",
     .summary = "List resource groups that have workspaces",
     .details = "",
     .examples = "",
     .flags = {},
     .run = list},
    {.words = "group delete",
     .summary = "Delete the workspaces of a resource group and all in them",
     .details = "",
     .examples = "",
     .flags = kDeleteFlags,
     .run = remove},
};

}  // namespace

std::span<const Command> group_commands() { return kCommands; }

}  // namespace berth::cli
