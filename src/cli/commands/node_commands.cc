// SPDX-License-Identifier: Apache-2.0
// The nodes of all clusters. `berth node --name …` itself, the agent, is not a client's command.
#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"

namespace berth::cli {
namespace {

constexpr Column kColumns[] = {{"Name", "name"},       {"State", "state"},
                               {"Compute", "compute"}, {"Job", "job"},
                               {"Since", "since"},     {"Per hour", "price_per_hour"},
                               {"Site", "site"},       {"Workspace", "workspace"}};

bool is_of(const json::value& node, const std::string& compute) {
  const json::value* found = node.is_object() ? node.get_object().if_contains("compute") : nullptr;
  return found != nullptr && found->is_string() &&
         equals_ignoring_case(found->get_string(), compute);
}

Result<int> list(Context& context) {
  json::array nodes = TRY(context.client.list("/berth/v1/nodes", SIZE_MAX));
  if (context.arguments.has("compute")) {
    json::array chosen;
    for (const json::value& node : nodes) {
      if (is_of(node, context.arguments.get("compute"))) chosen.push_back(node);
    }
    nodes = std::move(chosen);
  }
  if (nodes.empty() && context.console.out_is_terminal) context.console.note("no nodes now");
  TRY(context.print({.value = std::move(nodes), .columns = kColumns}));
  return 0;
}

Result<int> preempt(Context& context) {
  const std::string name = TRY(required_name(context, "node"));
  TRY(context.client.post("/berth/v1/nodes/" + name + "/preempt"));
  return 0;
}

constexpr Flag kListFlags[] = {
    {"-c,--compute", Takes::Value, "NAME", "only the nodes of this cluster"}};
constexpr Flag kPreemptFlags[] = {{"-n,--name,NAME", Takes::Value, "NAME", "the node", true}};

constexpr Command kCommands[] = {
    {.words = "node list",
     .summary = "List the nodes there are: state, cluster, job, price",
     .details = "",
     .examples = "  berth node list --compute pool",
     .flags = kListFlags,
     .run = list},
    {.words = "node preempt",
     .summary = "Take a node away, as if somebody else needed its room",
     .details =
         R"(Its job gets SIGTERM and some seconds, is queued again and starts anew elsewhere, with its
outputs/ restored; the node goes.)",
     .examples = "",
     .flags = kPreemptFlags,
     .run = preempt},
};

}  // namespace

std::span<const Command> node_commands() { return kCommands; }

}  // namespace berth::cli
