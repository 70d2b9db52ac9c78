// SPDX-License-Identifier: Apache-2.0
#include "store/schema.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iterator>

#include "base/version.h"

namespace berth::store {
namespace {

// Step n takes a database from version n to n + 1. Steps are never changed, only added: they have
// run on other people's data.
//
// Rows are a JSON document (base/record.h) with beside it only what is searched for. An index on a
// table with an INTEGER PRIMARY KEY ends in that key, so jobs_by_age is in order of sequence and
// the newest 50 cost 50 steps, however many there are.
constexpr const char* kSteps[] = {
    R"(
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;

CREATE TABLE workspaces (id TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE nodes (id TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE jobs (
  sequence INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  name TEXT NOT NULL,
  live INTEGER NOT NULL,
  archived INTEGER NOT NULL,
  type TEXT NOT NULL,
  experiment TEXT NOT NULL,
  tags TEXT NOT NULL,
  doc TEXT NOT NULL
);
CREATE UNIQUE INDEX jobs_by_name ON jobs (workspace, name);
CREATE INDEX jobs_by_age ON jobs (workspace, archived);
CREATE INDEX jobs_by_experiment ON jobs (workspace, experiment, archived);
CREATE INDEX jobs_live ON jobs (live) WHERE live = 1;

CREATE TABLE job_tags (
  workspace TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (workspace, key, value, sequence)
) WITHOUT ROWID;

CREATE TABLE assets (
  id INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  version TEXT NOT NULL,
  archived INTEGER NOT NULL,
  hash TEXT NOT NULL,
  doc TEXT NOT NULL
);
CREATE UNIQUE INDEX assets_by_version ON assets (workspace, kind, name, version);
CREATE INDEX assets_by_age ON assets (workspace, kind, name, archived);
CREATE INDEX assets_by_hash ON assets (workspace, kind, hash) WHERE hash <> '';

CREATE TABLE containers (
  id INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  archived INTEGER NOT NULL,
  doc TEXT NOT NULL
);
CREATE UNIQUE INDEX containers_by_name ON containers (workspace, kind, name);
CREATE INDEX containers_by_age ON containers (workspace, kind, archived);

CREATE TABLE blobs (
  workspace TEXT NOT NULL,
  container TEXT NOT NULL,
  path TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (workspace, container, path)
) WITHOUT ROWID;

CREATE TABLE blocks (
  workspace TEXT NOT NULL,
  container TEXT NOT NULL,
  path TEXT NOT NULL,
  id TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (workspace, container, path, id)
) WITHOUT ROWID;
)",
    // Clusters. A job holds a list of members where it had one node.
    R"(
CREATE TABLE sites (name TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE computes (
  workspace TEXT NOT NULL,
  name TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (workspace, name)
) WITHOUT ROWID;
CREATE TABLE usage (
  id INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  ended_at INTEGER NOT NULL,
  doc TEXT NOT NULL
);
CREATE INDEX usage_by_end ON usage (workspace, ended_at);

UPDATE jobs SET doc = json_set(doc, '$.members', json_array(json_object(
    'node', json_extract(doc, '$.node'), 'status', json_extract(doc, '$.status'))),
    '$.placed_at', json_extract(doc, '$.modified_at'))
  WHERE live = 1 AND coalesce(json_extract(doc, '$.node'), '') <> '';
)",
    // Who may do what, and who did. audit_head holds how far the log has come; a line that was
    // written stays as it is.
    R"(
CREATE TABLE users (id TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE tokens (id TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE role_assignments (id TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE audit (number INTEGER PRIMARY KEY, doc TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE audit_head (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL,
                         hash TEXT NOT NULL);
INSERT INTO audit_head (one, number, hash) VALUES (1, 0, '');
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER audit_keeps BEFORE DELETE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
)",
    // The newest jobs with a tag, whatever its value, without sorting all of them.
    R"(
CREATE INDEX job_tags_by_age ON job_tags (workspace, key, sequence);
)",
    // Deployments of templates, what became of their resources, and groups made for their own sake.
    R"(
CREATE TABLE deployments (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  subscription TEXT NOT NULL,
  resource_group TEXT NOT NULL,
  name TEXT NOT NULL,
  live INTEGER NOT NULL,
  doc TEXT NOT NULL
);
CREATE UNIQUE INDEX deployments_by_name ON deployments (subscription, resource_group, name);
CREATE INDEX deployments_by_age ON deployments (subscription, resource_group);
CREATE INDEX deployments_live ON deployments (live) WHERE live = 1;
CREATE TABLE deployment_operations (
  deployment TEXT NOT NULL,
  number INTEGER NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (deployment, number)
) WITHOUT ROWID;
CREATE TABLE resource_groups (
  subscription TEXT NOT NULL,
  name TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (subscription, name)
) WITHOUT ROWID;
)",
};

Status run_step(Database& database, std::int64_t from) {
  const std::string script = fmt::format("BEGIN IMMEDIATE; {} PRAGMA user_version = {}; COMMIT;",
                                         kSteps[static_cast<std::size_t>(from)], from + 1);
  Status done = database.execute(script.c_str());
  if (!done && database.in_transaction()) (void)database.execute("ROLLBACK");
  return done;
}

}  // namespace

std::int64_t schema_version() { return std::ssize(kSteps); }

Status check_version(const std::string& path) {
  if (::access(path.c_str(), F_OK) != 0) return Done{};
  Database database = TRY(Database::open(path, Database::Mode::ReadOnly));
  const std::int64_t version = TRY(database.integer("PRAGMA user_version"));
  if (version <= schema_version()) return Done{};
  return fail(
      Code::Conflict,
      fmt::format("'{}' was written by a newer Berth (schema version {}); this one, {}, knows "
                  "versions up to {}",
                  path, version, kVersion, schema_version()));
}

Status migrate(Database& database, std::int64_t to) {
  for (std::int64_t version = TRY(database.integer("PRAGMA user_version")); version < to;
       ++version) {
    TRY(run_step(database, version));
  }
  return Done{};
}

}  // namespace berth::store
