// SPDX-License-Identifier: Apache-2.0
// berth service: work that is not meant to end, and answers requests.
#include "base/text.h"
#include "cli/command.h"
#include "cli/commands/job_variables.h"
#include "cli/given.h"
#include "cli/output/quote.h"
#include "cli/transfer/submit.h"
#include "wire/arm/resource.h"

namespace berth::cli {
namespace {

constexpr Column kServiceColumns[] = {
    {"Name", "name"}, {"State", "state"},       {"On", "compute"},     {"Node", "node"},
    {"Port", "port"}, {"Restarts", "restarts"}, {"Address", "address"}};

std::string service_path(const Context& context, const std::string& name) {
  return context.client.berth_path("/services/" + name);
}

Result<std::string> given_service(const Context& context) {
  return service_path(context, TRY(required_name(context, "service")));
}

Result<wire::yaml::JobFile> work_of_service(const Context& context) {
  const Arguments& arguments = context.arguments;
  wire::yaml::JobFile file;
  file.job.key.name = TRY(required_name(context, "service"));
  command_of(file.job.spec.edit()).command = command_line(arguments.rest);
  file.job.spec.edit().compute = arguments.get("on", "local");
  file.job.spec.edit().experiment_name = experiment_of(context.place.directory);
  TRY(add_variables(context, file.job.spec.edit()));
  if (arguments.has("code")) {
    file.code_path = wire::yaml::LocalPath{.path = context.place.absolute(arguments.get("code"))};
  }
  return file;
}

Result<int> create_service(Context& context) {
  const Arguments& arguments = context.arguments;
  if (arguments.rest.empty()) {
    return wrong_usage(context, "nothing to serve: berth service create --name NAME -- COMMAND…");
  }
  auto file = work_of_service(context);
  if (!file) return wrong_usage(context, file.error().message);
  const auto port = number_flag(context, "port");
  if (!port) return wrong_usage(context, port.error().message);
  TRY(pass_own_environment(context, file->job.spec.edit()));
  TRY(complete(context, *file, file->code_path ? file->code_path->path : context.place.directory));
  const json::object job = wire::arm::job_body(file->job);
  json::object body = {{"job", job.at("properties")}, {"port", port->value_or(0)}};
  if (arguments.has("probe-path")) body["probe"] = {{"path", arguments.get("probe-path")}};
  if (arguments.has("restart")) body["restart"] = {{"when", arguments.get("restart")}};
  const json::object made =
      TRY(context.client.put(service_path(context, file->job.key.name), body));
  TRY(context.print({.value = made, .columns = kServiceColumns}));
  return 0;
}

Result<int> list_services(Context& context) {
  json::array services = TRY(context.client.list(context.client.berth_path("/services"), SIZE_MAX));
  TRY(context.print({.value = std::move(services), .columns = kServiceColumns}));
  return 0;
}

Result<int> show_service(Context& context) {
  const json::object service = TRY(context.client.get(TRY(given_service(context))));
  TRY(context.print({.value = service, .columns = kServiceColumns}));
  return 0;
}

Result<int> stop_service(Context& context) {
  const std::string path = TRY(given_service(context));
  TRY(context.client.get(path));
  TRY(context.client.remove(path));
  return 0;
}

constexpr Flag kServiceName = {"-n,--name,NAME", Takes::Value, "NAME", "the service", true};
constexpr Flag kCreateFlags[] = {
    {"-n,--name", Takes::Value, "NAME", "the service's name", true},
    kEnvironment,
    kEnvironmentFile,
    kSecret,
    {"--on", Takes::Value, "TARGET", "where to run: local, or a cluster's name"},
    {"--port", Takes::Value, "PORT", "where it listens; otherwise at $BERTH_SERVICE_PORT"},
    {"--probe-path", Takes::Value, "PATH",
     "it is ready when GET PATH is answered well; otherwise when it takes connections"},
    {"--restart", Takes::Value, "WHEN", "always (the default), on_failure or never"},
    {"--code", Takes::Value, "PATH", "upload this folder or file as its working directory"},
};
constexpr Flag kOneService[] = {kServiceName};

constexpr Command kCommands[] = {
    {.words = "service create",
     .summary = "Run a command that is not meant to end and answers requests",
     .details =
         R"(The command listens on a port of its node's loopback address, which is in BERTH_SERVICE_PORT. Requests
reach it through the server, below the address that is shown, from whoever may run jobs in the workspace
and with nothing of what they have shown to the server. When its process ends it is run again, each time
after a longer pause, until it is stopped. Its log and its attempts are those of the job of its name.)",
     .examples =
         R"(  berth service create --name web --code . -- 'python3 -m http.server --bind 127.0.0.1 $BERTH_SERVICE_PORT'
  berth service create --name model --on pool --code . --probe-path /health -- python3 serve.py)",
     .flags = kCreateFlags,
     .run = create_service,
     .takes_rest = true},
    {.words = "service list",
     .summary = "List the services that are not stopped",
     .details = "",
     .examples = "",
     .flags = {},
     .run = list_services},
    {.words = "service show",
     .summary = "Show a service, where it is reached and whether it is ready",
     .details = "",
     .examples = "  berth service show web --query address -o tsv",
     .flags = kOneService,
     .run = show_service},
    {.words = "service stop",
     .summary = "Stop a service for good; what it has left stays until its job is deleted",
     .details = "",
     .examples = "  berth service stop web\n  berth job delete web",
     .flags = kOneService,
     .run = stop_service},
};

}  // namespace

std::span<const Command> service_commands() { return kCommands; }

}  // namespace berth::cli
