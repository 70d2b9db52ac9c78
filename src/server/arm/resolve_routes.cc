// SPDX-License-Identifier: Apache-2.0
// Where the bytes of assets and of jobs' outputs lie: asked by the Python client before it
// downloads them.
#include <algorithm>

#include "model/datastore.h"
#include "server/door/route.h"
#include "server/plane/ledger.h"
#include "server/plane/references.h"
#include "wire/arm/run.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;

constexpr std::size_t kMostIds = 1000;

Result<std::vector<std::string>> ids_of(const Call& call) {
  const json::value body = TRY(json_body(call));
  const json::value* values = body.get_object().if_contains("values");
  const auto wrong = [](const char* why) { return fail(Code::InvalidArgument, why, "values"); };
  if (values == nullptr || !values->is_array()) return wrong("expected a list of asset ids");
  if (values->get_array().size() > kMostIds) return wrong("at most 1000 ids at once");
  std::vector<std::string> ids;
  for (const json::value& id : values->get_array()) {
    if (!id.is_string()) return wrong("expected a list of asset ids");
    ids.emplace_back(id.get_string());
  }
  return ids;
}

std::string uri_of(const Call& call, const BlobPlace& place) {
  const auto datastore = std::ranges::find_if(
      model::kDatastores, [&](const auto& each) { return each.container == place.container; });
  return arm::long_datastore_uri(*call.workspace, std::string(datastore->name), place.path);
}

/// Empty when the id names nothing that is here: clients ask for many and take what there is.
Result<std::string> resolve(const Call& call, model::DataType type, const std::string& id) {
  const Catalogue catalogue{.store = call.services.store,
                            .state = call.services.ledger.state(),
                            .jobs = call.services.jobs};
  const Result<Place> found = find_input(catalogue, call.workspace->id, {.type = type, .uri = id});
  if (!found) {
    const bool is_answer = found.error().code == Code::NotFound ||
                           found.error().code == Code::InvalidArgument ||
                           found.error().code == Code::Conflict;
    return is_answer ? Result<std::string>(std::string()) : fail(found.error());
  }
  if (const auto* web = std::get_if<model::WebAddress>(&*found)) return web->url;
  return uri_of(call, std::get<BlobPlace>(*found));
}

/// A model's way of looking takes files and folders alike.
Result<json::object> resolved(const Call& call, const char* member) {
  json::object values;
  for (const std::string& id : TRY(ids_of(call))) {
    std::string uri;
    for (const auto type :
         {model::DataType::UriFolder, model::DataType::UriFile, model::DataType::CustomModel}) {
      if (uri.empty()) uri = TRY(resolve(call, type, id));
    }
    if (!uri.empty()) values[id] = {{member, uri}};
  }
  return json::object{{"values", std::move(values)}};
}

Result<io::Reply> data(Call& call) { return json_reply(200, TRY(resolved(call, "uri"))); }

Result<io::Reply> models(Call& call) { return json_reply(200, TRY(resolved(call, "path"))); }

constexpr Route kRoutes[] = {
    {"POST",
     "/data/v1.0/W/dataversion/batchGetResolvedUris",
     {Permission::Kind::Action, "Microsoft.MachineLearningServices/workspaces/data/versions/read"},
     BodyKind::Json,
     data},
    {"POST",
     "/modelregistry/v1.0/W/models/batchGetResolvedUris",
     {Permission::Kind::Action,
      "Microsoft.MachineLearningServices/workspaces/models/versions/read"},
     BodyKind::Json,
     models},
};

}  // namespace

std::span<const Route> resolve_routes() { return kRoutes; }

}  // namespace berth::server
