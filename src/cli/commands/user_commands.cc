// SPDX-License-Identifier: Apache-2.0
// Users and their tokens.
#include <charconv>

#include "base/clock.h"
#include "base/random.h"
#include "base/text.h"
#include "cli/command.h"
#include "cli/given.h"
#include "cli/output/secret_output.h"

namespace berth::cli {
namespace {

constexpr const char* kUsers = "/berth/v1/users";
constexpr const char* kTokens = "/berth/v1/tokens";

constexpr Column kUserColumns[] = {{"Name", "name"},          {"Display name", "display_name"},
                                   {"Roles", "roles"},        {"Created by", "created_by"},
                                   {"Created", "created_at"}, {"Id", "id"}};
constexpr Column kTokenColumns[] = {{"Id", "id"},
                                    {"User", "user"},
                                    {"Name", "name"},
                                    {"Workspace", "workspace"},
                                    {"Expires", "expires_at"},
                                    {"Expired", "expired"}};
constexpr Column kNewTokenColumns[] = {{"Token", "token"},
                                       {"Id", "id"},
                                       {"User", "user"},
                                       {"Workspace", "workspace"},
                                       {"Expires", "expires_at"}};

Result<std::string> path_of(const Context& context) {
  const std::string name = TRY(required_name(context, "user"));
  return fmt::format("{}/{}", kUsers, name);
}

Result<int> print_user(Context& context, const json::object& user) {
  TRY(context.print({.value = user, .columns = kUserColumns}));
  return 0;
}

Result<int> create_user(Context& context) {
  const std::string path = TRY(path_of(context));
  return print_user(context, TRY(context.client.put(
                                 path, {{"display_name", context.arguments.get("display-name")}})));
}

Result<int> list_users(Context& context) {
  json::array users = TRY(context.client.list(kUsers, SIZE_MAX));
  TRY(context.print({.value = std::move(users), .columns = kUserColumns}));
  return 0;
}

Result<int> show_user(Context& context) {
  return print_user(context, TRY(context.client.get(TRY(path_of(context)))));
}

Result<int> delete_user(Context& context) {
  const std::string path = TRY(path_of(context));
  const std::string name = context.arguments.get("name");
  const bool cancels = context.arguments.has("cancel-jobs");
  const bool keeps = context.arguments.has("keep-jobs");
  if (cancels && keeps)
    return wrong_usage(context, "--cancel-jobs and --keep-jobs exclude each other");
  if (!TRY(is_certain(context, fmt::format("delete user '{}' and their tokens?", name)))) return 1;
  TRY(context.client.get(path));
  TRY(context.client.remove(path + (cancels ? "?jobs=cancel" : keeps ? "?jobs=keep" : "")));
  return 0;
}

/// "30d", "12h", "15m" or "45s".
Result<std::chrono::seconds> lifetime_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit(end, text.data() + text.size());
  constexpr std::pair<std::string_view, std::int64_t> kUnits[] = {
      {"d", 86'400}, {"h", 3'600}, {"m", 60}, {"s", 1}};
  for (const auto& [letter, seconds] : kUnits) {
    const bool fits = failed == std::errc() && unit == letter && number > 0 && number <= 100'000;
    if (fits) return std::chrono::seconds(number * seconds);
  }
  return fail(
      Code::InvalidArgument,
      fmt::format("--expires-in takes a time such as 30d, 12h, 15m or 45s, not '{}'", text));
}

Result<json::object> token_request(const Context& context) {
  const Arguments& arguments = context.arguments;
  json::object body = {{"name", arguments.get("name")}};
  if (arguments.has("expires-at")) body["expires_at"] = arguments.get("expires-at");
  if (arguments.has("expires-in")) {
    const auto lifetime = TRY(lifetime_of(arguments.get("expires-in")));
    body["expires_at"] = to_iso8601(SystemClock().now().wall + lifetime);
  }
  if (arguments.has("only-workspace")) {
    body["workspace"] = arguments.get("only-workspace");
    body["resource_group"] = context.client.workspace().resource_group;
    body["subscription"] = context.client.workspace().subscription;
  }
  return body;
}

/// The secret goes into the file and nowhere else.
Status keep(SecretFile& file, json::object& made, const std::string& id) {
  const json::value* token = made.if_contains("token");
  if (token == nullptr || !token->is_string()) {
    return fail(Code::Internal, "the server's answer holds no token");
  }
  const Status kept = file.keep(token->get_string());
  made.erase("token");
  if (kept) return Done{};
  return fail(kept.error().code,
              fmt::format("{}; the token is lost: 'berth token revoke {}' ends it",
                          kept.error().message, id));
}

/// The id is ours, so that a request that has to be repeated makes one token and not two.
Result<int> create_token(Context& context) {
  const std::string user = context.arguments.get("user");
  TRY(check_name(user, "user"));
  const Result<json::object> body = token_request(context);
  if (!body) return wrong_usage(context, body.error().message);
  const std::string id = context.arguments.get("id", random_hex(8));
  TRY(check_name(id, "token"));
  std::optional<SecretFile> file;
  const std::string path = context.place.absolute(context.arguments.get("file"));
  if (context.arguments.has("file")) file = TRY(SecretFile::make(path));
  json::object made =
      TRY(context.client.put(fmt::format("{}/{}/tokens/{}", kUsers, user, id), *body));
  if (file) {
    TRY(keep(*file, made, id));
    TRY(context.print({.value = made, .columns = kTokenColumns}));
    context.console.note(fmt::format("the token is in {}; 'berth token revoke' ends it", path));
    return 0;
  }
  protect_output(context.console);
  TRY(context.print({.value = made, .columns = kNewTokenColumns}));
  context.console.note("the token is shown this once; 'berth token revoke' ends it");
  return 0;
}

Result<int> list_tokens(Context& context) {
  std::string path = kTokens;
  if (context.arguments.has("user")) {
    path += "?user=" + percent_encode(context.arguments.get("user"));
  }
  json::array tokens = TRY(context.client.list(path, SIZE_MAX));
  TRY(context.print({.value = std::move(tokens), .columns = kTokenColumns}));
  return 0;
}

Result<int> revoke_token(Context& context) {
  const std::string id = context.arguments.get("id");
  TRY(check_name(id, "token"));
  TRY(context.client.remove(fmt::format("{}/{}", kTokens, id)));
  return 0;
}

constexpr Flag kName = {"-n,--name,NAME", Takes::Value, "NAME", "the user", true};
constexpr Flag kNameOnly[] = {kName};
constexpr Flag kCreateFlags[] = {kName,
                                 {"--display-name", Takes::Value, "TEXT", "what lists show"}};
constexpr Flag kDeleteFlags[] = {
    kName,
    {"-y,--yes", Takes::Nothing, "", "do not ask"},
    {"--cancel-jobs", Takes::Nothing, "", "cancel their jobs that are not over"},
    {"--keep-jobs", Takes::Nothing, "", "let their jobs that are not over go on"},
};
constexpr Flag kTokenFlags[] = {
    {"-u,--user,USER", Takes::Value, "NAME", "whose it is", true},
    {"-n,--name", Takes::Value, "TEXT", "what it is for"},
    {"--expires-in", Takes::Value, "TIME", "how long it is good for: 30d, 12h, 15m (90d)"},
    {"--expires-at", Takes::Value, "TIME", "until when: 2027-01-31T00:00:00Z"},
    {"--only-workspace", Takes::Value, "NAME", "good for this workspace only"},
    {"--file", Takes::Value, "PATH", "write the token there, for you alone (0600), and print none"},
    {"--id", Takes::Value, "ID", "give this token a new secret; the old one ends at once"},
};
constexpr Flag kTokenListFlags[] = {{"-u,--user", Takes::Value, "NAME", "only this user's"}};
constexpr Flag kRevokeFlags[] = {{"--id,ID", Takes::Value, "ID", "the token's id", true}};

constexpr Command kCommands[] = {
    {.words = "user create",
     .summary = "Add somebody who may use this installation",
     .details = "A new user may do nothing: give them a role and a token.",
     .examples = R"(  berth user create ana
  berth role assign --user ana --role 'AzureML Data Scientist'
  berth token create --user ana --query token -o tsv)",
     .flags = kCreateFlags,
     .run = create_user},
    {.words = "user list",
     .summary = "List users and their roles",
     .details = "",
     .examples = "",
     .flags = {},
     .run = list_users},
    {.words = "user show",
     .summary = "Show a user and their roles",
     .details = "",
     .examples = "",
     .flags = kNameOnly,
     .run = show_user},
    {.words = "user delete",
     .summary = "Delete a user with their tokens and roles",
     .details =
         R"(What they do is cut off at once. Their data and the jobs that are over stay. When some of their jobs
are not over, say what becomes of them: cancelled, with tokens that are dead at once, or left to go on.)",
     .examples = "  berth user delete ana --cancel-jobs",
     .flags = kDeleteFlags,
     .run = delete_user},
    {.words = "token create",
     .summary = "Make a token for a user; it is shown once",
     .details =
         R"(Whoever holds it is that user. It is stored as a hash only. Its holder sets BERTH_TOKEN, or
--token-file, and away from this machine BERTH_URL and BERTH_CA (a copy of ca.pem) as well.)",
     .examples = R"(  berth token create --user ana --expires-in 30d
  berth token create --user ci --only-workspace team --file ci.token)",
     .flags = kTokenFlags,
     .run = create_token},
    {.words = "token list",
     .summary = "List tokens, without their secrets",
     .details = "",
     .examples = "",
     .flags = kTokenListFlags,
     .run = list_tokens},
    {.words = "token revoke",
     .summary = "End a token at once, with all that is under way in its name",
     .details = "",
     .examples = "",
     .flags = kRevokeFlags,
     .run = revoke_token},
};

}  // namespace

std::span<const Command> user_commands() { return kCommands; }

}  // namespace berth::cli
