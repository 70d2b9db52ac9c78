// SPDX-License-Identifier: Apache-2.0
// What clients ask before they have a token: are you there, and where is everything?
#include "server/door/route.h"

namespace berth::server {
namespace {

namespace json = boost::json;

Result<io::Reply> health(Call& call) {
  call.is_recorded = true;
  return json_reply(200, {{"status", "ok"}});
}

/// Azure ML has a host for each of these; we are all of them.
Result<io::Reply> discovery(Call& call) {
  json::object services;
  for (const char* name : {"api", "history", "hyperdrive", "pipelines", "notebooks", "studio",
                           "catalog", "inference", "modelmanagement", "experimentation"}) {
    services[name] = call.base_url();
  }
  return json_reply(200, services);
}

/// One cloud. Python takes it for its own when resourceManager is a part of the URL it asked, and
/// makes storage addresses of "https://{account}.blob.{suffixes.storage}".
Result<io::Reply> cloud_metadata(Call& call) {
  const std::string base = call.base_url();
  const json::object cloud = {
      {"name", "Berth"},
      {"portal", base + "/"},
      {"resourceManager", base},
      {"authentication",
       {{"loginEndpoint", base}, {"audiences", json::array{base}}, {"tenant", "common"}}},
      {"suffixes", {{"storage", "berth"}}},
      {"media", base},
      {"graph", base},
      {"graphAudience", base},
      {"batch", base},
      {"activeDirectoryDataLake", base},
      {"gallery", base},
      {"sqlManagement", base},
  };
  return json_reply(200, json::array{cloud});
}

constexpr Permission kPublic = {Permission::Kind::Public, ""};

constexpr Route kRoutes[] = {
    {"GET", "/health", kPublic, BodyKind::None, health},
    {"GET", "/discovery", kPublic, BodyKind::None, discovery},
    {"GET", "/metadata/endpoints", kPublic, BodyKind::None, cloud_metadata},
};

}  // namespace

std::span<const Route> discovery_routes() { return kRoutes; }

}  // namespace berth::server
