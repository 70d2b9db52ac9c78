// SPDX-License-Identifier: Apache-2.0
#include "server/asset_versions.h"

#include <charconv>

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
  const auto newest = TRY(store.assets({.workspace = asset.workspace,
                                        .kind = asset.kind,
                                        .name = asset.name,
                                        .view = store::JobQuery::View::All,
                                        .limit = 2}));
  for (const model::Asset& other : newest) {
    if (other.version != asset.version) return other.version;
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
  store::Batch rows = {store::DeleteAsset{asset.workspace, asset.kind, asset.name, asset.version}};
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

}  // namespace berth::server
