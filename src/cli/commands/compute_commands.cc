// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "cli/commands/compute_change.h"
#include "cli/given.h"
#include "model/site.h"
#include "wire/yaml/compute.h"

namespace berth::cli {
namespace {

using View = json::object (*)(const json::object&);

constexpr Column kListColumns[] = {{"Name", "name"},
                                   {"Size", "size"},
                                   {"Tier", "tier"},
                                   {"Nodes", "current_node_count"},
                                   {"Wanted", "target_node_count"},
                                   {"Min", "min_instances"},
                                   {"Max", "max_instances"},
                                   {"State", "allocation_state"},
                                   {"Location", "location"}};
constexpr Column kNodeColumns[] = {{"Node", "node_id"},
                                   {"State", "node_state"},
                                   {"Job", "current_job_name"},
                                   {"Address", "private_ip_address"}};
constexpr Column kSizeColumns[] = {{"Name", "name"},
                                   {"Cores", "v_cp_us"},
                                   {"Memory GiB", "memory_gb"},
                                   {"GPUs", "gpus"},
                                   {"Per hour", "price_per_hour"},
                                   {"Low priority", "low_priority_price_per_hour"},
                                   {"Family", "family"}};
constexpr Column kUsageColumns[] = {
    {"What", "name.localized_value"}, {"Used", "current_value"}, {"Limit", "limit"}};

json::array views_of(const json::array& resources, View view) {
  json::array views;
  for (const json::value& resource : resources) {
    if (resource.is_object()) views.push_back(view(resource.get_object()));
  }
  return views;
}

Result<int> list(Context& context) {
  const std::size_t most = TRY(most_results(context));
  const std::string type = context.arguments.get("type", "amlcompute");
  json::array found;
  if (equals_ignoring_case(type, "amlcompute")) {
    found = TRY(context.client.list(context.client.workspace_path("/computes"), most));
  }
  json::array views = views_of(found, wire::yaml::compute_view);
  if (views.empty() && context.console.out_is_terminal) {
    context.console.note("no clusters yet; 'berth compute create -n NAME' makes one");
  }
  TRY(context.print({.value = std::move(views), .columns = kListColumns}));
  return 0;
}

Result<int> show(Context& context) {
  const json::object resource = TRY(context.client.get(TRY(compute_path(context))));
  TRY(context.print({.value = wire::yaml::compute_view(resource), .columns = compute_summary()}));
  return 0;
}

Result<int> list_nodes(Context& context) {
  json::array nodes;
  json::object page = TRY(context.client.post(TRY(compute_path(context)) + "/listNodes"));
  while (true) {
    if (const json::value* found = page.if_contains("nodes"); found && found->is_array()) {
      for (const json::value& node : found->get_array()) nodes.push_back(node);
    }
    const json::value* next = page.if_contains("nextLink");
    if (next == nullptr || !next->is_string()) break;
    page = TRY(context.client.get(path_of_link(next->get_string())));
  }
  if (nodes.empty() && context.console.out_is_terminal) context.console.note("no nodes now");
  TRY(context.print({.value = views_of(nodes, wire::yaml::node_view), .columns = kNodeColumns}));
  return 0;
}

/// "/subscriptions/…/locations/<location>/<what>".
Result<std::string> location_path(const Context& context, std::string_view what) {
  const std::string location = context.arguments.get("location", model::kLocalSite);
  TRY(check_name(location, "location"));
  return fmt::format(
      "/subscriptions/{}/providers/Microsoft.MachineLearningServices/locations/{}/{}",
      context.client.workspace().subscription, location, what);
}

Result<int> list_sizes(Context& context) {
  const json::array found =
      TRY(context.client.list(TRY(location_path(context, "vmSizes")), SIZE_MAX));
  TRY(context.print({.value = views_of(found, wire::yaml::size_view), .columns = kSizeColumns}));
  return 0;
}

Result<int> list_usage(Context& context) {
  const json::array found =
      TRY(context.client.list(TRY(location_path(context, "usages")), SIZE_MAX));
  TRY(context.print({.value = views_of(found, wire::yaml::usage_view), .columns = kUsageColumns}));
  return 0;
}

constexpr Flag kName = {"-n,--name,NAME", Takes::Value, "NAME", "the compute", true};
constexpr Flag kNoWait = {"--no-wait", Takes::Nothing, "", "do not wait until it is done"};
constexpr Flag kMin = {"--min-instances", Takes::Value, "N", "nodes that stay, also idle (0)"};
constexpr Flag kMax = {"--max-instances", Takes::Value, "N", "never more nodes than this (4)"};
constexpr Flag kIdle = {"-d,--idle-time-before-scale-down", Takes::Value, "SECONDS",
                        "an idle node goes after so long (120)"};
constexpr Flag kDescription = {"--description", Takes::Value, "TEXT", "what it is for"};
constexpr Flag kTags = {"--tags", Takes::Several, "key=value", "its tags"};
constexpr Flag kIdentity = {"--identity-type", Takes::Value, "TYPE", "recorded only"};
constexpr Flag kIdentities = {"-i,--user-assigned-identities", Takes::Several, "ID",
                              "recorded only"};
constexpr Flag kLocation = {"-l,--location", Takes::Value, "SITE",
                            "the site ('berth site list'); a region of Azure means 'local'"};

constexpr Flag kCreateFlags[] = {
    {"-f,--file", Takes::Value, "FILE", "its YAML file"},
    {"-n,--name,NAME", Takes::Value, "NAME", "3 to 24 letters, digits and '-'"},
    {"-t,--type", Takes::Value, "TYPE", "amlcompute, the only one yet"},
    {"--size", Takes::Value, "SIZE", "of its nodes (Standard_DS3_v2); see 'compute list-sizes'"},
    kMin,
    kMax,
    kIdle,
    {"--tier", Takes::Value, "TIER", "dedicated, or low_priority: gives way to dedicated ones"},
    kLocation,
    kDescription,
    kTags,
    {"--set", Takes::Several, "a.b=c", "change a key of the file"},
    kNoWait,
    kIdentity,
    kIdentities,
    {"-p,--ssh-public-access-enabled", Takes::Maybe, "BOOL", "recorded only"},
    {"--admin-username", Takes::Value, "NAME", "recorded only"},
    {"--admin-password", Takes::Value, "TEXT", "never sent"},
    {"--ssh-key-value", Takes::Value, "KEY", "recorded only"},
    {"--vnet-name", Takes::Value, "NAME", "recorded only"},
    {"--subnet", Takes::Value, "NAME", "recorded only"},
    {"--enable-node-public-ip", Takes::Maybe, "BOOL", "recorded only"},
    {"--user-object-id", Takes::Value, "ID", "accepted"},
    {"--user-tenant-id", Takes::Value, "ID", "accepted"},
};
constexpr Flag kListFlags[] = {
    {"-t,--type", Takes::Value, "TYPE", "only those of this type"},
    {"-r,--max-results", Takes::Value, "N", "at most so many (50)"},
    {"--all-results", Takes::Nothing, "", "all there are"},
};
constexpr Flag kNameOnly[] = {kName};
constexpr Flag kUpdateFlags[] = {
    kName,
    kMin,
    kMax,
    kIdle,
    kDescription,
    kTags,
    {"--set", Takes::Several, "key=value", "max_instances=8, tags.team=vision, …"},
    kEditAdd,
    kEditRemove,
    kEditText,
    kIdentity,
    kIdentities,
    kNoWait,
};
constexpr Flag kDeleteFlags[] = {
    kName,
    {"-y,--yes", Takes::Nothing, "", "do not ask"},
    {"--if-idle", Takes::Nothing, "", "only when it has no jobs, waiting or running"},
    kNoWait,
};
constexpr Flag kSizesFlags[] = {
    {"-t,--type", Takes::Value, "TYPE", "accepted; all sizes are for clusters"}, kLocation};
constexpr Flag kUsageFlags[] = {kLocation};

constexpr Command kCommands[] = {
    {.words = "compute create",
     .summary = "Make a cluster, or change one that is there",
     .details =
         R"(Nodes come when jobs wait for them and go when they have been idle; with --min-instances 0 none
remain. Size, tier and location of a cluster that is there cannot be changed.)",
     .examples = R"(  berth compute create -n pool --max-instances 8
  berth compute create -n spot --size Standard_F4s_v2 --tier low_priority -l lab
  berth compute create -f cluster.yml --set max_instances=2
  berth run --on pool -- python3 train.py)",
     .flags = kCreateFlags,
     .run = create_compute},
    {.words = "compute list",
     .summary = "List clusters",
     .details = "",
     .examples = "  berth compute list --query '[].name' -o tsv",
     .flags = kListFlags,
     .run = list},
    {.words = "compute show",
     .summary = "Show a cluster and what it is doing",
     .details = "'Nodes now' and 'Of them' are counted at this moment.",
     .examples = "  berth compute show -n pool --query current_node_count",
     .flags = kNameOnly,
     .run = show},
    {.words = "compute update",
     .summary = "Change how a cluster scales, its description or tags",
     .details = "Nodes above a new maximum finish their job first. Size, tier and location stay.",
     .examples = R"(  berth compute update -n pool --min-instances 1 --max-instances 16
  berth compute update -n pool --set tags.team=vision)",
     .flags = kUpdateFlags,
     .run = update_compute},
    {.words = "compute delete",
     .summary = "Delete a cluster",
     .details =
         R"(Its jobs, waiting and running, are cancelled; with --if-idle it is refused while there are any.
Waits until the last node has gone, unless --no-wait.)",
     .examples = "  berth compute delete -n pool -y --if-idle",
     .flags = kDeleteFlags,
     .run = delete_compute},
    {.words = "compute list-nodes",
     .summary = "List a cluster's nodes: state, job, address",
     .details =
         "States are Azure's: preparing, idle, running, leaving, unusable, preempted. 'berth node\n"
         "list' shows the nodes of all clusters.",
     .examples = "",
     .flags = kNameOnly,
     .run = list_nodes},
    {.words = "compute list-sizes",
     .summary = "List the sizes a cluster's nodes can have",
     .details =
         "Azure's common ones, and those of the operator's file (berth server --sizes FILE).",
     .examples = "",
     .flags = kSizesFlags,
     .run = list_sizes},
    {.words = "compute list-usage",
     .summary = "List how much of a site is used",
     .details = "A limit of -1 is none.",
     .examples = "  berth compute list-usage -l lab",
     .flags = kUsageFlags,
     .run = list_usage},
};

}  // namespace

std::span<const Command> compute_commands() { return kCommands; }

}  // namespace berth::cli
