// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/secret_rows.h"

#include "store/sqlite/documents.h"
#include "store/sqlite/rows.h"

namespace berth::store {

using model::Secret;

Status RowWriter::put(const PutSecret& write) {
  const model::SecretKey& key = write.secret.key;
  return database_.run(
      "INSERT OR REPLACE INTO secrets (workspace, owner, name, doc) VALUES (?, ?, ?, ?)",
      {key.workspace.text, key.owner, key.name, document(write.secret)});
}

Status RowWriter::put(const DeleteSecret& write) {
  return database_.run("DELETE FROM secrets WHERE workspace = ? AND owner = ? AND name = ?",
                       {write.key.workspace.text, write.key.owner, write.key.name});
}

Result<std::optional<Secret>> SecretRows::find(const model::SecretKey& key) {
  return read_first<Secret>(
      TRY(reader_.query("SELECT doc FROM secrets WHERE workspace = ? AND owner = ? AND name = ?",
                        {key.workspace.text, key.owner, key.name})));
}

Result<std::vector<Secret>> SecretRows::list(const model::WorkspaceId& workspace,
                                             const std::string& owner) {
  return read_documents<Secret>(
      TRY(reader_.query("SELECT doc FROM secrets WHERE workspace = ? AND owner = ? ORDER BY name",
                        {workspace.text, owner})));
}

}  // namespace berth::store
