// SPDX-License-Identifier: Apache-2.0
#include "store/database/schema.h"

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
    // What is logged about experiments and runs. Every job has a run that bears its name. Only runs
    // are found by their text ids; what belongs to one goes by its number, which is short and never
    // another run's.
    R"(
CREATE TABLE experiments (
  workspace TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  artifact_location TEXT NOT NULL,
  deleted INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (workspace, id)
) WITHOUT ROWID;
CREATE UNIQUE INDEX experiments_by_name ON experiments (workspace, name);
CREATE TABLE experiment_tags (
  workspace TEXT NOT NULL,
  experiment TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (workspace, experiment, key)
) WITHOUT ROWID;

CREATE TABLE runs (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace TEXT NOT NULL,
  id TEXT NOT NULL,
  experiment TEXT NOT NULL,
  name TEXT NOT NULL,
  user TEXT NOT NULL,
  status TEXT NOT NULL,
  started_at INTEGER NOT NULL,
  ended_at INTEGER,
  deleted INTEGER NOT NULL,
  job INTEGER NOT NULL
);
CREATE UNIQUE INDEX runs_by_id ON runs (workspace, id);
CREATE INDEX runs_by_age ON runs (workspace, experiment, deleted, started_at DESC, id);
CREATE TABLE run_tags (
  run INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE TABLE run_params (
  run INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE TABLE metric_points (
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  step INTEGER NOT NULL,
  value REAL NOT NULL,
  nan INTEGER NOT NULL,
  PRIMARY KEY (run, key, timestamp, step, value, nan)
) WITHOUT ROWID;
CREATE TABLE latest_metrics (
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  step INTEGER NOT NULL,
  value REAL NOT NULL,
  nan INTEGER NOT NULL,
  PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE TABLE run_datasets (
  run INTEGER NOT NULL,
  name TEXT NOT NULL,
  digest TEXT NOT NULL,
  context TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (run, name, digest)
) WITHOUT ROWID;
CREATE TABLE run_models (
  run INTEGER NOT NULL,
  output INTEGER NOT NULL,
  model TEXT NOT NULL,
  step INTEGER NOT NULL,
  PRIMARY KEY (run, output, model, step)
) WITHOUT ROWID;

CREATE TABLE logged_models (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace TEXT NOT NULL,
  id TEXT NOT NULL,
  experiment TEXT NOT NULL,
  name TEXT NOT NULL,
  type TEXT NOT NULL,
  source_run TEXT NOT NULL,
  status TEXT NOT NULL,
  status_message TEXT NOT NULL,
  deleted INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
);
CREATE UNIQUE INDEX logged_models_by_id ON logged_models (workspace, id);
CREATE INDEX logged_models_by_age
  ON logged_models (workspace, experiment, deleted, created_at DESC, id);
CREATE TABLE logged_model_tags (
  model INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (model, key)
) WITHOUT ROWID;
CREATE TABLE logged_model_params (
  model INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (model, key)
) WITHOUT ROWID;
CREATE TABLE logged_model_metrics (
  model INTEGER NOT NULL,
  key TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  step INTEGER NOT NULL,
  run TEXT NOT NULL,
  value REAL NOT NULL,
  nan INTEGER NOT NULL,
  dataset_name TEXT NOT NULL,
  dataset_digest TEXT NOT NULL,
  PRIMARY KEY (model, key, timestamp, step, run, value, nan, dataset_name, dataset_digest)
) WITHOUT ROWID;

INSERT INTO experiments SELECT id, '0', 'Default', '', 0,
    coalesce(json_extract(doc, '$.created_at'), 0), coalesce(json_extract(doc, '$.created_at'), 0)
  FROM workspaces;
INSERT INTO experiments
  SELECT workspace, printf('%d', 100000000000000000 + abs(random() % 800000000000000000)),
    experiment, '', 0, min(json_extract(doc, '$.created_at')), min(json_extract(doc, '$.created_at'))
  FROM jobs WHERE experiment <> 'Default' GROUP BY workspace, experiment;
INSERT INTO runs (workspace, id, experiment, name, user, status, started_at, ended_at, deleted, job)
  SELECT jobs.workspace, jobs.name, experiments.id,
    coalesce(nullif(json_extract(doc, '$.display_name'), ''), jobs.name),
    coalesce(json_extract(doc, '$.created_by'), ''),
    CASE json_extract(doc, '$.status') WHEN 'Completed' THEN 'FINISHED' WHEN 'Failed' THEN 'FAILED'
      WHEN 'Canceled' THEN 'KILLED' WHEN 'Running' THEN 'RUNNING' ELSE 'SCHEDULED' END,
    coalesce(json_extract(doc, '$.started_at'), json_extract(doc, '$.created_at'), 0),
    json_extract(doc, '$.ended_at'), 0, 1
  FROM jobs JOIN experiments
    ON experiments.workspace = jobs.workspace AND experiments.name = jobs.experiment
  ORDER BY sequence;
INSERT INTO run_tags SELECT runs.number, job_tags.key, job_tags.value
  FROM job_tags JOIN jobs ON jobs.sequence = job_tags.sequence
    JOIN runs ON runs.workspace = jobs.workspace AND runs.id = jobs.name;
)",
    // Which job made what is logged, by its sequence: its token reaches that.
    R"(
ALTER TABLE experiments ADD COLUMN maker INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN maker INTEGER NOT NULL DEFAULT 0;
ALTER TABLE logged_models ADD COLUMN maker INTEGER NOT NULL DEFAULT 0;
)",
    // What jobs may know and nobody may see, sealed.
    R"(
CREATE TABLE secrets (
  workspace TEXT NOT NULL,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (workspace, owner, name)
) WITHOUT ROWID;
CREATE INDEX secrets_by_owner ON secrets (owner);
)",
    // Which code and which uploads the jobs use ("code <name>:<version>", "LocalUpload/<hash>/"):
    // what none of them uses any more can go.
    R"(
CREATE TABLE job_uses (
  workspace TEXT NOT NULL,
  what TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (workspace, what, sequence)
) WITHOUT ROWID;
CREATE INDEX job_uses_by_job ON job_uses (sequence);
CREATE INDEX logged_models_by_run ON logged_models (workspace, source_run);

INSERT OR IGNORE INTO job_uses SELECT workspace, 'code ' || CASE
    WHEN instr(lower(code), '/codes/') > 0
      THEN replace(substr(code, instr(lower(code), '/codes/') + 7), '/versions/', ':')
    ELSE substr(code, instr(code, ':') + 1) END, sequence
  FROM (SELECT workspace, sequence, json_extract(doc, '$.spec.code_id') AS code FROM jobs)
  WHERE coalesce(code, '') <> '';
INSERT OR IGNORE INTO job_uses
  SELECT workspace, substr(rest, 1, 12 + instr(substr(rest, 13), '/')), sequence
  FROM (SELECT jobs.workspace, jobs.sequence,
      substr(json_extract(input.value, '$.uri'),
             instr(json_extract(input.value, '$.uri'), 'LocalUpload/')) AS rest
    FROM jobs, json_each(jobs.doc, '$.spec.inputs') AS input
    WHERE instr(json_extract(input.value, '$.uri'), '/paths/LocalUpload/') > 0)
  WHERE instr(substr(rest, 13), '/') > 0;
)",
    // What the server has all of in memory and nobody searches for here: one table for all kinds
    // (core/entity.h). The key of what a workspace owns begins with the workspace.
    R"(
CREATE TABLE documents (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;
INSERT INTO documents SELECT 'workspace', id, doc FROM workspaces;
INSERT INTO documents SELECT 'site', name, doc FROM sites;
INSERT INTO documents SELECT 'compute', workspace || '/' || name, doc FROM computes;
INSERT INTO documents SELECT 'node', id, doc FROM nodes;
INSERT INTO documents SELECT 'user', id, doc FROM users;
INSERT INTO documents SELECT 'token', id, doc FROM tokens;
INSERT INTO documents SELECT 'role_assignment', id, doc FROM role_assignments;
DROP TABLE workspaces;
DROP TABLE sites;
DROP TABLE computes;
DROP TABLE nodes;
DROP TABLE users;
DROP TABLE tokens;
DROP TABLE role_assignments;
)",
    // Which jobs are the children of one. Most have no parent, and cost no entry of the index.
    R"(
ALTER TABLE jobs ADD COLUMN parent TEXT NOT NULL DEFAULT '';
UPDATE jobs SET parent = json_extract(doc, '$.spec.parent_job_name')
  WHERE coalesce(json_extract(doc, '$.spec.parent_job_name'), '') <> '';
CREATE INDEX jobs_by_parent ON jobs (workspace, parent, archived, sequence) WHERE parent <> '';
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
