// SPDX-License-Identifier: Apache-2.0
// berth compute create, update, delete.
#include "cli/commands/compute_change.h"

#include "base/text.h"
#include "cli/given.h"
#include "cli/operation.h"
#include "wire/yaml/compute.h"
#include "wire/yaml/edit.h"

namespace berth::cli {
namespace {

using wire::yaml::ComputeFile;
using wire::yaml::Node;

struct FlagKey {
  const char* flag;
  const char* key;      ///< Of the file.
  const char* section;  ///< Below which the key is; empty: at the top.
};

constexpr FlagKey kTexts[] = {
    {"name", "name", ""},
    {"type", "type", ""},
    {"size", "size", ""},
    {"tier", "tier", ""},
    {"location", "location", ""},
    {"description", "description", ""},
    {"ssh-public-access-enabled", "ssh_public_access_enabled", ""},
    {"enable-node-public-ip", "enable_node_public_ip", ""},
    {"admin-username", "admin_username", "ssh_settings"},
    {"admin-password", "admin_password", "ssh_settings"},
    {"ssh-key-value", "ssh_key_value", "ssh_settings"},
    {"vnet-name", "vnet_name", "network_settings"},
    {"subnet", "subnet", "network_settings"},
    {"identity-type", "type", "identity"},
};
constexpr FlagKey kNumbers[] = {
    {"min-instances", "min_instances", ""},
    {"max-instances", "max_instances", ""},
    {"idle-time-before-scale-down", "idle_time_before_scale_down", ""},
};

/// The mapping below a key, made when it is not there.
Node& section_of(Node& root, const std::string& key) {
  if (key.empty()) return root;
  for (auto& [name, member] : root.members) {
    if (name != key) continue;
    if (member.kind == Node::Kind::Null) member.kind = Node::Kind::Mapping;
    return member;
  }
  root.members.emplace_back(key, Node{.kind = Node::Kind::Mapping});
  root.key_marks.emplace_back();
  return root.members.back().second;
}

/// Flags over what the file says.
Status set_flags(const Context& context, Node& root) {
  for (const FlagKey& each : kTexts) {
    if (!context.arguments.has(each.flag)) continue;
    set_text(section_of(root, each.section), each.key, context.arguments.get(each.flag));
  }
  for (const FlagKey& each : kNumbers) {
    if (!context.arguments.has(each.flag)) continue;
    set_text(section_of(root, each.section), each.key, context.arguments.get(each.flag));
  }
  const auto identities = context.arguments.all("user-assigned-identities");
  if (!identities.empty()) {
    Node list{.kind = Node::Kind::Sequence};
    for (const std::string& id : identities) {
      list.items.push_back({.kind = Node::Kind::Scalar, .text = id, .quoted = true});
    }
    Node& identity = section_of(root, "identity");
    set_text(identity, "user_assigned_identities", "");
    identity.members.back().second = std::move(list);
  }
  return set_tags(root, context.arguments.all("tags"));
}

Status check_numbers(const Context& context) {
  for (const FlagKey& each : kNumbers) TRY(number_flag(context, each.flag));
  return Done{};
}

Result<int> print_cluster(Context& context, const json::object& resource) {
  TRY(context.print({.value = wire::yaml::compute_view(resource), .columns = compute_summary()}));
  return 0;
}

/// Waits for the end and shows the cluster as it is then.
Result<int> finish_and_print(Context& context, const Operation& operation, const std::string& path,
                             const std::string& doing) {
  TRY(finish(context, operation, doing));
  if (context.arguments.has("no-wait")) return print_cluster(context, operation.answer);
  return print_cluster(context, TRY(context.client.get(path)));
}

/// `--set tags.a=b` adds to the tags there are, so these have to be there.
Status set_changes(Context& context, const std::string& path, Node& root) {
  const auto touches_tags = [&](std::string_view flag) {
    return std::ranges::any_of(context.arguments.all(flag), [](const std::string& each) {
      return each.starts_with("tags.") || each == "tags";
    });
  };
  const bool adds_tags = touches_tags("set") || touches_tags("remove");
  if (adds_tags) {
    const json::object resource = TRY(context.client.get(path));
    const json::value* tags = resource.if_contains("tags");
    Node& present = section_of(root, "tags");
    if (tags != nullptr && tags->is_object()) {
      for (const auto& [key, value] : tags->get_object()) {
        if (value.is_string()) set_text(present, key, std::string(value.get_string()));
      }
    }
  }
  for (const std::string& assignment : context.arguments.all("set")) {
    TRY(wire::yaml::set(root, assignment, context.arguments.has("force-string")));
  }
  if (context.arguments.has("add")) TRY(wire::yaml::add(root, context.arguments.all("add")));
  if (context.arguments.has("remove")) {
    TRY(wire::yaml::remove(root, context.arguments.all("remove")));
  }
  return Done{};
}

}  // namespace

std::span<const Column> compute_summary() {
  static constexpr Column kSummary[] = {{"Name", "name"},
                                        {"Type", "type"},
                                        {"Size", "size"},
                                        {"Slots", "slots"},
                                        {"Tier", "tier"},
                                        {"Location", "location"},
                                        {"Least nodes", "min_instances"},
                                        {"Most nodes", "max_instances"},
                                        {"Idle seconds", "idle_time_before_scale_down"},
                                        {"State", "allocation_state"},
                                        {"Nodes now", "current_node_count"},
                                        {"Nodes wanted", "target_node_count"},
                                        {"Of them", "node_state_counts"},
                                        {"Errors", "errors"},
                                        {"Provisioning", "provisioning_state"},
                                        {"Description", "description"},
                                        {"Tags", "tags"},
                                        {"Created", "created_on"}};
  return kSummary;
}

Result<std::string> compute_path(const Context& context) {
  const std::string name = TRY(required_name(context, "compute"));
  return context.client.workspace_path("/computes/" + name);
}

Result<int> create_compute(Context& context) {
  if (const Status numbers = check_numbers(context); !numbers) {
    return wrong_usage(context, numbers.error().message);
  }
  Document document = TRY(load_document(context));
  TRY(set_flags(context, document.root));
  if (!context.arguments.has("file") && document.root.find("type") == nullptr) {
    set_text(document.root, "type", "amlcompute");
  }
  const ComputeFile file = TRY(wire::yaml::compute_from_yaml(document.root));
  if (file.name.empty())
    return wrong_usage(context, "the compute needs a name: berth compute create -n NAME");
  TRY(check_name(file.name, "compute"));
  for (const std::string& warning : file.warnings) context.console.warning(warning);
  const std::string path = context.client.workspace_path("/computes/" + file.name);
  const Operation operation = TRY(begin(context, json_request("PUT", path, file.body)));
  return finish_and_print(context, operation, path, fmt::format("making '{}'", file.name));
}

Result<int> update_compute(Context& context) {
  if (const Status numbers = check_numbers(context); !numbers) {
    return wrong_usage(context, numbers.error().message);
  }
  const std::string path = TRY(compute_path(context));
  Node root{.kind = Node::Kind::Mapping};
  TRY(set_changes(context, path, root));
  TRY(set_flags(context, root));
  if (root.members.size() == 1) {
    return wrong_usage(
        context, "nothing to change; say what: berth compute update -n NAME --max-instances 8");
  }
  const ComputeFile change = TRY(wire::yaml::compute_change_from_yaml(root));
  const Operation operation = TRY(begin(context, json_request("PATCH", path, change.body)));
  return finish_and_print(context, operation, path, "updating");
}

Result<int> delete_compute(Context& context) {
  const std::string path = TRY(compute_path(context));
  const std::string name = context.arguments.get("name");
  TRY(context.client.get(path));  // A name that is wrong is found before the question.
  const bool only_idle = context.arguments.has("if-idle");
  const std::string question =
      fmt::format("delete compute '{}'{}?", name, only_idle ? "" : " and cancel its jobs");
  if (!TRY(is_certain(context, question))) return 1;
  const Operation operation = TRY(begin(
      context, {.method = "DELETE",
                .url = path + "?underlyingResourceAction=" + (only_idle ? "Detach" : "Delete")}));
  TRY(finish(context, operation, fmt::format("deleting '{}'", name)));
  return 0;
}

}  // namespace berth::cli
