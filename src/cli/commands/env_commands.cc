// SPDX-License-Identifier: Apache-2.0
// berth env: what the official clients need to find this server, as lines for a shell.
#include "base/text.h"
#include "cli/client_environment.h"
#include "cli/command.h"
#include "cli/output/secret_output.h"
#include "cli/output/shell.h"
#include "cli/trust.h"
#include "io/files/file.h"

namespace berth::cli {
namespace {

/// The clients speak TLS only; the same port answers both.
std::string tls_url(const Endpoint& server) {
  if (!starts_with_ignoring_case(server.base_url, "http://")) return server.base_url;
  return "https" + server.base_url.substr(4);
}

/// The authority that vouches for the server; empty when the system knows one.
Result<std::string> authority_of(const Endpoint& server, const Place& place) {
  if (!server.authority_file.empty()) return place.absolute(server.authority_file);
  if (!server.is_ours && starts_with_ignoring_case(server.base_url, "https://")) {
    return std::string();
  }
  const std::string own = place.home + "/ca.pem";
  if (server.is_ours || io::read_file(own, 1u << 20)) return own;
  return fail(Code::InvalidArgument,
              "the clients need TLS: set BERTH_CA to a copy of the server's ca.pem");
}

/// What such programs trusted before: the first of these that is set, else what the system does.
std::vector<std::string> trusted_before(const Place& place) {
  for (const char* name : {"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "SSL_CERT_FILE"}) {
    const std::string path = place.variable(name);
    if (!path.empty()) return {path};
  }
  const std::string system = system_authorities();
  return system.empty() ? std::vector<std::string>() : std::vector{system};
}

Status add_bundles(const Context& context, const std::string& authority, ClientTarget& target) {
  const std::string folder = context.place.home + "/clients";
  TRY(io::make_directories(folder));
  target.bundle = folder + "/ca-bundle.pem";
  if (!TRY(write_bundle(target.bundle, trusted_before(context.place), authority))) {
    context.console.warning(
        "found no certificate authorities of this system: programs of this shell will trust "
        "Berth's only");
  }
  target.node_bundle = authority;
  const std::string before = context.place.variable("NODE_EXTRA_CA_CERTS");
  if (before.empty() || before == authority) return Done{};
  target.node_bundle = folder + "/node-ca-bundle.pem";
  TRY(write_bundle(target.node_bundle, std::vector{before}, authority));
  return Done{};
}

/// As the server spells it; that it is there is worth knowing before a client asks.
Result<model::Workspace> confirmed_workspace(Context& context) {
  const json::object resource = TRY(context.client.get(context.client.workspace_path()));
  model::Workspace workspace = context.client.workspace();
  if (const json::value* name = resource.if_contains("name");
      name != nullptr && name->is_string()) {
    workspace.name = name->get_string();
  }
  return workspace;
}

/// DefaultAzureCredential looks at these before it looks at what we set.
void warn_of_other_credentials(const Context& context) {
  for (const char* name : {"AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH",
                           "AZURE_FEDERATED_TOKEN_FILE", "AZURE_PASSWORD"}) {
    if (context.place.variable(name).empty()) continue;
    context.console.warning(fmt::format(
        "{} is set: Azure's clients will use it rather than Berth; unset it in this shell", name));
  }
}

json::object as_json(const Variables& variables) {
  json::object object;
  for (const auto& [name, value] : variables) object[name] = value;
  return object;
}

Result<int> env(Context& context) {
  const Result<Shell> shell = shell_from(context.arguments.get("shell", "sh"));
  if (!shell) return wrong_usage(context, shell.error().message);
  ClientTarget target{.workspace = TRY(confirmed_workspace(context))};
  const Endpoint server = TRY(context.client.endpoint());
  target.base_url = tls_url(server);
  target.token = server.token;
  target.is_ours = server.is_ours;
  const std::string authority = TRY(authority_of(server, context.place));
  if (!authority.empty()) TRY(add_bundles(context, authority, target));

  warn_of_other_credentials(context);
  protect_output(context.console);
  const Variables variables = client_environment(target, context.place);
  if (context.output.format || !context.output.query.empty()) {
    TRY(context.print({.value = as_json(variables)}));
  } else {
    TRY(context.console.out(assignments(variables, *shell)));
  }
  return 0;
}

constexpr Flag kFlags[] = {
    {"--shell", Takes::Value, "NAME", "sh (also bash, zsh), fish, powershell or dotenv"},
};

constexpr Command kCommands[] = {
    {.words = "env",
     .summary = "Print what the Azure ML and MLflow clients need to find this server",
     .details =
         "Evaluate it in a shell. Then MLClient(DefaultAzureCredential(), …), mlflow and\n"
         "@azure/arm-machinelearning of that shell talk to Berth. It holds your token: do not\n"
         "keep it in files that others read. -o json prints the same as an object.",
     .examples = "  eval \"$(berth env)\"\n"
                 "  berth env --shell fish | source\n"
                 "  berth env --shell powershell | Invoke-Expression",
     .flags = kFlags,
     .run = env},
};

}  // namespace

std::span<const Command> env_commands() { return kCommands; }

}  // namespace berth::cli
