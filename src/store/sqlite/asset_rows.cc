// SPDX-License-Identifier: Apache-2.0
// How SqliteStore reads assets and their containers.

#include <algorithm>

#include "store/sqlite/documents.h"
#include "store/sqlite/sqlite_store.h"

namespace berth::store {
namespace {

using View = JobQuery::View;

std::string_view text_of(model::AssetKind kind) {
  return boost::describe::enum_to_string(kind, "?");
}

std::int64_t number(std::size_t count) {
  return static_cast<std::int64_t>(std::min<std::size_t>(count, 1'000'000'000));
}

/// What both lists have in common: the view, a tag, the order and the page.
void add_page(Sql& sql, const AssetQuery& query) {
  if (query.view != View::All) {
    sql.add(" AND archived = ?", std::int64_t{query.view == View::ArchivedOnly});
  }
  if (!query.tag_key.empty()) {
    sql.add(" AND EXISTS (SELECT 1 FROM json_each(doc, '$.tags') WHERE json_each.key = ?)",
            query.tag_key);
  }
  // Ids are given in order of creation.
  sql.add(query.oldest_first ? " ORDER BY id ASC LIMIT ?" : " ORDER BY id DESC LIMIT ?",
          number(query.limit));
  sql.add(" OFFSET ?", number(query.skip));
}

}  // namespace

Result<std::optional<model::Asset>> SqliteStore::asset(const model::WorkspaceId& workspace,
                                                       model::AssetKind kind,
                                                       const std::string& name,
                                                       const std::string& version) {
  if (auto pending = overlay_->asset({workspace, kind, name, version})) return *std::move(pending);
  return read_first<model::Asset>(TRY(reader_.query(
      "SELECT doc FROM assets WHERE workspace = ? AND kind = ? AND name = ? AND version = ?",
      {workspace.text, text_of(kind), name, version})));
}

Result<std::optional<model::Asset>> SqliteStore::latest_asset(const model::WorkspaceId& workspace,
                                                              model::AssetKind kind,
                                                              const std::string& name) {
  return read_first<model::Asset>(TRY(reader_.query(
      "SELECT doc FROM assets INDEXED BY assets_by_age WHERE workspace = ? AND kind = ? "
      "AND name = ? AND archived = 0 ORDER BY id DESC LIMIT 1",
      {workspace.text, text_of(kind), name})));
}

Result<Page<model::Asset>> SqliteStore::assets(const AssetQuery& query) {
  Sql sql;
  sql.add("SELECT doc FROM assets WHERE workspace = ?", query.workspace.text);
  sql.add(" AND kind = ?", text_of(query.kind));
  if (!query.name.empty()) sql.add(" AND name = ?", query.name);
  if (!query.hash.empty()) sql.add(" AND hash <> '' AND hash = ?", query.hash);
  add_page(sql, query);
  return read_page<model::Asset>(TRY(reader_.query(sql)));
}

Result<std::optional<model::AssetContainer>> SqliteStore::container(
    const model::WorkspaceId& workspace, model::AssetKind kind, const std::string& name) {
  if (auto pending = overlay_->container({workspace, kind, name})) return *std::move(pending);
  return read_first<model::AssetContainer>(
      TRY(reader_.query("SELECT doc FROM containers WHERE workspace = ? AND kind = ? AND name = ?",
                        {workspace.text, text_of(kind), name})));
}

Result<Page<model::AssetContainer>> SqliteStore::containers(const AssetQuery& query) {
  Sql sql;
  sql.add("SELECT doc FROM containers WHERE workspace = ?", query.workspace.text);
  sql.add(" AND kind = ?", text_of(query.kind));
  add_page(sql, query);
  return read_page<model::AssetContainer>(TRY(reader_.query(sql)));
}

}  // namespace berth::store
