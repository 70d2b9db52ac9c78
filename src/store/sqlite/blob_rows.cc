// SPDX-License-Identifier: Apache-2.0
// How SqliteStore reads blobs and blocks.

#include <algorithm>

#include "store/sqlite/documents.h"
#include "store/sqlite/job_places.h"
#include "store/sqlite/sqlite_store.h"

namespace berth::store {
Result<std::optional<Blob>> SqliteStore::blob(const BlobKey& key) {
  if (auto pending = overlay_->blob(key)) return *std::move(pending);
  auto blob = TRY(read_first<Blob>(
      TRY(reader_.query("SELECT doc FROM blobs WHERE workspace = ? AND container = ? AND path = ?",
                        {key.workspace.text, key.container, key.path}))));
  if (blob) blob->key = key;
  return blob;
}

Result<Page<Blob>> SqliteStore::blobs(const BlobQuery& query) {
  Sql sql;
  sql.add("SELECT doc, path FROM blobs WHERE workspace = ?", query.workspace.text);
  sql.add(" AND container = ?", query.container);
  // Only one lower bound, so that it is the one the index is entered with.
  if (query.after < query.prefix || query.after.empty()) {
    sql.add(" AND path >= ?", query.prefix);
  } else {
    sql.add(" AND path > ?", query.after);
  }
  const std::string end = end_of(query.prefix);
  if (!end.empty()) sql.add(" AND path < ?", end);
  sql.add(" ORDER BY path LIMIT ?",
          static_cast<std::int64_t>(std::min<std::size_t>(query.limit, 1'000'000)));

  return fill_page<Blob>(TRY(reader_.query(sql)), [&](Cursor& row, PageBudget& budget) {
    budget.take(row.text(0).size() + row.text(1).size());
    Result<Blob> blob = read_document<Blob>(row.text(0));
    if (blob) blob->key = {query.workspace, query.container, std::string(row.text(1))};
    return blob;
  });
}

Result<std::vector<Block>> SqliteStore::blocks(const BlobKey& key) {
  Cursor rows = TRY(
      reader_.query("SELECT doc, id FROM blocks WHERE workspace = ? AND container = ? AND path = ?",
                    {key.workspace.text, key.container, key.path}));
  std::vector<Block> blocks;
  while (TRY(rows.next())) {
    blocks.push_back(TRY(read_document<Block>(rows.text(0))));
    blocks.back().key = key;
    blocks.back().id = rows.text(1);
  }
  return blocks;
}

}  // namespace berth::store
