// SPDX-License-Identifier: Apache-2.0
// berth server status|stop|configure. `berth server` itself is not a client's command.
#include <csignal>

#include "base/record.h"
#include "cli/command.h"
#include "cli/commands/server_configure.h"
#include "cli/discovery.h"
#include "io/http/http_client.h"
#include "io/process/process.h"
#include "wire/arm/error.h"
#include "wire/yaml/server_settings.h"

namespace berth::cli {
namespace {

constexpr Column kColumns[] = {{"Version", "version"},
                               {"Process", "pid"},
                               {"Port", "port"},
                               {"State", "home"},
                               {"Running jobs", "jobs.running"},
                               {"Queued jobs", "jobs.queued"}};

/// Without the client: asking for the status must not start a server.
Result<io::ClientResponse> ask_status(const Endpoint& server) {
  io::HttpClient http({.authority_file = server.authority_file});
  return http.send({.url = server.base_url + "/berth/v1/status",
                    .headers = {{"Authorization", "Bearer " + server.token}},
                    .timeout = std::chrono::seconds(10)});
}

Result<int> no_server(Context& context) {
  if (context.output.format || !context.console.out_is_terminal) {
    TRY(context.print({.value = {{"running", false}, {"home", context.place.home}}}));
  }
  context.console.note("no Berth server is running on " + context.place.home);
  return 1;
}

Result<int> status(Context& context) {
  const auto server = find_server(context.place);
  if (!server && server.error().code == Code::NotFound) return no_server(context);
  if (!server) return fail(server.error());
  const auto response = ask_status(*server);
  if (!response && server->is_ours) return no_server(context);
  if (!response) return fail(response.error());
  if (response->status >= 400) return fail(wire::arm::error_from(response->status, response->body));
  json::value answer = TRY(record::parse(response->body));
  if (answer.is_object()) answer.get_object()["running"] = true;
  TRY(context.print({.value = std::move(answer), .columns = kColumns}));
  return 0;
}

/// Who starts the next one.
std::string next_start(const Context& context) {
  const auto settings = wire::yaml::load_home_settings(context.place.home);
  const auto repeated = settings ? settings->repeated() : wire::yaml::ServerSettings();
  if (wire::yaml::value_of(repeated, "start") != "manual") {
    return "the next command starts a server again";
  }
  const std::string command = wire::yaml::value_of(repeated, "start_command");
  return fmt::format("'{}' starts a server again", command.empty() ? "berth server" : command);
}

Result<int> stop(Context& context) {
  const auto server = running_server(context.place);
  if (!server) {
    context.console.note("no Berth server is running on " + context.place.home);
    return 0;
  }
  TRY(io::send_signal(identity(*server), SIGTERM));
  if (!io::wait_for_end(identity(*server), std::chrono::seconds(60))) {
    return fail(Code::Unavailable, fmt::format("process {} is still busy stopping", server->pid));
  }
  context.console.note(fmt::format("stopped; jobs that run go on, and {}", next_start(context)));
  return 0;
}

const Command kCommands[] = {
    {.words = "server status",
     .summary = "Is a server running, and where",
     .details = "Exit status 1 when none is running. Starts none.",
     .examples = "",
     .flags = {},
     .run = status},
    {.words = "server stop",
     .summary = "Stop the server; running jobs go on",
     .details = "",
     .examples = "",
     .flags = {},
     .run = stop},
    {.words = "server configure",
     .summary = "Change or show the settings that the server of this state directory starts with",
     .details =
         R"(They are in server.yml of the state directory and hold from the next start on. 'berth server' and
every command that has to start the server use them; a flag of 'berth server' counts before them for
that run. Without flags the settings are shown, with where each comes from.)",
     .examples = R"(  berth server configure
  berth server configure --bind 10.0.0.5 --job-users /etc/berth/job-users.yml
  berth server configure --start manual --start-command 'sv up berth'
  berth server configure --unset bind)",
     .flags = configure_server_flags(),
     .run = configure_server},
};

}  // namespace

std::span<const Command> server_commands() { return kCommands; }

}  // namespace berth::cli
