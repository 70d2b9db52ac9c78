// SPDX-License-Identifier: Apache-2.0
// codes, data, environments, models, components: five collections of one shape.
#include <deque>

#include "base/text.h"
#include "model/assets/reference.h"
#include "server/arm/asset_filter.h"
#include "server/arm/pending_upload.h"
#include "server/assets/asset_versions.h"
#include "server/door/paging.h"
#include "server/door/route.h"
#include "server/mlflow/model_versions.h"
#include "server/plane/ledger.h"
#include "server/plane/references.h"
#include "wire/arm/resource.h"

namespace berth::server {
namespace {

namespace arm = wire::arm;
namespace json = boost::json;
using model::Asset;
using model::AssetContainer;
using model::AssetKind;

// ---- Lists -------------------------------------------------------------------------------------

/// "createdtime desc", as clients write it; without a direction it is ascending, as in OData.
Result<bool> is_oldest_first(const Call& call) {
  const std::string text = call.query_value("$orderBy");
  if (trim(text).empty()) return false;
  const std::string_view order = trim(text);
  const std::size_t space = order.find(' ');
  const std::string_view field = order.substr(0, space);
  const std::string_view direction =
      space == std::string_view::npos ? "asc" : trim(order.substr(space));
  const bool is_known_field =
      equals_ignoring_case(field, "createdtime") || equals_ignoring_case(field, "createdAt");
  const bool is_ascending = equals_ignoring_case(direction, "asc");
  if (is_known_field && (is_ascending || equals_ignoring_case(direction, "desc"))) {
    return is_ascending;
  }
  return fail(Code::InvalidArgument, "'$orderBy' is 'createdtime asc' or 'createdtime desc'",
              "$orderBy");
}

Result<store::AssetQuery> query_of(const Call& call, AssetKind kind) {
  store::AssetQuery query{.workspace = call.workspace->id, .kind = kind};
  query.view = TRY(list_view(call));
  query.skip = static_cast<std::size_t>(TRY(continuation(call)));
  query.limit = TRY(page_size(call));
  query.oldest_first = TRY(is_oldest_first(call));
  return query;
}

std::int64_t behind(const store::AssetQuery& query, std::size_t shown) {
  return static_cast<std::int64_t>(query.skip + shown);
}

template <AssetKind kind>
Result<io::Reply> list_versions(Call& call) {
  store::AssetQuery query = TRY(query_of(call, kind));
  query.name = call.parameter("name");
  query.hash = call.query_value("hash");
  // Clients ask for a hash below a name they have just made up: they mean all code there is.
  if (!query.hash.empty()) query.name.clear();
  const VersionFilter filter = TRY(VersionFilter::of(call));
  query.tag_key = filter.first_tag();
  if (query.skip == 0) query.skip = filter.offset();

  const std::size_t size = query.limit++;
  store::Page<Asset> assets = TRY(call.services.store.assets(query));
  const bool has_more = take_page(assets, size);
  json::array values;
  for (const Asset& asset : assets) {
    if (filter.takes(asset)) values.push_back(arm::to_json(asset, *call.workspace));
  }
  const std::string next = has_more ? next_link(call, behind(query, assets.size())) : "";
  return json_reply(200, arm::page(std::move(values), next));
}

template <AssetKind kind>
Result<io::Reply> list_containers(Call& call) {
  store::AssetQuery query = TRY(query_of(call, kind));
  const std::size_t size = query.limit++;
  store::Page<AssetContainer> containers = TRY(call.services.store.containers(query));
  const bool has_more = take_page(containers, size);
  json::array values;
  for (const AssetContainer& container : containers) {
    values.push_back(arm::to_json(container, *call.workspace));
  }
  const std::string next = has_more ? next_link(call, behind(query, containers.size())) : "";
  return json_reply(200, arm::page(std::move(values), next));
}

// ---- Versions ----------------------------------------------------------------------------------

/// What clients ask for who want the version of a component that is used when none is named.
constexpr const char* kDefaultVersion = "azureml_default";

Result<std::optional<Asset>> find_version(const Call& call, AssetKind kind) {
  if (kind == AssetKind::Component && call.parameter("version") == kDefaultVersion) {
    return call.services.store.latest_asset(call.workspace->id, kind, call.parameter("name"));
  }
  return call.services.store.asset(call.workspace->id, kind, call.parameter("name"),
                                   call.parameter("version"));
}

template <AssetKind kind>
Result<io::Reply> get_version(Call& call) {
  const std::optional<Asset> asset = TRY(find_version(call, kind));
  if (asset) return json_reply(200, arm::to_json(*asset, *call.workspace));
  return fail(Code::NotFound,
              fmt::format("no version '{}' of '{}' in {}", call.parameter("version"),
                          call.parameter("name"), model::to_collection(kind)));
}

/// Code must have been uploaded to a datastore of this workspace. A signature in the address is
/// dropped: it is nobody's business later, and differs from one upload to the next.
Status settle_code(const Call& call, Asset& asset) {
  std::string uri = text_member(asset.body, "codeUri");
  uri.resize(std::min(uri.find('?'), uri.size()));
  const BlobPlace place = TRY(blob_of_url(call.workspace->id, uri));
  store::BlobQuery below{.workspace = call.workspace->id,
                         .container = place.container,
                         .prefix = place.path.ends_with('/') ? place.path : place.path + "/",
                         .limit = 1};
  if (TRY(call.services.store.blobs(below)).empty()) {
    return fail(Code::InvalidArgument, fmt::format("nothing was uploaded to '{}'", uri),
                "properties.codeUri");
  }
  asset.body["codeUri"] = uri;
  return Done{};
}

Status check_data(const Asset& asset) {
  Result<model::DataRef> reference = model::parse_data_ref(text_member(asset.body, "dataUri"));
  if (!reference) {
    reference.error().target = "properties.dataUri";
    return fail(reference.error());
  }
  if (!std::holds_alternative<model::AssetRef>(*reference)) return Done{};
  return fail(Code::InvalidArgument, "a data asset cannot refer to another asset",
              "properties.dataUri");
}

/// Takes over what may change of a version.
Status change(Asset& existing, Asset asked) {
  if (existing.body != asked.body) {
    return fail(Code::Conflict,
                fmt::format("version '{}' of '{}' exists with other content; versions never change",
                            existing.version, existing.name));
  }
  existing.description = std::move(asked.description);
  existing.tags = std::move(asked.tags);
  existing.properties = std::move(asked.properties);
  existing.is_archived = asked.is_archived;
  return Done{};
}

Result<io::Reply> update_version(Call& call, Asset existing, Asset asked) {
  if (existing.kind == AssetKind::Model) {
    TRY(change_model(call, existing, asked));
  } else {
    TRY(change(existing, std::move(asked)));
  }
  existing.modified_at = call.services.clock.now().wall;
  io::Reply reply = json_reply(200, arm::to_json(existing, *call.workspace));
  call.services.ledger.write({store::PutAsset{std::move(existing)}});
  return reply;
}

/// Clients read a component's name and version from its specification, and send it without them.
void settle_component(Asset& asset) {
  json::object& specification = asset.body["componentSpec"].as_object();
  specification["name"] = asset.name;
  specification["version"] = asset.version;
}

template <AssetKind kind>
Result<io::Reply> put_version(Call& call) {
  Asset asset = TRY(arm::asset_from_json(kind, TRY(json_body(call))));
  asset.workspace = call.workspace->id;
  asset.kind = kind;
  asset.name = call.parameter("name");
  asset.version = call.parameter("version");
  TRY(check_ids(call.services.ledger.state(), *call.workspace, asset.body));
  if (kind == AssetKind::Code) TRY(settle_code(call, asset));
  if (kind == AssetKind::Data) TRY(check_data(asset));
  if (kind == AssetKind::Component) settle_component(asset);

  if (auto existing = TRY(find_version(call, kind))) {
    return update_version(call, *std::move(existing), std::move(asset));
  }
  store::Batch files;
  if (kind == AssetKind::Model) files = TRY(settle_model(call, asset));
  store::Batch rows =
      TRY(new_version(call.services.store, std::move(asset), call.services.clock.now().wall));
  io::Reply reply =
      json_reply(201, arm::to_json(std::get<store::PutAsset>(rows.front()).asset, *call.workspace));
  std::ranges::move(files, std::back_inserter(rows));
  call.services.ledger.write(std::move(rows));
  return reply;
}

template <AssetKind kind>
Result<io::Reply> delete_version(Call& call) {
  if (const std::optional<Asset> asset = TRY(find_version(call, kind))) {
    const WallTime now = call.services.clock.now().wall;
    call.services.ledger.write(TRY(removal_of(call.services.store, *asset, now)));
  }
  return io::Reply{.status = 204};
}

// ---- Containers --------------------------------------------------------------------------------

Result<std::optional<AssetContainer>> find_container(const Call& call, AssetKind kind) {
  return call.services.store.container(call.workspace->id, kind, call.parameter("name"));
}

template <AssetKind kind>
Result<io::Reply> get_container(Call& call) {
  const std::optional<AssetContainer> container = TRY(find_container(call, kind));
  if (container) return json_reply(200, arm::to_json(*container, *call.workspace));
  return fail(Code::NotFound,
              fmt::format("no '{}' in {}", call.parameter("name"), model::to_collection(kind)));
}

template <AssetKind kind>
Result<io::Reply> put_container(Call& call) {
  const AssetContainer asked = TRY(arm::container_from_json(kind, TRY(json_body(call))));
  const std::optional<AssetContainer> existing = TRY(find_container(call, kind));
  AssetContainer container =
      existing.value_or(AssetContainer{.workspace = call.workspace->id,
                                       .kind = kind,
                                       .name = call.parameter("name"),
                                       .created_at = call.services.clock.now().wall});
  container.description = asked.description;
  container.tags = asked.tags;
  container.properties = asked.properties;
  container.is_archived = asked.is_archived;
  container.modified_at = call.services.clock.now().wall;
  if (container.data_type.empty()) container.data_type = asked.data_type;
  if (container.data_type != asked.data_type) {
    return fail(Code::Conflict,
                fmt::format("the dataType of '{}' cannot be changed: it is {}", container.name,
                            container.data_type),
                "properties.dataType");
  }
  io::Reply reply = json_reply(existing ? 200 : 201, arm::to_json(container, *call.workspace));
  call.services.ledger.write({store::PutContainer{std::move(container)}});
  return reply;
}

template <AssetKind kind>
Result<io::Reply> delete_container(Call& call) {
  if (TRY(find_container(call, kind))) {
    call.services.ledger.write(
        TRY(removal_of_all(call.services.store, call.workspace->id, kind, call.parameter("name"))));
  }
  return io::Reply{.status = 204};
}

/// The nine routes of each collection. Their texts are put together once, at start-up, and kept.
class AssetRouteList {
 public:
  AssetRouteList() {
    add<AssetKind::Code>();
    add<AssetKind::Data>();
    add<AssetKind::Environment>();
    add<AssetKind::Model>();
    add<AssetKind::Component>();
  }

  std::span<const Route> routes() const { return routes_; }

 private:
  template <AssetKind kind>
  void add() {
    const std::string collection(model::to_collection(kind));
    const std::string all = "W/" + collection;
    const std::string one = all + "/{name}";
    const std::string version = one + "/versions/{version}";
    add({"GET", keep(all), may(collection, "read"), BodyKind::None, list_containers<kind>});
    add({"GET", keep(one), may(collection, "read"), BodyKind::None, get_container<kind>});
    add({"PUT", keep(one), may(collection, "write"), BodyKind::Json, put_container<kind>});
    add({"DELETE", keep(one), may(collection, "delete"), BodyKind::None, delete_container<kind>});
    add({"GET", keep(one + "/versions"), may(collection, "versions/read"), BodyKind::None,
         list_versions<kind>});
    add({"GET", keep(version), may(collection, "versions/read"), BodyKind::None,
         get_version<kind>});
    add({"PUT", keep(version), may(collection, "versions/write"), BodyKind::Json,
         put_version<kind>});
    add({"DELETE", keep(version), may(collection, "versions/delete"), BodyKind::None,
         delete_version<kind>});
    add({"POST", keep(version + "/startPendingUpload"),
         may(collection, "versions/startPendingUpload/action"), BodyKind::Json,
         start_pending_upload});
  }

  void add(Route route) { routes_.push_back(route); }

  const char* keep(std::string text) { return texts_.emplace_back(std::move(text)).c_str(); }

  Permission may(const std::string& collection, const char* verb) {
    return {
        Permission::Kind::Action,
        keep(fmt::format("Microsoft.MachineLearningServices/workspaces/{}/{}", collection, verb))};
  }

  std::deque<std::string> texts_;  ///< Never moves what it holds.
  std::vector<Route> routes_;
};

}  // namespace

std::span<const Route> asset_routes() {
  static const AssetRouteList list;
  return list.routes();
}

}  // namespace berth::server
