// SPDX-License-Identifier: Apache-2.0
// Who may do what, in a workspace or in the whole installation.
#include "base/random.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"

namespace berth::cli {
namespace {

constexpr Column kColumns[] = {{"User", "user"},
                               {"Role", "role"},
                               {"Scope", "scope"},
                               {"Created by", "created_by"},
                               {"Id", "id"}};
constexpr Column kDefinitionColumns[] = {
    {"Name", "name"}, {"Description", "description"}, {"Id", "id"}};

/// Where the assignments of the workspace, or of the installation, are.
std::string place_of(const Context& context) {
  const bool is_everywhere = context.arguments.has("installation");
  const std::string scope = is_everywhere
                                ? "/subscriptions/" + context.client.workspace().subscription
                                : context.client.workspace_path();
  return scope + "/providers/Microsoft.Authorization";
}

std::string text_at(const json::object& object, std::string_view key) {
  const json::value* found = object.if_contains(key);
  return found != nullptr && found->is_string() ? std::string(found->get_string()) : "";
}

json::object view_of(const json::value& resource) {
  const json::object& properties = resource.at("properties").as_object();
  return {{"id", text_at(resource.as_object(), "name")},
          {"user", text_at(properties, "principalName")},
          {"role", text_at(properties, "roleDefinitionName")},
          {"scope", text_at(properties, "scope")},
          {"created_by", text_at(properties, "createdBy")},
          {"created_at", text_at(properties, "createdOn")}};
}

/// Whether the assignment is the user's, of the role, and of this very place; what was not asked
/// for does not matter.
bool is_meant(const Context& context, const json::object& view) {
  const auto fits = [&](const char* key) {
    const std::string wanted = context.arguments.get(key);
    return wanted.empty() || equals_ignoring_case(wanted, text_at(view, key));
  };
  const std::string place = place_of(context);
  const bool is_here =
      equals_ignoring_case(text_at(view, "scope") + "/providers/Microsoft.Authorization", place);
  return fits("user") && fits("role") && fits("id") && is_here;
}

Result<json::array> assignments(Context& context) {
  const json::array found =
      TRY(context.client.list(place_of(context) + "/roleAssignments", SIZE_MAX));
  json::array views;
  for (const json::value& resource : found) views.push_back(view_of(resource));
  return views;
}

/// Asked for twice, it is there once.
Result<int> assign(Context& context) {
  for (const json::value& view : TRY(assignments(context))) {
    if (!is_meant(context, view.as_object())) continue;
    TRY(context.print({.value = view, .columns = kColumns}));
    return 0;
  }
  const json::object made =
      TRY(context.client.put(fmt::format("{}/roleAssignments/{}", place_of(context), random_uuid()),
                             {{"properties",
                               {{"roleDefinitionId", context.arguments.get("role")},
                                {"principalName", context.arguments.get("user")}}}}));
  TRY(context.print({.value = view_of(made), .columns = kColumns}));
  return 0;
}

Result<int> list(Context& context) {
  json::array views;
  const std::string user = context.arguments.get("user");
  for (json::value& view : TRY(assignments(context))) {
    const bool is_wanted =
        user.empty() || equals_ignoring_case(user, text_at(view.as_object(), "user"));
    if (is_wanted) views.push_back(std::move(view));
  }
  TRY(context.print({.value = std::move(views), .columns = kColumns}));
  return 0;
}

Result<int> remove(Context& context) {
  const Arguments& arguments = context.arguments;
  if (!arguments.has("id") && !(arguments.has("user") && arguments.has("role"))) {
    return wrong_usage(context, "which one? --id ID, or --user NAME --role ROLE");
  }
  for (const json::value& view : TRY(assignments(context))) {
    if (!is_meant(context, view.as_object())) continue;
    TRY(context.client.remove(
        fmt::format("{}/roleAssignments/{}", place_of(context), text_at(view.as_object(), "id"))));
    return 0;
  }
  return fail(Code::NotFound, "no such role is assigned here");
}

Result<int> list_definitions(Context& context) {
  json::array views;
  for (const json::value& resource :
       TRY(context.client.list(place_of(context) + "/roleDefinitions", SIZE_MAX))) {
    const json::object& properties = resource.at("properties").as_object();
    const json::object& permissions = properties.at("permissions").at(0).as_object();
    views.push_back({{"name", properties.at("roleName")},
                     {"description", properties.at("description")},
                     {"actions", permissions.at("actions")},
                     {"not_actions", permissions.at("notActions")},
                     {"id", resource.at("name")}});
  }
  TRY(context.print({.value = std::move(views), .columns = kDefinitionColumns}));
  return 0;
}

constexpr Flag kInstallation = {"--installation", Takes::Nothing, "",
                                "not in a workspace but in all, and in the server itself"};
constexpr Flag kAssignFlags[] = {
    {"-u,--user", Takes::Value, "NAME", "who", true},
    {"--role", Takes::Value, "ROLE", "the role's name or id", true},
    kInstallation,
};
constexpr Flag kListFlags[] = {{"-u,--user", Takes::Value, "NAME", "only this user's"},
                               kInstallation};
constexpr Flag kRemoveFlags[] = {
    {"-u,--user", Takes::Value, "NAME", "who"},
    {"--role", Takes::Value, "ROLE", "the role's name"},
    {"--id", Takes::Value, "ID", "the assignment's id, instead"},
    kInstallation,
};
constexpr Flag kDefinitionFlags[] = {kInstallation};

constexpr Command kCommands[] = {
    {.words = "role assign",
     .summary = "Give a user a role in the workspace",
     .details =
         R"(Roles add up. They are Azure's: Owner, Contributor, Reader, AzureML Data Scientist and
AzureML Compute Operator; 'berth role definition list' says what each may do.)",
     .examples = R"(  berth role assign --user ana --role 'AzureML Data Scientist' -w team
  berth role assign --user bo --role Reader --installation)",
     .flags = kAssignFlags,
     .run = assign},
    {.words = "role list",
     .summary = "List who has which role in the workspace",
     .details = "",
     .examples = "",
     .flags = kListFlags,
     .run = list},
    {.words = "role remove",
     .summary = "Take a role away; it ends at once",
     .details = "",
     .examples = "  berth role remove --user ana --role Reader -w team",
     .flags = kRemoveFlags,
     .run = remove},
    {.words = "role definition list",
     .summary = "List the roles there are, and what they may do",
     .details = "",
     .examples = "",
     .flags = kDefinitionFlags,
     .run = list_definitions},
};

}  // namespace

std::span<const Command> role_commands() { return kCommands; }

}  // namespace berth::cli
