// SPDX-License-Identifier: Apache-2.0
// ARM templates, in Berth's short words and in those of `az deployment group`.
#include <filesystem>

#include "base/text.h"
#include "cli/command.h"
#include "cli/commands/template_parameters.h"
#include "cli/given.h"
#include "cli/operation.h"
#include "cli/output/table.h"

namespace berth::cli {
namespace {

constexpr Column kListColumns[] = {{"Name", "name"},
                                   {"State", "properties.provisioningState"},
                                   {"Timestamp", "properties.timestamp"},
                                   {"Mode", "properties.mode"},
                                   {"ResourceGroup", "resourceGroup"}};
constexpr Column kSummary[] = {{"Name", "name"},
                               {"State", "properties.provisioningState"},
                               {"Resource group", "resourceGroup"},
                               {"Timestamp", "properties.timestamp"},
                               {"Duration", "properties.duration"},
                               {"Parameters", "properties.parameters"},
                               {"Outputs", "properties.outputs"},
                               {"Error", "properties.error.message"}};
constexpr Column kOperationColumns[] = {{"Operation", "operationId"},
                                        {"State", "properties.provisioningState"},
                                        {"Status", "properties.statusCode"},
                                        {"Name", "properties.targetResource.resourceName"},
                                        {"Type", "properties.targetResource.resourceType"},
                                        {"Error", "properties.statusMessage.error.message"}};

std::string group_path(const Context& context) {
  const model::Workspace& scope = context.client.workspace();
  return fmt::format("/subscriptions/{}/resourceGroups/{}", scope.subscription,
                     scope.resource_group);
}

std::string path_of(const Context& context, const std::string& name) {
  return fmt::format("{}/providers/Microsoft.Resources/deployments/{}", group_path(context), name);
}

/// As `az` shows it: with the group beside it.
json::object view_of(const Context& context, json::object resource) {
  resource["resourceGroup"] = context.client.workspace().resource_group;
  return resource;
}

Result<int> print_one(Context& context, json::object resource) {
  TRY(context.print({.value = view_of(context, std::move(resource)), .columns = kSummary}));
  return 0;
}

/// As it was called, or as the file is.
Result<std::string> name_of_new(const Context& context) {
  std::string name = context.arguments.get("name");
  if (name.empty()) {
    name = std::filesystem::path(context.arguments.get("template-file")).stem().string();
    for (char& letter : name) {
      if (!is_resource_name(std::string(1, letter)) && letter != '-' && letter != '.') letter = '-';
    }
  }
  TRY(check_name(name, "deployment"));
  return name;
}

Result<json::object> body_of(const Context& context) {
  json::object definition =
      TRY(read_template_file(context.place, context.arguments.get("template-file")));
  json::object parameters =
      TRY(template_parameters(context.place, definition, context.arguments.all("parameters")));
  return json::object{{"properties",
                       {{"mode", context.arguments.get("mode", "Incremental")},
                        {"template", std::move(definition)},
                        {"parameters", std::move(parameters)}}}};
}

Result<json::array> operations_of(Context& context, const std::string& name) {
  return context.client.list(path_of(context, name) + "/operations", SIZE_MAX);
}

/// What became of each resource, for people.
void tell_operations(Context& context, const json::array& operations) {
  Table table{.titles = {"State", "Type", "Name", "Error"}};
  const auto text_at = [](const json::value& value, std::string_view pointer) {
    boost::system::error_code none;
    const json::value* found = value.find_pointer(pointer, none);
    return found != nullptr && found->is_string() ? std::string(found->get_string())
                                                  : std::string();
  };
  for (const json::value& operation : operations) {
    const std::string type = text_at(operation, "/properties/targetResource/resourceType");
    table.rows.push_back({text_at(operation, "/properties/provisioningState"),
                          type.substr(type.find('/') + 1),
                          text_at(operation, "/properties/targetResource/resourceName"),
                          text_at(operation, "/properties/statusMessage/error/message")});
  }
  const std::string text = to_text(table, {});
  for (const std::string_view line : split(trim(text), '\n')) context.console.note(line);
}

Result<int> validate(Context& context) {
  const std::string name = TRY(name_of_new(context));
  return print_one(context, TRY(context.client.post(path_of(context, name) + "/validate",
                                                    TRY(body_of(context)))));
}

Result<int> create(Context& context) {
  if (context.arguments.has("validate")) return validate(context);
  const std::string name = TRY(name_of_new(context));
  const std::string path = path_of(context, name);
  const Operation operation = TRY(begin(context, json_request("PUT", path, TRY(body_of(context)))));
  if (context.arguments.has("no-wait")) return print_one(context, operation.answer);
  const Status finished = finish(context, operation, fmt::format("deploying '{}'", name));
  if (!finished) {
    const auto operations = operations_of(context, name);
    if (operations) tell_operations(context, *operations);
    return fail(finished.error());
  }
  return print_one(context, TRY(context.client.get(path)));
}

Result<int> show(Context& context) {
  const std::string name = TRY(required_name(context, "deployment"));
  return print_one(context, TRY(context.client.get(path_of(context, name))));
}

Result<int> list(Context& context) {
  const json::array found =
      TRY(context.client.list(group_path(context) + "/providers/Microsoft.Resources/deployments",
                              TRY(most_results(context))));
  json::array views;
  for (const json::value& resource : found) {
    if (resource.is_object()) views.push_back(view_of(context, resource.get_object()));
  }
  TRY(context.print({.value = std::move(views), .columns = kListColumns}));
  return 0;
}

Result<int> remove(Context& context) {
  const std::string name = TRY(required_name(context, "deployment"));
  TRY(context.client.remove(path_of(context, name)));
  return 0;
}

Result<int> cancel(Context& context) {
  const std::string name = TRY(required_name(context, "deployment"));
  TRY(context.client.post(path_of(context, name) + "/cancel"));
  return 0;
}

Result<int> export_template(Context& context) {
  const std::string name = TRY(required_name(context, "deployment"));
  const json::object answer = TRY(context.client.post(path_of(context, name) + "/exportTemplate"));
  const json::value* definition = answer.if_contains("template");
  TRY(context.print({.value = definition == nullptr ? json::value() : *definition}));
  return 0;
}

Result<int> list_operations(Context& context) {
  const std::string name = TRY(required_name(context, "deployment"));
  TRY(context.print({.value = TRY(operations_of(context, name)), .columns = kOperationColumns}));
  return 0;
}

constexpr Flag kName = {"-n,--name,NAME", Takes::Value, "NAME", "the deployment"};
constexpr Flag kFile = {"-f,--template-file", Takes::Value, "FILE", "the template", true};
constexpr Flag kParameters = {"-p,--parameters", Takes::Several, "key=value",
                              "its parameters: key=value, key=@FILE, FILE or JSON"};
constexpr Flag kNewName = {"-n,--name", Takes::Value, "NAME",
                           "what to call it (as the file is called)"};
constexpr Flag kMode = {"--mode", Takes::Value, "MODE", "Incremental, which is all there is"};

constexpr Flag kCreateFlags[] = {
    kFile,
    kParameters,
    kNewName,
    kMode,
    {"--validate", Takes::Nothing, "", "only check it: nothing is made"},
    {"--no-wait", Takes::Nothing, "", "do not wait for its end"},
    {"--no-prompt", Takes::Value, "BOOL", "accepted; nothing is ever asked"},
};
constexpr Flag kValidateFlags[] = {
    kFile, kParameters, kNewName, kMode, {"--no-prompt", Takes::Value, "BOOL", "accepted"}};
constexpr Flag kOneFlags[] = {kName};
constexpr Flag kDeleteFlags[] = {kName, {"--no-wait", Takes::Nothing, "", "accepted"}};
constexpr Flag kListFlags[] = {
    {"-r,--max-results", Takes::Value, "N", "at most so many (50)"},
    {"--all-results", Takes::Nothing, "", "all there are"},
};

constexpr std::string_view kAbout =
    "Makes the workspaces, computes and assets that an ARM template names. Everything is checked\n"
    "before anything is made; a failure half-way says what was made, and deploying again goes on\n"
    "from there. docs/deployments.md has what templates may say.";
constexpr std::string_view kExample =
    "  berth deployment create -f template.json -p name=team -p @parameters.json";

constexpr Command both(std::string_view words, std::string_view summary,
                       std::span<const Flag> flags, Result<int> (*run)(Context&)) {
  return {.words = words,
          .summary = summary,
          .details = "",
          .examples = "",
          .flags = flags,
          .run = run};
}

constexpr Command kCommands[] = {
    {.words = "deployment create",
     .summary = "Deploy an ARM template",
     .details = kAbout,
     .examples = kExample,
     .flags = kCreateFlags,
     .run = create},
    both("deployment validate", "Check a template and make nothing", kValidateFlags, validate),
    both("deployment show", "Show a deployment", kOneFlags, show),
    both("deployment list", "List deployments of the resource group", kListFlags, list),
    both("deployment cancel", "Stop a deployment; what it made stays", kOneFlags, cancel),
    both("deployment delete", "Forget a deployment; what it made stays", kDeleteFlags, remove),
    both("deployment export", "Print the template of a deployment", kOneFlags, export_template),
    both("deployment operation list", "What became of each resource", kOneFlags, list_operations),
    {.words = "deployment group create",
     .summary = "The same as deployment create",
     .details = kAbout,
     .examples = kExample,
     .flags = kCreateFlags,
     .run = create},
    both("deployment group validate", "The same as deployment validate", kValidateFlags, validate),
    both("deployment group show", "The same as deployment show", kOneFlags, show),
    both("deployment group list", "The same as deployment list", kListFlags, list),
    both("deployment group cancel", "The same as deployment cancel", kOneFlags, cancel),
    both("deployment group delete", "The same as deployment delete", kDeleteFlags, remove),
    both("deployment group export", "The same as deployment export", kOneFlags, export_template),
    both("deployment operation group list", "The same as deployment operation list", kOneFlags,
         list_operations),
};

}  // namespace

std::span<const Command> deployment_commands() { return kCommands; }

}  // namespace berth::cli
