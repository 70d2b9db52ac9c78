// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"
#include "wire/yaml/asset.h"

namespace berth::cli {
namespace {

constexpr Column kListColumns[] = {{"Name", "name"},
                                   {"Resource group", "resource_group"},
                                   {"Display name", "display_name"},
                                   {"Description", "description"}};
constexpr Column kSummary[] = {{"Name", "name"},
                               {"Resource group", "resource_group"},
                               {"Display name", "display_name"},
                               {"Description", "description"},
                               {"Location", "location"},
                               {"Tags", "tags"},
                               {"Retention", "retention"},
                               {"Job access", "job_access"},
                               {"MLflow", "mlflow_tracking_uri"},
                               {"Id", "id"}};

/// -n, else -w: `az ml workspace show -n` and `-w` both name the workspace itself.
Result<std::string> path_of(const Context& context) {
  model::Workspace workspace = context.client.workspace();
  if (context.arguments.has("name")) workspace.name = context.arguments.get("name");
  TRY(check_name(workspace.name, "workspace"));
  return model::arm_id(workspace);
}

Result<int> print_one(Context& context, const json::object& resource) {
  TRY(context.print({.value = wire::yaml::workspace_view(resource), .columns = kSummary}));
  return 0;
}

json::object text_map(const std::map<std::string, std::string>& map) {
  json::object object;
  for (const auto& [key, value] : map) object[key] = value;
  return object;
}

std::string access_word(const model::Workspace& workspace) {
  return to_lower(boost::describe::enum_to_string(workspace.job_access, ""));
}

Result<int> create(Context& context) {
  Document document = TRY(load_document(context));
  if (context.arguments.has("name")) set_text(document.root, "name", context.arguments.get("name"));
  if (context.arguments.has("display-name")) {
    set_text(document.root, "display_name", context.arguments.get("display-name"));
  }
  for (const char* key : {"description", "location"}) {
    if (context.arguments.has(key)) set_text(document.root, key, context.arguments.get(key));
  }
  if (context.arguments.has("job-access")) {
    set_text(document.root, "job_access", context.arguments.get("job-access"));
  }
  TRY(set_tags(document.root, context.arguments.all("tags")));
  if (document.root.find("name") == nullptr) {
    return wrong_usage(context, "the workspace needs a name: -n NAME");
  }
  model::Workspace workspace = TRY(wire::yaml::workspace_from_yaml(document.root));
  workspace.subscription = context.client.workspace().subscription;
  workspace.resource_group = context.client.workspace().resource_group;
  TRY(check_name(workspace.name, "workspace"));
  return print_one(context, TRY(context.client.put(model::arm_id(workspace),
                                                   {{"location", workspace.location},
                                                    {"tags", text_map(workspace.tags)},
                                                    {"properties",
                                                     {{"friendlyName", workspace.display_name},
                                                      {"description", workspace.description},
                                                      {"jobAccess", access_word(workspace)}}}})));
}

Result<int> list(Context& context) {
  const model::Workspace& scope = context.client.workspace();
  const std::string group =
      context.arguments.has("resource-group") ? "/resourceGroups/" + scope.resource_group : "";
  const json::array found = TRY(context.client.list(
      fmt::format("/subscriptions/{}{}/providers/Microsoft.MachineLearningServices/workspaces",
                  scope.subscription, group),
      TRY(most_results(context))));
  json::array views;
  for (const json::value& resource : found) {
    if (resource.is_object()) views.push_back(wire::yaml::workspace_view(resource.get_object()));
  }
  TRY(context.print({.value = std::move(views), .columns = kListColumns}));
  return 0;
}

Result<int> show(Context& context) {
  return print_one(context, TRY(context.client.get(TRY(path_of(context)))));
}

/// --set and its like, by the names that `workspace show` has.
Status edit(const Context& context, json::object& resource) {
  using namespace wire::yaml;
  json::object& properties = resource.at("properties").as_object();
  const Node root = TRY(edited(context, {{"description", properties["description"]},
                                         {"display_name", properties["friendlyName"]},
                                         {"job_access", properties["jobAccess"]},
                                         {"tags", resource["tags"]}}));
  for (const auto& [key, arm] :
       {std::pair("description", "description"), std::pair("display_name", "friendlyName"),
        std::pair("job_access", "jobAccess")}) {
    const Node* found = root.find(key);
    const bool is_there = found != nullptr && found->kind != Node::Kind::Null;
    properties[arm] = is_there ? TRY(as_text(*found, key)) : std::string();
  }
  const Node* tags = root.find("tags");
  resource["tags"] = tags == nullptr ? json::object() : text_map(TRY(as_text_map(*tags, "tags")));
  return Done{};
}

/// Description, display name, tags and what jobs reach; the rest of the resource goes back as it
/// came.
Result<int> update(Context& context) {
  const std::string path = TRY(path_of(context));
  json::object resource = TRY(context.client.get(path));
  json::object& properties = resource.at("properties").as_object();
  if (context.arguments.has("description")) {
    properties["description"] = context.arguments.get("description");
  }
  if (context.arguments.has("display-name")) {
    properties["friendlyName"] = context.arguments.get("display-name");
  }
  if (context.arguments.has("job-access")) {
    properties["jobAccess"] = context.arguments.get("job-access");
  }
  wire::yaml::Node tags;
  TRY(set_tags(tags, context.arguments.all("tags")));
  if (const wire::yaml::Node* given = tags.find("tags")) {
    resource["tags"] = text_map(TRY(wire::yaml::as_text_map(*given, "tags")));
  }
  if (has_edits(context)) TRY(edit(context, resource));
  return print_one(context, TRY(context.client.put(path, resource)));
}

Result<int> remove(Context& context) {
  if (!context.arguments.has("name")) return wrong_usage(context, "which workspace? -n NAME");
  const std::string path = TRY(path_of(context));
  const std::string name = context.arguments.get("name");
  if (!TRY(is_certain(context, fmt::format("delete workspace '{}' and all in it?", name))))
    return 1;
  TRY(context.client.remove(path));
  return 0;
}

constexpr Flag kName = {"-n,--name,NAME", Takes::Value, "NAME", "the workspace"};
constexpr Flag kDescription = {"--description", Takes::Value, "TEXT", "what it is for"};
constexpr Flag kDisplayName = {"--display-name", Takes::Value, "TEXT", "what lists show"};
constexpr Flag kTags = {"--tags", Takes::Several, "key=value", "its tags"};

constexpr Flag kJobAccess = {"--job-access", Takes::Value, "own|read|write",
                             "what the token of a job reaches: its own (default), reading the rest "
                             "of the workspace, or changing it"};

constexpr Flag kCreateFlags[] = {
    {"-f,--file", Takes::Value, "FILE", "its YAML file"},
    kName,
    kDisplayName,
    kDescription,
    {"-l,--location", Takes::Value, "TEXT", "recorded only"},
    kTags,
    kJobAccess,
    {"--set", Takes::Several, "a.b=c", "change a key of the file"},
    {"--no-wait", Takes::Nothing, "", "accepted; it is there at once"},
    {"--kind", Takes::Value, "KIND", "accepted"},
    {"-s,--storage-account", Takes::Value, "ID", "accepted: data is kept by the server"},
    {"-k,--key-vault", Takes::Value, "ID", "accepted"},
    {"-a,--application-insights", Takes::Value, "ID", "accepted"},
    {"-c,--container-registry", Takes::Value, "ID", "accepted"},
    {"-i,--image-build-compute", Takes::Value, "NAME", "accepted"},
    {"-m,--managed-network", Takes::Value, "MODE", "accepted"},
    {"--public-network-access", Takes::Value, "TEXT", "accepted"},
    {"-p,--primary-user-assigned-identity", Takes::Value, "ID", "accepted"},
    {"-d,--system-datastores-auth-mode", Takes::Value, "MODE", "accepted"},
    {"--hub-id", Takes::Value, "ID", "accepted"},
    {"--default-resource-group", Takes::Value, "ID", "accepted"},
    {"-u,--update-dependent-resources", Takes::Nothing, "", "accepted"},
    {"--provision-network-now", Takes::Nothing, "", "accepted"},
};
constexpr Flag kListFlags[] = {
    {"-r,--max-results", Takes::Value, "N", "at most so many (50)"},
    {"--all-results", Takes::Nothing, "", "all there are"},
    {"--filtered-kinds", Takes::Several, "KIND", "accepted: there is one kind"},
};
constexpr Flag kShowFlags[] = {kName};
constexpr Flag kUpdateFlags[] = {
    kName,
    kDisplayName,
    kDescription,
    kTags,
    kJobAccess,
    kEditSet,
    kEditAdd,
    kEditRemove,
    kEditText,
    {"-f,--file", Takes::Value, "FILE", "accepted"},
    {"--public-network-access", Takes::Value, "TEXT", "accepted"},
    {"-i,--image-build-compute", Takes::Value, "NAME", "accepted"},
    {"-u,--update-dependent-resources", Takes::Nothing, "", "accepted"},
    {"--no-wait", Takes::Nothing, "", "accepted"},
};
constexpr Flag kDeleteFlags[] = {
    kName,
    {"-y,--yes", Takes::Nothing, "", "do not ask"},
    {"--all-resources", Takes::Nothing, "", "accepted; there are no others"},
    {"-p,--permanently-delete", Takes::Nothing, "", "accepted; it always is"},
    {"--no-wait", Takes::Nothing, "", "accepted"},
};

constexpr Command kCommands[] = {
    {.words = "workspace create",
     .summary = "Make a workspace",
     .details =
         "Jobs and assets belong to a workspace; one named 'default' is there from the start.",
     .examples = "  berth workspace create -n team --description 'shared by the team'",
     .flags = kCreateFlags,
     .run = create},
    {.words = "workspace list",
     .summary = "List workspaces",
     .details = "",
     .examples = "",
     .flags = kListFlags,
     .run = list},
    {.words = "workspace show",
     .summary = "Show a workspace",
     .details = "",
     .examples = "",
     .flags = kShowFlags,
     .run = show},
    {.words = "workspace update",
     .summary = "Change display name, description, tags or job access of a workspace",
     .details =
         R"(--job-access says how far the token that every job has in its environment reaches. own: the job's own
run, its children, its inputs and outputs, and what it makes. read: it also reads the experiments, runs
and models of the workspace. write: it also logs to other runs and moves aliases and stages.)",
     .examples = "  berth workspace update -n default --job-access read",
     .flags = kUpdateFlags,
     .run = update},
    {.words = "workspace delete",
     .summary = "Delete a workspace and all in it",
     .details = "",
     .examples = "",
     .flags = kDeleteFlags,
     .run = remove},
};

}  // namespace

std::span<const Command> workspace_commands() { return kCommands; }

}  // namespace berth::cli
