// SPDX-License-Identifier: Apache-2.0
// What scripts ask `az` about who they are. A server's tokens are all there is behind it.
#include "base/clock.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/output/secret_output.h"
#include "cli/settings.h"

namespace berth::cli {
namespace {

constexpr Column kColumns[] = {{"Name", "name"}, {"Id", "id"}, {"Tenant", "tenantId"}};
constexpr const char* kTenant = "00000000-0000-0000-0000-000000000000";
constexpr const char* kName = "Berth";

json::object subscription(const Context& context) {
  const std::string& id = context.client.workspace().subscription;
  return {{"environmentName", "AzureCloud"},
          {"homeTenantId", kTenant},
          {"id", id},
          {"isDefault", true},
          {"managedByTenants", json::array()},
          {"name", kName},
          {"state", "Enabled"},
          {"tenantId", kTenant},
          {"user", {{"name", "berth"}, {"type", "user"}}}};
}

Result<int> show(Context& context) {
  TRY(context.print({.value = subscription(context), .columns = kColumns}));
  return 0;
}

Result<int> list(Context& context) {
  json::array all;
  all.push_back(subscription(context));
  TRY(context.print({.value = std::move(all), .columns = kColumns}));
  return 0;
}

/// Remembered as any other default is; the name means the one that is there from the start.
Result<int> set(Context& context) {
  const std::string given = context.arguments.get("name", context.arguments.get("subscription"));
  if (given.empty()) return wrong_usage(context, "which subscription? -s ID");
  const bool is_default = equals_ignoring_case(given, kName);
  const std::string id = is_default ? model::kDefaultSubscription : given;
  TRY(check_name(id, "subscription"));
  const bool is_first = id == model::kDefaultSubscription;
  TRY(change_settings(context.place, Scope::Global,
                      {{"defaults.subscription", is_first ? "" : id}}));
  return 0;
}

/// The server's own token; scripts hand it on as a bearer token.
Result<int> get_access_token(Context& context) {
  const Endpoint server = TRY(context.client.endpoint());
  // Nobody here knows when it ends; scripts that care ask again after this hour.
  const WallTime expires = SystemClock().now().wall + std::chrono::hours(1);
  const std::string text = to_iso8601(expires);
  protect_output(context.console);
  TRY(context.print(
      {.value = {{"accessToken", server.token},
                 {"expiresOn", fmt::format("{} {}.000000", text.substr(0, 10), text.substr(11, 8))},
                 {"expires_on", expires.time_since_epoch().count() / 1000},
                 {"subscription", context.client.workspace().subscription},
                 {"tenant", kTenant},
                 {"tokenType", "Bearer"}}}));
  return 0;
}

Result<int> login(Context& context) {
  context.console.note(
      "note: there is nothing to log in to; Berth uses the token of its own server, or "
      "BERTH_TOKEN");
  return list(context);
}

Result<int> logout(Context& context) {
  context.console.note("note: there is nothing to log out of");
  return 0;
}

constexpr Flag kShowFlags[] = {{"-s,--name", Takes::Value, "ID", "accepted"}};
constexpr Flag kSetFlags[] = {
    {"-s,-n,--name", Takes::Value, "ID", "the one to mean from now on; so does --subscription"}};
constexpr Flag kListFlags[] = {
    {"--all", Takes::Nothing, "", "accepted"},
    {"--refresh", Takes::Nothing, "", "accepted"},
};
constexpr Flag kTokenFlags[] = {
    {"-s,--name", Takes::Value, "ID", "accepted"},
    {"--resource", Takes::Value, "URL", "accepted: one token is good for all"},
    {"--resource-type", Takes::Value, "TYPE", "accepted"},
    {"--scope", Takes::Several, "SCOPE", "accepted"},
    {"-t,--tenant", Takes::Value, "ID", "accepted"},
};
constexpr Flag kLoginFlags[] = {
    {"--service-principal", Takes::Nothing, "", "accepted"},
    {"--identity", Takes::Nothing, "", "accepted"},
    {"--use-device-code", Takes::Nothing, "", "accepted"},
    {"--allow-no-subscriptions", Takes::Nothing, "", "accepted"},
    {"-u,--username", Takes::Value, "NAME", "accepted"},
    {"-p,--password", Takes::Value, "TEXT", "accepted, and not looked at"},
    {"-t,--tenant", Takes::Value, "ID", "accepted"},
    {"--client-id", Takes::Value, "ID", "accepted"},
    {"--federated-token", Takes::Value, "TEXT", "accepted, and not looked at"},
    {"--scope", Takes::Value, "SCOPE", "accepted"},
};

constexpr Command kCommands[] = {
    {.words = "account show",
     .summary = "Show the subscription that commands mean",
     .details = "",
     .examples = "  berth account show --query id -o tsv",
     .flags = kShowFlags,
     .run = show},
    {.words = "account list",
     .summary = "List subscriptions: the one there is",
     .details = "",
     .examples = "",
     .flags = kListFlags,
     .run = list},
    {.words = "account set",
     .summary = "Choose the subscription that commands mean",
     .details = "Workspaces belong to a subscription: those of another one are not seen any more.",
     .examples = "  berth account set -s Berth        the one there is from the start",
     .flags = kSetFlags,
     .run = set},
    {.words = "account get-access-token",
     .summary = "Print the token with which the server is asked",
     .details = "Whoever has it may do what you may do.",
     .examples = "  berth account get-access-token --query accessToken -o tsv",
     .flags = kTokenFlags,
     .run = get_access_token},
    {.words = "login",
     .summary = "Does nothing: there is nothing to log in to",
     .details = "",
     .examples = "",
     .flags = kLoginFlags,
     .run = login},
    {.words = "logout",
     .summary = "Does nothing: there is nothing to log out of",
     .details = "",
     .examples = "",
     .flags = {},
     .run = logout},
};

}  // namespace

std::span<const Command> account_commands() { return kCommands; }

}  // namespace berth::cli
