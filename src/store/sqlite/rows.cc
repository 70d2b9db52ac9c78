// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/rows.h"

#include <algorithm>
#include <iterator>

#include "base/record.h"
#include "base/text.h"
#include "store/sqlite/documents.h"
#include "store/sqlite/entity_rows.h"
#include "store/sqlite/job_places.h"

namespace berth::store {
namespace {

std::string_view text_of(model::AssetKind kind) {
  return boost::describe::enum_to_string(kind, "?");
}

std::int64_t number(bool flag) { return flag ? 1 : 0; }

std::string hash_of(const model::Asset& asset) {
  const auto found = asset.properties.find("hash_sha256");
  return found == asset.properties.end() ? std::string() : found->second;
}

/// Those of the first that the second has not, or not so.
model::TagMap without(const model::TagMap& tags, const model::TagMap& others) {
  model::TagMap left;
  std::ranges::set_difference(tags, others, std::inserter(left, left.end()));
  return left;
}

}  // namespace

template <typename T>
Status RowWriter::put(const Put<T>& write) {
  static_assert(core::Entity<T>::kIsDocument);
  TRY(database_.run("INSERT OR REPLACE INTO documents (kind, key, doc) VALUES (?, ?, ?)",
                    {core::Entity<T>::kKind, key_text(core::Entity<T>::key(write.value)),
                     document(write.value)}));
  return follow(write);
}

template <typename T>
Status RowWriter::put(const Erase<T>& write) {
  static_assert(core::Entity<T>::kIsDocument);
  TRY(database_.run("DELETE FROM documents WHERE kind = ? AND key = ?",
                    {core::Entity<T>::kKind, key_text(write.key)}));
  return follow(write);
}

/// What a transaction noted that was rolled back is not in the database.
void RowWriter::begin() {
  audit_head_.reset();
  if (is_open_) {
    job_sequence_.seen.reset();
    node_sequence_.seen.reset();
  }
  is_open_ = true;
}

Status RowWriter::write(const Write& write) {
  return std::visit([&](const auto& change) { return put(change); }, write);
}

Status RowWriter::finish() {
  TRY(write_highest(job_sequence_));
  TRY(write_highest(node_sequence_));
  return write_audit_head();
}

Status RowWriter::follow(const Put<model::Workspace>& write) {
  return tracking_.workspace_made(write.value);
}

Status RowWriter::follow(const Erase<model::Workspace>& write) {
  const model::WorkspaceId& workspace = write.key;
  for (const std::string_view sql :
       {"DELETE FROM jobs WHERE workspace = ?", "DELETE FROM job_tags WHERE workspace = ?",
        "DELETE FROM job_uses WHERE workspace = ?", "DELETE FROM assets WHERE workspace = ?",
        "DELETE FROM containers WHERE workspace = ?", "DELETE FROM blobs WHERE workspace = ?",
        "DELETE FROM blocks WHERE workspace = ?", "DELETE FROM usage WHERE workspace = ?",
        "DELETE FROM secrets WHERE workspace = ?"}) {
    TRY(database_.run(sql, {workspace.text}));
  }
  Status erased = Done{};
  core::for_each_entity([&]<typename T>() {
    if (!erased || !core::Entity<T>::kIsDocument || !core::kIsOwned<core::EntityKey<T>>) return;
    const std::string prefix = owned_prefix(workspace);
    erased = database_.run("DELETE FROM documents WHERE kind = ? AND key >= ? AND key < ?",
                           {core::Entity<T>::kKind, prefix, end_of(prefix)});
  });
  TRY(erased);
  return tracking_.workspace_deleted(workspace);
}

Result<std::optional<RowWriter::IndexedJob>> RowWriter::indexed(std::int64_t sequence) {
  Cursor row =
      TRY(database_.query("SELECT live, archived, tags FROM jobs WHERE sequence = ?", {sequence}));
  if (!TRY(row.next())) return std::nullopt;
  return IndexedJob{.is_live = row.integer(0) != 0,
                    .is_archived = row.integer(1) != 0,
                    .tags = std::string(row.text(2))};
}

Status RowWriter::put(const Put<model::Job>& write) {
  const model::Job& job = write.value;
  const std::string doc = document(job);
  const std::string tags = document(job.tags);
  const bool is_live = !is_terminal(job.status);

  // A number higher than all of them is a new job's: there is nothing to look for.
  if (TRY(is_higher(job_sequence_, job.sequence))) return insert_job(job, tags, doc);
  const std::optional<IndexedJob> old = TRY(indexed(job.sequence));
  if (!old) return insert_job(job, tags, doc);
  if (old->tags != tags) {
    const auto before = TRY(record::decode_text<model::TagMap>(old->tags));
    TRY(remove_tags(job.key.workspace, job.sequence, without(before, job.tags)));
    TRY(add_tags(job, without(job.tags, before)));
    TRY(tracking_.job_tagged(job, before));
    TRY(database_.run("UPDATE jobs SET tags = ? WHERE sequence = ?", {tags, job.sequence}));
  }
  TRY(tracking_.job_changed(job, old->is_live));
  // Most changes leave the indexes alone; naming their columns would rewrite them all the same.
  if (old->is_live == is_live && old->is_archived == job.is_archived) {
    return database_.run("UPDATE jobs SET doc = ? WHERE sequence = ?", {doc, job.sequence});
  }
  return database_.run("UPDATE jobs SET live = ?, archived = ?, doc = ? WHERE sequence = ?",
                       {number(is_live), number(job.is_archived), doc, job.sequence});
}

Status RowWriter::insert_job(const model::Job& job, const std::string& tags,
                             const std::string& doc) {
  TRY(database_.run(
      "INSERT INTO jobs (sequence, workspace, name, live, archived, type, experiment, parent, "
      "tags, doc) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
      {job.sequence, job.key.workspace.text, job.key.name, number(!is_terminal(job.status)),
       number(job.is_archived), model::kind_of(job.spec->work), job.spec->experiment_name,
       job.spec->parent_job_name, tags, doc}));
  TRY(tracking_.job_made(job));
  TRY(add_uses(job));
  return add_tags(job, job.tags);
}

Result<bool> RowWriter::is_higher(Highest& highest, std::int64_t number) {
  if (!highest.seen) {
    highest.written = TRY(database_.integer("SELECT value FROM meta WHERE key = ?", {highest.key}));
    highest.seen = highest.written;
  }
  if (number <= *highest.seen) return false;
  highest.seen = number;
  return true;
}

Status RowWriter::write_highest(Highest& highest) {
  if (!highest.seen || *highest.seen == highest.written) return Done{};
  highest.written = *highest.seen;
  return database_.run(
      "INSERT INTO meta (key, value) VALUES (?, ?) "
      "ON CONFLICT (key) DO UPDATE SET value = excluded.value",
      {highest.key, highest.written});
}

Status RowWriter::add_tags(const model::Job& job, const model::TagMap& tags) {
  for (const auto& [key, value] : tags) {
    TRY(database_.run(
        "INSERT OR REPLACE INTO job_tags (workspace, key, value, sequence) VALUES (?, ?, ?, ?)",
        {job.key.workspace.text, key, value, job.sequence}));
  }
  return Done{};
}

Status RowWriter::remove_tags(const model::WorkspaceId& workspace, std::int64_t sequence,
                              const model::TagMap& tags) {
  for (const auto& [key, value] : tags) {
    TRY(database_.run(
        "DELETE FROM job_tags WHERE workspace = ? AND key = ? AND value = ? AND sequence = ?",
        {workspace.text, key, value, sequence}));
  }
  return Done{};
}

Status RowWriter::follow(const Put<model::Node>& write) {
  TRY(is_higher(node_sequence_, write.value.sequence));
  return Done{};
}

Status RowWriter::follow(const Erase<model::User>& write) {
  return database_.run("DELETE FROM secrets WHERE owner = ?", {write.key.text});
}

Status RowWriter::put(const AddUsage& write) {
  return database_.run("INSERT INTO usage (workspace, ended_at, doc) VALUES (?, ?, ?)",
                       {write.usage.workspace.text, write.usage.ended_at.time_since_epoch().count(),
                        document(write.usage)});
}

Status RowWriter::put(const PutAsset& write) {
  const model::Asset& asset = write.asset;
  return database_.run(
      "INSERT INTO assets (workspace, kind, name, version, archived, hash, doc) "
      "VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (workspace, kind, name, version) DO UPDATE "
      "SET archived = excluded.archived, hash = excluded.hash, doc = excluded.doc",
      {asset.workspace.text, text_of(asset.kind), asset.name, asset.version,
       number(asset.is_archived), hash_of(asset), document(asset)});
}

Status RowWriter::put(const DeleteAsset& write) {
  return database_.run(
      "DELETE FROM assets WHERE workspace = ? AND kind = ? AND name = ? AND version = ?",
      {write.workspace.text, text_of(write.kind), write.name, write.version});
}

Status RowWriter::put(const PutContainer& write) {
  const model::AssetContainer& container = write.container;
  return database_.run(
      "INSERT INTO containers (workspace, kind, name, archived, doc) VALUES (?, ?, ?, ?, ?) "
      "ON CONFLICT (workspace, kind, name) DO UPDATE "
      "SET archived = excluded.archived, doc = excluded.doc",
      {container.workspace.text, text_of(container.kind), container.name,
       number(container.is_archived), document(container)});
}

Status RowWriter::put(const DeleteContainer& write) {
  const Values key = {write.workspace.text, text_of(write.kind), write.name};
  TRY(database_.run("DELETE FROM assets WHERE workspace = ? AND kind = ? AND name = ?", key));
  return database_.run("DELETE FROM containers WHERE workspace = ? AND kind = ? AND name = ?", key);
}

Status RowWriter::put(const RenameContainer& write) {
  const model::AssetContainer& container = write.container;
  TRY(
      database_.run("UPDATE assets SET name = ?, doc = json_set(doc, '$.name', ?) "
                    "WHERE workspace = ? AND kind = ? AND name = ?",
                    {container.name, container.name, container.workspace.text,
                     text_of(container.kind), write.name}));
  return database_.run(
      "UPDATE containers SET name = ?, archived = ?, doc = ? "
      "WHERE workspace = ? AND kind = ? AND name = ?",
      {container.name, number(container.is_archived), document(container), container.workspace.text,
       text_of(container.kind), write.name});
}

Status RowWriter::put(const PutBlob& write) {
  const Blob& blob = write.blob;
  return database_.run(
      "INSERT OR REPLACE INTO blobs (workspace, container, path, doc) VALUES (?, ?, ?, ?)",
      {blob.key.workspace.text, blob.key.container, blob.key.path, document(blob)});
}

Status RowWriter::put(const DeleteBlob& write) {
  return database_.run("DELETE FROM blobs WHERE workspace = ? AND container = ? AND path = ?",
                       {write.key.workspace.text, write.key.container, write.key.path});
}

Status RowWriter::put(const PutBlock& write) {
  const Block& block = write.block;
  return database_.run(
      "INSERT OR REPLACE INTO blocks (workspace, container, path, id, doc) VALUES (?, ?, ?, ?, ?)",
      {block.key.workspace.text, block.key.container, block.key.path, block.id, document(block)});
}

Status RowWriter::put(const DropBlocks& write) {
  return database_.run("DELETE FROM blocks WHERE workspace = ? AND container = ? AND path = ?",
                       {write.key.workspace.text, write.key.container, write.key.path});
}

}  // namespace berth::store
