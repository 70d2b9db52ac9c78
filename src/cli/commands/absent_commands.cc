// SPDX-License-Identifier: Apache-2.0
// The groups of `az ml` that Berth has not yet. They are known by name so that a script that uses
// them ends with a sentence that explains it, and not with a misspelling.
#include <deque>

#include "base/text.h"
#include "cli/command.h"

namespace berth::cli {
namespace {

struct AbsentGroup {
  std::string_view name;
  std::string_view verbs;
  std::string_view instead;  ///< What there is meanwhile; may be empty.
};

constexpr AbsentGroup kGroups[] = {
    {"online-endpoint", "create show list update delete invoke get-credentials regenerate-keys",
     ""},
    {"online-deployment", "create show list update delete get-logs", ""},
    {"batch-endpoint", "create show list update delete invoke list-jobs", ""},
    {"batch-deployment", "create show list update delete list-jobs", ""},
    {"schedule", "create show list update enable disable trigger delete",
     "a timer of this machine can run 'berth job create'"},
    {"registry", "create show list update delete",
     "assets belong to workspaces, and a workspace can be shared: 'berth role --help'"},
    {"connection", "create show list update delete", ""},
    {"feature-store", "create show list update delete", ""},
    {"feature-set", "create show list update archive restore backfill", ""},
    {"feature-store-entity", "create show list update archive restore", ""},
    {"index", "create show list", ""},
    {"serverless-endpoint", "create show list update delete get-credentials regenerate-keys", ""},
    {"marketplace-subscription", "create show list delete", ""},
    {"capability-host", "create show delete", ""},
    {"deployment-template", "create show list archive restore", ""},
    {"azure-openai-deployment", "list show", ""},
};

/// Single verbs of groups that are there otherwise.
constexpr AbsentGroup kVerbs[] = {
    {"job", "connect-ssh", ""},
    {"compute", "attach detach start stop restart connect-ssh enable-sso",
     "clusters (amlcompute) are what there is"},
    {"workspace", "list-keys sync-keys", "there are no keys: 'berth token create' makes a token"},
    {"workspace", "diagnose provision-network", ""},
    {"workspace outbound-rule", "list show set remove", ""},
    {"data", "import share mount list-materialization-status", ""},
    {"environment", "share", ""},
    {"model", "share package", "everybody in a workspace has its models"},
    {"component", "prepare-for-sign", ""},
    {"datastore", "create update delete mount",
     "every workspace has workspaceblobstore and workspaceartifactstore"},
};

/// Puts the commands together once and keeps their texts.
class AbsentCommandList {
 public:
  AbsentCommandList() {
    for (const std::span<const AbsentGroup> groups :
         {std::span<const AbsentGroup>(kGroups), std::span<const AbsentGroup>(kVerbs)}) {
      for (const AbsentGroup& group : groups) {
        for (const std::string_view verb : split(group.verbs, ' ')) add(group, verb);
      }
    }
  }

  std::span<const Command> commands() const { return commands_; }

 private:
  void add(const AbsentGroup& group, std::string_view verb) {
    const std::string_view words = keep(fmt::format("{} {}", group.name, verb));
    commands_.push_back({.words = words,
                         .summary = "Not supported yet",
                         .details = group.instead,
                         .examples = "",
                         .flags = {},
                         .run = nullptr});
  }

  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }

  std::deque<std::string> texts_;  ///< Never moves what it holds.
  std::vector<Command> commands_;
};

}  // namespace

std::span<const Command> absent_commands() {
  static const AbsentCommandList list;
  return list.commands();
}

}  // namespace berth::cli
