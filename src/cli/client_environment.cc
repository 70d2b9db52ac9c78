// SPDX-License-Identifier: Apache-2.0
#include "cli/client_environment.h"

#include <fmt/format.h>

#include "base/text.h"

namespace berth::cli {
namespace {

/// "https://host:1/x" -> "host".
std::string host_of(std::string_view url) {
  url.remove_prefix(std::min(url.find("://") + 3, url.size()));
  url = url.substr(0, url.find('/'));
  if (url.starts_with('[')) return std::string(url.substr(1, url.find(']') - 1));
  return std::string(url.substr(0, url.find(':')));
}

bool has_proxy(const Place& place) {
  for (const char* name : {"HTTPS_PROXY", "https_proxy", "ALL_PROXY", "all_proxy"}) {
    if (!place.variable(name).empty()) return true;
  }
  return false;
}

/// A proxy on the way to the world is none to us.
void add_proxy_exception(Variables& variables, const ClientTarget& target, const Place& place) {
  if (!has_proxy(place)) return;
  const std::string host = host_of(target.base_url);
  std::string before = place.variable("NO_PROXY");
  if (before.empty()) before = place.variable("no_proxy");
  for (const std::string_view part : split(before, ',')) {
    if (trim(part) == host || trim(part) == "*") return;
  }
  const std::string value = before.empty() ? host : before + "," + host;
  variables.emplace_back("NO_PROXY", value);
  variables.emplace_back("no_proxy", value);
}

void add_trust(Variables& variables, const ClientTarget& target) {
  if (target.bundle.empty()) return;
  variables.emplace_back("REQUESTS_CA_BUNDLE", target.bundle);
  variables.emplace_back("SSL_CERT_FILE", target.bundle);
  variables.emplace_back("MLFLOW_TRACKING_SERVER_CERT_PATH", target.bundle);
  variables.emplace_back("NODE_EXTRA_CA_CERTS", target.node_bundle);
}

/// For `berth` itself. A server of our own may come back on another port: its directory is what
/// stays.
void add_own(Variables& variables, const ClientTarget& target, const Place& place) {
  variables.emplace_back("BERTH_WORKSPACE", target.workspace.name);
  if (target.is_ours) variables.emplace_back("BERTH_HOME", place.home);
  for (const char* name : {"BERTH_URL", "BERTH_TOKEN", "BERTH_CA"}) {
    const std::string value = place.variable(name);
    if (!value.empty()) variables.emplace_back(name, value);
  }
}

}  // namespace

Variables client_environment(const ClientTarget& target, const Place& place) {
  const std::string& base = target.base_url;
  Variables variables = {
      {"ARM_CLOUD_METADATA_URL", base + "/metadata/endpoints?api-version=2022-09-01"},
      {"AZUREML_CURRENT_CLOUD", "Berth"},
      {"REGISTRY_DISCOVERY_ENDPOINT_URL", base + "/"},
      {"IDENTITY_ENDPOINT", base + "/msi/token"},
      {"IDENTITY_HEADER", target.token},
      // Not whatever somebody is logged in as in this shell. Older clients know no finer choice.
      {"AZURE_TOKEN_CREDENTIALS", "prod"},
      {"AZURE_SUBSCRIPTION_ID", target.workspace.subscription},
      {"AZURE_RESOURCE_GROUP", target.workspace.resource_group},
      {"AZURE_ML_WORKSPACE", target.workspace.name},
      {"MLFLOW_TRACKING_URI",
       fmt::format("{}/mlflow/v1.0{}", base, model::arm_id(target.workspace))},
      {"MLFLOW_TRACKING_TOKEN", target.token},
      {"MLFLOW_DISABLE_TELEMETRY", "true"},
  };
  add_trust(variables, target);
  add_proxy_exception(variables, target, place);
  add_own(variables, target, place);
  return variables;
}

}  // namespace berth::cli
