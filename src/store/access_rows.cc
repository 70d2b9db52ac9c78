// SPDX-License-Identifier: Apache-2.0
// Users, tokens, roles, and the audit log.
#include "store/access_rows.h"

#include "store/documents.h"
#include "store/rows.h"
#include "store/sqlite_store.h"

namespace berth::store {

Result<core::Access> load_access(Database& reader) {
  core::Access access;
  for (auto& user : TRY(read_documents<model::User>(TRY(reader.query("SELECT doc FROM users"))))) {
    access.users.emplace(user.id, std::move(user));
  }
  for (auto& token :
       TRY(read_documents<model::Token>(TRY(reader.query("SELECT doc FROM tokens"))))) {
    access.tokens.emplace(token.id, std::move(token));
  }
  for (auto& assignment : TRY(read_documents<model::RoleAssignment>(
           TRY(reader.query("SELECT doc FROM role_assignments"))))) {
    access.assignments.emplace(assignment.id, std::move(assignment));
  }
  return access;
}

Status RowWriter::put(const PutUser& write) {
  return database_.run("INSERT OR REPLACE INTO users (id, doc) VALUES (?, ?)",
                       {write.user.id.text, document(write.user)});
}

Status RowWriter::put(const DeleteUser& write) {
  TRY(database_.run("DELETE FROM secrets WHERE owner = ?", {write.user.text}));
  return database_.run("DELETE FROM users WHERE id = ?", {write.user.text});
}

Status RowWriter::put(const PutToken& write) {
  return database_.run("INSERT OR REPLACE INTO tokens (id, doc) VALUES (?, ?)",
                       {write.token.id.text, document(write.token)});
}

Status RowWriter::put(const DeleteToken& write) {
  return database_.run("DELETE FROM tokens WHERE id = ?", {write.token.text});
}

Status RowWriter::put(const PutRoleAssignment& write) {
  return database_.run("INSERT OR REPLACE INTO role_assignments (id, doc) VALUES (?, ?)",
                       {write.assignment.id.text, document(write.assignment)});
}

Status RowWriter::put(const DeleteRoleAssignment& write) {
  return database_.run("DELETE FROM role_assignments WHERE id = ?", {write.assignment.text});
}

namespace {

Result<AuditHead> read_head(Database& database) {
  Cursor row = TRY(database.query("SELECT number, hash FROM audit_head"));
  if (!TRY(row.next())) return fail(Code::Internal, "database: the audit log has no head");
  return AuditHead{.number = row.integer(0), .hash = std::string(row.text(1))};
}

}  // namespace

/// Here, inside the transaction, and not where the record was made: what is not committed takes no
/// place in the chain.
Status RowWriter::put(const AddAudit& write) {
  const AuditHead head = TRY(read_head(database_));
  model::AuditRecord record = write.record;
  record.number = head.number + 1;
  const std::string doc = document(record);
  const std::string hash = model::audit_hash(head.hash, doc);
  TRY(database_.run("INSERT INTO audit (number, doc, hash) VALUES (?, ?, ?)",
                    {record.number, doc, hash}));
  return database_.run("UPDATE audit_head SET number = ?, hash = ?", {record.number, hash});
}

Result<Page<model::AuditLine>> SqliteStore::audit(const AuditQuery& query) {
  Cursor rows = TRY(
      reader_.query("SELECT number, doc, hash FROM audit WHERE number > ? ORDER BY number LIMIT ?",
                    {query.after, static_cast<std::int64_t>(query.limit)}));
  Page<model::AuditLine> lines;
  PageBudget budget;
  while (TRY(rows.next())) {
    if (budget.is_spent()) {
      lines.is_cut = true;
      break;
    }
    budget.take(rows.text(1).size());
    lines.push_back({.number = rows.integer(0),
                     .text = std::string(rows.text(1)),
                     .hash = std::string(rows.text(2))});
  }
  return lines;
}

Result<AuditHead> SqliteStore::audit_head() { return read_head(reader_); }

}  // namespace berth::store
