// SPDX-License-Identifier: Apache-2.0
#include "server/assets/asset_versions.h"

#include <algorithm>
#include <charconv>

#include "server/assets/model_files.h"

namespace berth::server {
namespace {

/// The version as a number, when it is one: "7" and not "7.1" or "v7".
std::optional<std::uint64_t> as_number(const std::string& version) {
  std::uint64_t number = 0;
  const char* end = version.data() + version.size();
  const auto [stopped, failed] = std::from_chars(version.data(), end, number);
  if (failed != std::errc() || stopped != end || number >= UINT32_MAX) return std::nullopt;
  return number;
}

/// The newest version beside this one, archived ones included.
Result<std::string> newest_beside(store::Store& store, const model::Asset& asset) {
  store::AssetQuery query{.workspace = asset.workspace,
                          .kind = asset.kind,
                          .name = asset.name,
                          .view = store::JobQuery::View::All,
                          .limit = 2};
  for (bool has_more = true; has_more; ++query.skip) {
    const store::Page<model::Asset> newest = TRY(store.assets(query));
    for (const model::Asset& other : newest) {
      if (other.version != asset.version) return other.version;
    }
    has_more = newest.is_cut;
  }
  return std::string();
}

}  // namespace

Result<store::Batch> new_version(store::Store& store, model::Asset asset, WallTime now) {
  model::AssetContainer container{
      .workspace = asset.workspace, .kind = asset.kind, .name = asset.name, .created_at = now};
  if (auto existing = TRY(store.container(asset.workspace, asset.kind, asset.name))) {
    container = *std::move(existing);
  }
  if (asset.version.empty()) asset.version = container.next_version;
  if (TRY(store.asset(asset.workspace, asset.kind, asset.name, asset.version))) {
    return fail(Code::Conflict,
                fmt::format("version '{}' of '{}' exists", asset.version, asset.name));
  }
  asset.created_at = asset.modified_at = now;
  container.latest_version = asset.version;
  container.modified_at = now;
  const auto* type = asset.body.if_contains("dataType");
  if (container.data_type.empty() && type != nullptr && type->is_string()) {
    container.data_type = std::string(type->get_string());
  }
  const std::uint64_t next = as_number(container.next_version).value_or(1);
  if (const auto number = as_number(asset.version); number && *number >= next) {
    container.next_version = std::to_string(*number + 1);
  }
  store::Batch rows;
  rows.push_back(store::PutAsset{std::move(asset)});
  rows.push_back(store::PutContainer{std::move(container)});
  return rows;
}

Result<store::Batch> removal_of(store::Store& store, const model::Asset& asset, WallTime now) {
  store::Batch rows = TRY(removal_of_files(store, asset));
  rows.push_back(store::DeleteAsset{asset.workspace, asset.kind, asset.name, asset.version});
  auto container = TRY(store.container(asset.workspace, asset.kind, asset.name));
  if (!container) return rows;
  container->modified_at = now;
  std::erase_if(container->labels,
                [&](const auto& label) { return label.second == asset.version; });
  if (container->latest_version == asset.version) {
    container->latest_version = TRY(newest_beside(store, asset));
  }
  rows.push_back(store::PutContainer{*std::move(container)});
  return rows;
}

Result<store::Batch> removal_of_all(store::Store& store, const model::WorkspaceId& workspace,
                                    model::AssetKind kind, const std::string& name) {
  store::Batch rows;
  store::AssetQuery query{.workspace = workspace,
                          .kind = kind,
                          .name = name,
                          .view = store::JobQuery::View::All,
                          .limit = 1000};
  for (bool has_more = kind == model::AssetKind::Model; has_more;) {
    const store::Page<model::Asset> versions = TRY(store.assets(query));
    for (const model::Asset& version : versions) {
      store::Batch files = TRY(removal_of_files(store, version));
      std::ranges::move(files, std::back_inserter(rows));
    }
    has_more = versions.is_cut || versions.size() == query.limit;
    query.skip += versions.size();
  }
  rows.push_back(store::DeleteContainer{workspace, kind, name});
  return rows;
}

}  // namespace berth::server
