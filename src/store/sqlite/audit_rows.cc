// SPDX-License-Identifier: Apache-2.0
// The audit log.
#include "store/sqlite/documents.h"
#include "store/sqlite/rows.h"
#include "store/sqlite/sqlite_store.h"

namespace berth::store {

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
  if (!audit_head_) audit_head_ = TRY(read_head(database_));
  model::AuditRecord record = write.record;
  record.number = audit_head_->number + 1;
  const std::string doc = document(record);
  *audit_head_ = {.number = record.number, .hash = model::audit_hash(audit_head_->hash, doc)};
  return database_.run("INSERT INTO audit (number, doc, hash) VALUES (?, ?, ?)",
                       {record.number, doc, audit_head_->hash});
}

Status RowWriter::write_audit_head() {
  if (!audit_head_) return Done{};
  return database_.run("UPDATE audit_head SET number = ?, hash = ?",
                       {audit_head_->number, audit_head_->hash});
}

Result<Page<model::AuditLine>> SqliteStore::audit(const AuditQuery& query) {
  Cursor rows = TRY(
      reader_.query("SELECT number, doc, hash FROM audit WHERE number > ? ORDER BY number LIMIT ?",
                    {query.after, static_cast<std::int64_t>(query.limit)}));
  return fill_page<model::AuditLine>(std::move(rows), [](Cursor& row, PageBudget& budget) {
    budget.take(row.text(1).size());
    return Result<model::AuditLine>({.number = row.integer(0),
                                     .text = std::string(row.text(1)),
                                     .hash = std::string(row.text(2))});
  });
}

Result<AuditHead> SqliteStore::audit_head() { return read_head(reader_); }

}  // namespace berth::store
