// SPDX-License-Identifier: Apache-2.0
// Resource groups. One is there when it was made, or as long as a workspace is in it.
#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"

namespace berth::cli {
namespace {

constexpr Column kColumns[] = {
    {"Name", "name"}, {"Location", "location"}, {"Status", "properties.provisioningState"}};

/// -n, else -g: for `az group` both name the group itself.
Result<std::string> path_of(const Context& context) {
  const std::string name = context.arguments.get("name", context.arguments.get("resource-group"));
  if (name.empty()) return fail(Code::InvalidArgument, "which resource group? Name it: -n NAME");
  TRY(check_name(name, "resource group"));
  return fmt::format("/subscriptions/{}/resourceGroups/{}", context.client.workspace().subscription,
                     name);
}

/// As `az` shows it.
json::object view_of(json::object group) {
  group["managedBy"] = nullptr;
  const json::value* tags = group.if_contains("tags");
  if (tags != nullptr && tags->is_object() && tags->get_object().empty()) group["tags"] = nullptr;
  return group;
}

Result<int> create(Context& context) {
  const std::string path = TRY(path_of(context));
  json::object tags;
  for (const std::string& pair : context.arguments.all("tags")) {
    const std::size_t equals = pair.find('=');
    tags[pair.substr(0, equals)] = equals == pair.npos ? "" : pair.substr(equals + 1);
  }
  json::object group = TRY(context.client.put(
      path, {{"location", context.arguments.get("location", "local")}, {"tags", std::move(tags)}}));
  TRY(context.print({.value = view_of(std::move(group)), .columns = kColumns}));
  return 0;
}

Result<int> show(Context& context) {
  json::object group = TRY(context.client.get(TRY(path_of(context))));
  TRY(context.print({.value = view_of(std::move(group)), .columns = kColumns}));
  return 0;
}

Result<int> exists(Context& context) {
  const auto found = context.client.get(TRY(path_of(context)));
  if (!found && found.error().code != Code::NotFound) return fail(found.error());
  TRY(context.print({.value = found.has_value()}));
  return 0;
}

Result<int> list(Context& context) {
  const json::array found = TRY(context.client.list(
      fmt::format("/subscriptions/{}/resourceGroups", context.client.workspace().subscription),
      SIZE_MAX));
  json::array views;
  for (const json::value& group : found) {
    if (group.is_object()) views.push_back(view_of(group.get_object()));
  }
  TRY(context.print({.value = std::move(views), .columns = kColumns}));
  return 0;
}

/// Its workspaces first: the server deletes only what is empty.
Result<int> remove(Context& context) {
  const std::string path = TRY(path_of(context));
  TRY(context.client.get(path));
  const json::array workspaces = TRY(context.client.list(
      path + "/providers/Microsoft.MachineLearningServices/workspaces", SIZE_MAX));
  const std::string question =
      workspaces.empty() ? "delete the resource group?"
                         : fmt::format("delete {} workspace{} and all in them?", workspaces.size(),
                                       workspaces.size() == 1 ? "" : "s");
  if (!TRY(is_certain(context, question))) return 1;
  for (const json::value& workspace : workspaces) {
    const json::value* id =
        workspace.is_object() ? workspace.get_object().if_contains("id") : nullptr;
    if (id != nullptr && id->is_string()) {
      TRY(context.client.remove(std::string(id->get_string())));
    }
  }
  const Status removed = context.client.remove(path);
  // One that nobody made has gone with its last workspace.
  if (!removed && removed.error().code != Code::NotFound) return fail(removed.error());
  return 0;
}

constexpr Flag kName = {"-n,--name,NAME", Takes::Value, "NAME", "the resource group"};
constexpr Flag kCreateFlags[] = {
    kName,
    {"-l,--location", Takes::Value, "TEXT", "recorded only"},
    {"--tags", Takes::Several, "key=value", "its tags"},
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
     .summary = "Make a resource group",
     .details = "A group is there also as long as a workspace is in it, without having been made.",
     .examples = "  berth workspace create -g lab -n vision",
     .flags = kCreateFlags,
     .run = create},
    {.words = "group show",
     .summary = "Show a resource group",
     .details = "",
     .examples = "",
     .flags = kNameOnly,
     .run = show},
    {.words = "group exists",
     .summary = "Say true or false: whether a resource group is there",
     .details = "",
     .examples = "",
     .flags = kNameOnly,
     .run = exists},
    {.words = "group list",
     .summary = "List resource groups",
     .details = "",
     .examples = "",
     .flags = {},
     .run = list},
    {.words = "group delete",
     .summary = "Delete a resource group with its workspaces and all in them",
     .details = "",
     .examples = "",
     .flags = kDeleteFlags,
     .run = remove},
};

}  // namespace

std::span<const Command> group_commands() { return kCommands; }

}  // namespace berth::cli
