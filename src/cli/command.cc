// SPDX-License-Identifier: Apache-2.0
#include "cli/command.h"

#include "base/text.h"

namespace berth::cli {
namespace {

constexpr Flag kGlobalFlags[] = {
    {"-o,--output", Takes::Value, "FORMAT", "json, jsonc, yaml, yamlc, table, tsv or none"},
    {"--query", Takes::Value, "QUERY", "print a part of the answer (JMESPath): name, [].name"},
    {"-w,--workspace-name", Takes::Value, "NAME",
     "the workspace ('berth configure'; else default)"},
    {"-g,--resource-group", Takes::Value, "NAME", "its resource group (likewise; else berth)"},
    {"--subscription", Takes::Value, "ID", "its subscription (likewise)"},
    {"--token-file", Takes::Value, "FILE", "use the token in this file ($BERTH_TOKEN)"},
    {"--only-show-errors", Takes::Nothing, "", "no notes and no warnings"},
    {"--verbose", Takes::Nothing, "", "say on stderr what is asked of the server"},
    {"--debug", Takes::Nothing, "", "the same as --verbose"},
    {"--acquire-policy-token", Takes::Nothing, "", "accepted: nobody asks for one"},
    {"--change-reference", Takes::Value, "ID", "accepted"},
    {"-h,--help", Takes::Nothing, "", "this text"},
};

}  // namespace

std::string_view key_of(const Flag& flag) {
  for (const std::string_view name : split(flag.spelling, ',')) {
    if (name.starts_with("--")) return name.substr(2);
  }
  return flag.spelling;
}

std::string Arguments::get(std::string_view key, std::string_view otherwise) const {
  const auto found = values.find(key);
  if (found == values.end() || found->second.empty()) return std::string(otherwise);
  return found->second.back();
}

std::vector<std::string> Arguments::all(std::string_view key) const {
  const auto found = values.find(key);
  return found == values.end() ? std::vector<std::string>() : found->second;
}

Status Context::print(const Answer& answer) const {
  const std::string text = TRY(to_text(answer, output, console));
  return text.empty() ? Status(Done{}) : console.out(text);
}

Result<int> wrong_usage(const Context& context, std::string_view message) {
  context.console.error(message);
  return 2;
}

std::span<const Flag> global_flags() { return kGlobalFlags; }

std::vector<Command> all_commands() {
  std::vector<Command> commands;
  for (const auto group :
       {run_commands(),         job_commands(),       compute_commands(),   data_commands(),
        environment_commands(), component_commands(), model_commands(),     workspace_commands(),
        deployment_commands(),  datastore_commands(), site_commands(),      node_commands(),
        user_commands(),        role_commands(),      audit_commands(),     secret_commands(),
        env_commands(),         server_commands(),    configure_commands(), account_commands(),
        group_commands(),       extension_commands(), absent_commands(),    storage_commands(),
        service_commands()}) {
    commands.insert(commands.end(), group.begin(), group.end());
  }
  return commands;
}

}  // namespace berth::cli
