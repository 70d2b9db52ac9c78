// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"
#include "cli/given.h"

namespace berth::cli {
namespace {

constexpr Column kColumns[] = {
    {"Name", "name"}, {"Type", "type"}, {"Container", "container_name"}, {"Default", "is_default"}};

/// What `az ml datastore show` prints. Keys are never part of it.
json::object view_of(const json::object& resource) {
  const json::value* found = resource.if_contains("properties");
  const json::object properties =
      found != nullptr && found->is_object() ? found->get_object() : json::object();
  const auto at = [](const json::object& object, std::string_view key) {
    const json::value* value = object.if_contains(key);
    return value == nullptr ? json::value(nullptr) : *value;
  };
  return {{"account_name", at(properties, "accountName")},
          {"container_name", at(properties, "containerName")},
          {"credentials", json::object()},
          {"description", at(properties, "description")},
          {"endpoint", at(properties, "endpoint")},
          {"id", at(resource, "id")},
          {"is_default", at(properties, "isDefault")},
          {"name", at(resource, "name")},
          {"protocol", at(properties, "protocol")},
          {"tags", at(properties, "tags")},
          {"type", "azure_blob"}};
}

Result<int> list(Context& context) {
  json::array views;
  for (const json::value& resource :
       TRY(context.client.list(context.client.workspace_path("/datastores"), SIZE_MAX))) {
    if (resource.is_object()) views.push_back(view_of(resource.get_object()));
  }
  TRY(context.print({.value = std::move(views), .columns = kColumns}));
  return 0;
}

Result<int> show(Context& context) {
  const std::string name = TRY(required_name(context, "datastore"));
  const json::object resource =
      TRY(context.client.get(context.client.workspace_path("/datastores/" + name)));
  TRY(context.print({.value = view_of(resource), .columns = kColumns}));
  return 0;
}

constexpr Flag kShowFlags[] = {
    {"-n,--name,NAME", Takes::Value, "NAME", "the datastore's name", true}};

constexpr Command kCommands[] = {
    {.words = "datastore list",
     .summary = "List the places where data is kept",
     .details = "",
     .examples = "",
     .flags = {},
     .run = list},
    {.words = "datastore show",
     .summary = "Show one of them",
     .details = "",
     .examples = "",
     .flags = kShowFlags,
     .run = show},
};

}  // namespace

std::span<const Command> datastore_commands() { return kCommands; }

}  // namespace berth::cli
