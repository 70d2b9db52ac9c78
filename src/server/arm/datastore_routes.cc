// SPDX-License-Identifier: Apache-2.0
#include "base/text.h"
#include "model/datastore.h"
#include "server/door/paging.h"
#include "server/door/route.h"
#include "server/keys/signer.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using model::Datastore;

constexpr std::int64_t kDefaultHours = 1;
constexpr std::int64_t kMostHours = 24;

json::object shown(const Call& call, const Datastore& datastore) {
  return arm::to_json(datastore, *call.workspace, {.base_url = call.base_url()});
}

Result<Datastore> find(const Call& call) {
  if (const auto found = model::find_datastore(call.parameter("name"))) return *found;
  return fail(Code::NotFound, fmt::format("no datastore '{}'", call.parameter("name")));
}

/// `names` is a list: with commas, or the same word again and again.
bool is_named(const Call& call, std::string_view name) {
  bool is_asked_for_others = false;
  for (const auto& [key, value] : call.query) {
    if (!equals_ignoring_case(key, "names") || value.empty()) continue;
    is_asked_for_others = true;
    for (const std::string_view each : split(value, ',')) {
      if (equals_ignoring_case(trim(each), name)) return true;
    }
  }
  return !is_asked_for_others;
}

bool is_wanted(const Call& call, const Datastore& datastore) {
  const std::string is_default = call.query_value("isDefault");
  if (equals_ignoring_case(is_default, datastore.is_default ? "false" : "true")) return false;
  const std::string text = to_lower(call.query_value("searchText"));
  return is_named(call, datastore.name) && datastore.name.find(text) != std::string_view::npos;
}

/// There are few: one page holds them all.
Result<io::Reply> list(Call& call) {
  TRY(continuation(call));
  TRY(page_size(call));
  json::array values;
  for (const Datastore& datastore : model::kDatastores) {
    if (is_wanted(call, datastore)) values.push_back(shown(call, datastore));
  }
  return json_reply(200, arm::page(std::move(values)));
}

Result<io::Reply> get(Call& call) { return json_reply(200, shown(call, TRY(find(call)))); }

/// Always a signature that expires: there is no account key to give away.
Result<io::Reply> list_secrets(Call& call) {
  const Datastore datastore = TRY(find(call));
  const json::value body = TRY(json_body(call, true));
  std::int64_t hours = kDefaultHours;
  if (const json::value* asked = body.get_object().if_contains("expireAfterHours")) {
    if (!asked->is_null() && !asked->is_int64()) {
      return fail(Code::InvalidArgument, "expected a whole number", "expireAfterHours");
    }
    if (asked->is_int64()) hours = std::clamp<std::int64_t>(asked->get_int64(), 1, kMostHours);
  }
  const std::string token =
      call.sign({.workspace = call.workspace->id,
                 .container = std::string(datastore.container),
                 .permissions = "racwdl",
                 .expires_at = call.services.clock.now().wall + std::chrono::hours(hours)});
  return json_reply(200, {{"secretsType", "Sas"}, {"sasToken", token}});
}

/// For whoever may read what is in it and no more: downloads need nothing else.
Result<io::Reply> read_signature(Call& call) {
  const Datastore datastore = TRY(find(call));
  const std::string token =
      call.sign({.workspace = call.workspace->id,
                 .container = std::string(datastore.container),
                 .permissions = "rl",
                 .expires_at = call.services.clock.now().wall + std::chrono::hours(kDefaultHours)});
  io::Reply reply = json_reply(200, {{"secretsType", "Sas"}, {"sasToken", token}});
  reply.headers.emplace_back("Cache-Control", "no-store");
  return reply;
}

Result<io::Reply> not_supported(Call&) {
  return fail(Code::NotSupported,
              "datastores cannot be added or removed yet; every workspace has workspaceblobstore "
              "and workspaceartifactstore");
}

constexpr Permission allow(const char* action) { return {Permission::Kind::Action, action}; }

constexpr Permission kRead = allow("Microsoft.MachineLearningServices/workspaces/datastores/read");
constexpr Permission kWrite =
    allow("Microsoft.MachineLearningServices/workspaces/datastores/write");
constexpr Permission kDelete =
    allow("Microsoft.MachineLearningServices/workspaces/datastores/delete");
constexpr Permission kSecrets =
    allow("Microsoft.MachineLearningServices/workspaces/datastores/listSecrets/action");

constexpr Permission kReadBlobs =
    allow("Microsoft.MachineLearningServices/workspaces/metadata/artifacts/read");

constexpr Route kRoutes[] = {
    {"GET", "/berth/v1/W/datastores/{name}/signature", kReadBlobs, BodyKind::None, read_signature},
    {"GET", "W/datastores", kRead, BodyKind::None, list},
    {"GET", "W/datastores/{name}", kRead, BodyKind::None, get},
    {"POST", "W/datastores/{name}/listSecrets", kSecrets, BodyKind::Json, list_secrets},
    {"PUT", "W/datastores/{name}", kWrite, BodyKind::Json, not_supported},
    {"DELETE", "W/datastores/{name}", kDelete, BodyKind::None, not_supported},
};

}  // namespace

std::span<const Route> datastore_routes() { return kRoutes; }

}  // namespace berth::server
