BEGIN TRANSACTION;
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
CREATE TABLE audit (number INTEGER PRIMARY KEY, doc TEXT NOT NULL, hash TEXT NOT NULL);
INSERT INTO "audit" VALUES(1,'{"number":1,"at":1795010682909,"who":"owner","from":"127.0.0.1:37214","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/team","status":201,"unrecorded":0}','774355bacb3e361213e1f745d9c8632122c250084c844e5437a97c5b1ae7b9e7');
INSERT INTO "audit" VALUES(2,'{"number":2,"at":1795010682925,"who":"owner","from":"127.0.0.1:37228","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/team","status":200,"unrecorded":0}','b649a21059d5788b4c9cb89eb4c6c65628e9a4d89a7dbc70942361035f2ef862');
INSERT INTO "audit" VALUES(3,'{"number":3,"at":1795010682963,"who":"owner","from":"127.0.0.1:37236","method":"PUT","action":"Berth/sites/write","target":"/berth/v1/sites/lab","status":201,"unrecorded":0}','9ea09ef17317b1a28b932b508192023175db58b62bba76785c35fb88e9cc02f5');
INSERT INTO "audit" VALUES(4,'{"number":4,"at":1795010682985,"who":"owner","from":"127.0.0.1:37238","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/computes/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/computes/Pool","status":201,"unrecorded":0}','fc72ab3e800a40de2abdc9a92a0c7e1ec4c7eb09b5cc1848f58a66be84b7fef9');
INSERT INTO "audit" VALUES(5,'{"number":5,"at":1795010683019,"who":"owner","from":"127.0.0.1:37250","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/computes/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/computes/far","status":201,"unrecorded":0}','8c6f0e6a8c356d5a2e4de6a990a9a53d30a55b263703d2c2f357397d0a1feb3c');
INSERT INTO "audit" VALUES(6,'{"number":6,"at":1795010683058,"who":"owner","from":"127.0.0.1:37264","method":"PUT","action":"Berth/users/write","target":"/berth/v1/users/ana","status":201,"unrecorded":0}','8a613da15c88490472530f41841ac0c1c4b804b745f3ba87a899d8463a1671a3');
INSERT INTO "audit" VALUES(7,'{"number":7,"at":1795010683082,"who":"owner","from":"127.0.0.1:37270","method":"PUT","action":"Berth/users/write","target":"/berth/v1/users/bo","status":201,"unrecorded":0}','b39e9acb20fa86777d66bc9eddebb1cbb26386623dfc5e806f6b74b3adcdffb0');
INSERT INTO "audit" VALUES(8,'{"number":8,"at":1795010683104,"who":"owner","from":"127.0.0.1:37286","method":"PUT","action":"Microsoft.Authorization/roleAssignments/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/providers/Microsoft.Authorization/roleAssignments/a752c740-dcf0-47bd-9a84-0a75eadbb0cf","status":201,"unrecorded":0}','265801e4d040fe6b15d7d0e618862d67fe41b8983601e83b6a7ac7d674f05ac5');
INSERT INTO "audit" VALUES(9,'{"number":9,"at":1795010683137,"who":"owner","from":"127.0.0.1:37296","method":"PUT","action":"Microsoft.Authorization/roleAssignments/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/providers/Microsoft.Authorization/roleAssignments/8d3c3073-e2ee-490c-bb98-e3620417750a","status":201,"unrecorded":0}','6f3e155f1050728a8d57fb1c29b81b814c952d83664709403ec7f52489ccd0ad');
INSERT INTO "audit" VALUES(10,'{"number":10,"at":1795010683178,"who":"owner","from":"127.0.0.1:37302","method":"PUT","action":"Berth/tokens/write","target":"/berth/v1/users/ana/tokens/e10681ae2260e059","status":201,"unrecorded":0}','006c6a45ab7fb07de8d39aaf7c2b5cbc0fba2ec5a5c89c8f18175d11c8b14a72');
INSERT INTO "audit" VALUES(11,'{"number":11,"at":1795010683213,"who":"owner","from":"127.0.0.1:37314","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/jobs/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/jobs/done","status":201,"unrecorded":0}','b08d82cf93bf5654ededd6765dab76be34596a818de7a92476462a0acece9b48');
INSERT INTO "audit" VALUES(12,'{"number":12,"at":1795010683347,"who":"owner","from":"127.0.0.1:37330","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/jobs/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/jobs/done","status":200,"unrecorded":0}','d2ca73b82793c8f1ed9e524059d436498c434c8d27a4600f6bc56be243420a9d');
INSERT INTO "audit" VALUES(13,'{"number":13,"at":1795010683375,"who":"owner","from":"127.0.0.1:37342","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/jobs/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/jobs/failed","status":201,"unrecorded":0}','e6b6dc38725c0b76a3a15d5af30f34fceec70e52bd8014c7f2157082eabda196');
INSERT INTO "audit" VALUES(14,'{"number":14,"at":1795010683412,"who":"owner","from":"127.0.0.1:37352","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/jobs/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/jobs/waits","status":201,"unrecorded":0}','7f82f119ad7b9019b6a51728808553dda6aef231e3b3842f6d4900fceb3b4fc8');
CREATE TABLE audit_head (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL,
                         hash TEXT NOT NULL);
INSERT INTO "audit_head" VALUES(1,14,'7f82f119ad7b9019b6a51728808553dda6aef231e3b3842f6d4900fceb3b4fc8');
CREATE TABLE blobs (
  workspace TEXT NOT NULL,
  container TEXT NOT NULL,
  path TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (workspace, container, path)
) WITHOUT ROWID;
INSERT INTO "blobs" VALUES('23a879b2-1844-41fc-a414-738a11894740','azureml','ExperimentRun/dcid.done/user_logs/std_log.txt','{"size":0,"content_type":"text/plain","etag":"\"0x1113bb9f3acdd5d9\"","created_at":1795010683316,"modified_at":1795010683316}');
INSERT INTO "blobs" VALUES('23a879b2-1844-41fc-a414-738a11894740','azureml','ExperimentRun/dcid.failed/user_logs/std_log.txt','{"size":0,"content_type":"text/plain","etag":"\"0x74be8c3d1165648f\"","created_at":1795010683384,"modified_at":1795010683384}');
CREATE TABLE blocks (
  workspace TEXT NOT NULL,
  container TEXT NOT NULL,
  path TEXT NOT NULL,
  id TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (workspace, container, path, id)
) WITHOUT ROWID;
CREATE TABLE computes (
  workspace TEXT NOT NULL,
  name TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (workspace, name)
) WITHOUT ROWID;
INSERT INTO "computes" VALUES('23a879b2-1844-41fc-a414-738a11894740','far','{"key":{"workspace":"23a879b2-1844-41fc-a414-738a11894740","name":"far"},"name":"far","location":"lab","site":"lab","size":"Standard_DS3_v2","tier":"Dedicated","scale":{"min_nodes":0,"max_nodes":1,"idle_before_scale_down":120},"start_error":"there is no ''squeue'' in /nowhere: Slurm''s commands must be on the server''s machine","created_at":1795010683018,"modified_at":1795010683018,"allocation_changed_at":1795010683412}');
INSERT INTO "computes" VALUES('23a879b2-1844-41fc-a414-738a11894740','pool','{"key":{"workspace":"23a879b2-1844-41fc-a414-738a11894740","name":"pool"},"name":"Pool","location":"local","site":"local","size":"Standard_DS3_v2","tier":"Dedicated","scale":{"min_nodes":0,"max_nodes":2,"idle_before_scale_down":120},"created_at":1795010682985,"modified_at":1795010682985,"allocation_changed_at":1795010682985}');
CREATE TABLE containers (
  id INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  kind TEXT NOT NULL,
  name TEXT NOT NULL,
  archived INTEGER NOT NULL,
  doc TEXT NOT NULL
);
CREATE TABLE deployment_operations (
  deployment TEXT NOT NULL,
  number INTEGER NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (deployment, number)
) WITHOUT ROWID;
CREATE TABLE deployments (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  subscription TEXT NOT NULL,
  resource_group TEXT NOT NULL,
  name TEXT NOT NULL,
  live INTEGER NOT NULL,
  doc TEXT NOT NULL
);
CREATE TABLE experiment_tags (
  workspace TEXT NOT NULL,
  experiment TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (workspace, experiment, key)
) WITHOUT ROWID;
CREATE TABLE experiments (
  workspace TEXT NOT NULL,
  id TEXT NOT NULL,
  name TEXT NOT NULL,
  artifact_location TEXT NOT NULL,
  deleted INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, maker INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace, id)
) WITHOUT ROWID;
INSERT INTO "experiments" VALUES('23a879b2-1844-41fc-a414-738a11894740','0','Default','',0,1795010682803,1795010682803,0);
INSERT INTO "experiments" VALUES('23a879b2-1844-41fc-a414-738a11894740','811815321322849129','folder','',0,1795010683213,1795010683213,0);
INSERT INTO "experiments" VALUES('e0e19701-6a2c-4119-a3d1-61d18c8e3160','0','Default','',0,1795010682909,1795010682909,0);
CREATE TABLE job_tags (
  workspace TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (workspace, key, value, sequence)
) WITHOUT ROWID;
INSERT INTO "job_tags" VALUES('23a879b2-1844-41fc-a414-738a11894740','team','red',1);
CREATE TABLE job_uses (
  workspace TEXT NOT NULL,
  what TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (workspace, what, sequence)
) WITHOUT ROWID;
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
INSERT INTO "jobs" VALUES(1,'23a879b2-1844-41fc-a414-738a11894740','done',0,0,'Command','folder','{"team":"red"}','{"key":{"workspace":"23a879b2-1844-41fc-a414-738a11894740","name":"done"},"sequence":1,"spec":{"type":"Command","command":"true","compute":"local","experiment_name":"folder","environment_variables":{"PATH":"/usr/bin:/bin"},"resources":{"instance_count":1},"priority":2},"tags":{"team":"red"},"status":"Completed","attempt":1,"fence":"e87bd811","requeues":0,"placed_at":1795010683277,"outcome":{"ending":"Exited","exit_code":0,"signal":0},"created_by":"owner","created_at":1795010683213,"modified_at":1795010683347,"started_at":1795010683302,"ended_at":1795010683316}');
INSERT INTO "jobs" VALUES(2,'23a879b2-1844-41fc-a414-738a11894740','failed',0,0,'Command','folder','{}','{"key":{"workspace":"23a879b2-1844-41fc-a414-738a11894740","name":"failed"},"sequence":2,"spec":{"type":"Command","command":"exit 3","compute":"local","experiment_name":"folder","environment_variables":{"PATH":"/usr/bin:/bin"},"resources":{"instance_count":1},"priority":2},"status":"Failed","attempt":1,"fence":"1ea8cb90","requeues":0,"placed_at":1795010683375,"outcome":{"ending":"Exited","exit_code":3,"signal":0},"error":{"code":"ExitCode","message":"the command exited with code 3"},"created_by":"owner","created_at":1795010683375,"modified_at":1795010683384,"started_at":1795010683382,"ended_at":1795010683384}');
INSERT INTO "jobs" VALUES(3,'23a879b2-1844-41fc-a414-738a11894740','waits',1,0,'Command','folder','{}','{"key":{"workspace":"23a879b2-1844-41fc-a414-738a11894740","name":"waits"},"sequence":3,"spec":{"type":"Command","command":"true","compute":"far","experiment_name":"folder","resources":{"instance_count":1},"priority":2},"status":"Queued","attempt":0,"requeues":0,"created_by":"owner","created_at":1795010683412,"modified_at":1795010683412}');
CREATE TABLE latest_metrics (
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  step INTEGER NOT NULL,
  value REAL NOT NULL,
  nan INTEGER NOT NULL,
  PRIMARY KEY (run, key)
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
CREATE TABLE logged_model_params (
  model INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (model, key)
) WITHOUT ROWID;
CREATE TABLE logged_model_tags (
  model INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (model, key)
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
, maker INTEGER NOT NULL DEFAULT 0);
CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO "meta" VALUES('last_node_sequence',2);
INSERT INTO "meta" VALUES('last_sequence',3);
CREATE TABLE metric_points (
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  step INTEGER NOT NULL,
  value REAL NOT NULL,
  nan INTEGER NOT NULL,
  PRIMARY KEY (run, key, timestamp, step, value, nan)
) WITHOUT ROWID;
CREATE TABLE nodes (id TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "nodes" VALUES('far-2','{"id":"far-2","sequence":2,"target":"23a879b2-1844-41fc-a414-738a11894740/far","site":"lab","status":"Requested","slots":1,"ahead":0,"cores":4,"memory_mib":14336,"price_per_hour":2.93E-1,"start_failures":1,"start_error":"there is no ''squeue'' in /nowhere: Slurm''s commands must be on the server''s machine","requested_at":1795010683412}');
INSERT INTO "nodes" VALUES('local','{"id":"local","sequence":1,"target":"local","site":"local","status":"Detached","slots":2,"ahead":0,"cores":0,"memory_mib":0,"price_per_hour":0E0,"work_root":"/tmp/berth-recorded/home/nodes/local/work","address":"127.0.0.1","start_failures":0,"requested_at":1795010683213,"joined_at":1795010683277}');
CREATE TABLE resource_groups (
  subscription TEXT NOT NULL,
  name TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (subscription, name)
) WITHOUT ROWID;
CREATE TABLE role_assignments (id TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "role_assignments" VALUES('8d3c3073-e2ee-490c-bb98-e3620417750a','{"id":"8d3c3073-e2ee-490c-bb98-e3620417750a","user":"4f6c883d-f435-4764-abb4-387e97bf060c","role":"acdd72a7-3385-48ef-bd42-f606fba81ae7","created_by":"owner","created_at":1795010683137}');
INSERT INTO "role_assignments" VALUES('a752c740-dcf0-47bd-9a84-0a75eadbb0cf','{"id":"a752c740-dcf0-47bd-9a84-0a75eadbb0cf","user":"11e5482b-1683-4bb4-8d65-5f078273592b","role":"f6c7c914-8db3-469d-8ca1-694a8f32e121","workspace":"23a879b2-1844-41fc-a414-738a11894740","created_by":"owner","created_at":1795010683104}');
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
CREATE TABLE run_params (
  run INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE TABLE run_tags (
  run INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run, key)
) WITHOUT ROWID;
INSERT INTO "run_tags" VALUES(1,'team','red');
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
, maker INTEGER NOT NULL DEFAULT 0);
INSERT INTO "runs" VALUES(1,'23a879b2-1844-41fc-a414-738a11894740','done','811815321322849129','done','owner','FINISHED',1795010683302,1795010683316,0,1,0);
INSERT INTO "runs" VALUES(2,'23a879b2-1844-41fc-a414-738a11894740','failed','811815321322849129','failed','owner','FAILED',1795010683382,1795010683384,0,1,0);
INSERT INTO "runs" VALUES(3,'23a879b2-1844-41fc-a414-738a11894740','waits','811815321322849129','waits','owner','SCHEDULED',1795010683412,NULL,0,1,0);
CREATE TABLE secrets (
  workspace TEXT NOT NULL,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (workspace, owner, name)
) WITHOUT ROWID;
CREATE TABLE sites (name TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "sites" VALUES('lab','{"name":"lab","provider":"Slurm","capacity":{"nodes":4,"gpus":0},"slurm":{"partition":"main","bin_directory":"/nowhere"},"created_at":1795010682963}');
INSERT INTO "sites" VALUES('local','{"name":"local","provider":"Local","capacity":{"nodes":8,"gpus":0},"slurm":{},"created_at":1795010682803}');
CREATE TABLE tokens (id TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "tokens" VALUES('e10681ae2260e059','{"id":"e10681ae2260e059","user":"11e5482b-1683-4bb4-8d65-5f078273592b","hash":"0bf46748a6ac441d7f852f81a0ac4b93159b488c93a9327f62e3f89c4f0484c8","created_by":"owner","created_at":1795010683178,"expires_at":2110370683172}');
CREATE TABLE usage (
  id INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  ended_at INTEGER NOT NULL,
  doc TEXT NOT NULL
);
CREATE TABLE users (id TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "users" VALUES('11e5482b-1683-4bb4-8d65-5f078273592b','{"id":"11e5482b-1683-4bb4-8d65-5f078273592b","name":"ana","display_name":"Ana","created_by":"owner","created_at":1795010683058}');
INSERT INTO "users" VALUES('4f6c883d-f435-4764-abb4-387e97bf060c','{"id":"4f6c883d-f435-4764-abb4-387e97bf060c","name":"bo","created_by":"owner","created_at":1795010683082}');
CREATE TABLE workspaces (id TEXT PRIMARY KEY, doc TEXT NOT NULL) WITHOUT ROWID;
INSERT INTO "workspaces" VALUES('23a879b2-1844-41fc-a414-738a11894740','{"id":"23a879b2-1844-41fc-a414-738a11894740","subscription":"00000000-0000-0000-0000-000000000000","resource_group":"berth","name":"default","location":"local","display_name":"Default workspace","job_access":"Own","retention":{},"created_at":1795010682803}');
INSERT INTO "workspaces" VALUES('e0e19701-6a2c-4119-a3d1-61d18c8e3160','{"id":"e0e19701-6a2c-4119-a3d1-61d18c8e3160","subscription":"00000000-0000-0000-0000-000000000000","resource_group":"berth","name":"team","location":"local","display_name":"The team","job_access":"Read","recorded":{"storageAccount":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.Storage/storageAccounts/team","keyVault":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.KeyVault/vaults/team","hbiWorkspace":false},"retention":{},"created_at":1795010682909}');
CREATE UNIQUE INDEX jobs_by_name ON jobs (workspace, name);
CREATE INDEX jobs_by_age ON jobs (workspace, archived);
CREATE INDEX jobs_by_experiment ON jobs (workspace, experiment, archived);
CREATE INDEX jobs_live ON jobs (live) WHERE live = 1;
CREATE UNIQUE INDEX assets_by_version ON assets (workspace, kind, name, version);
CREATE INDEX assets_by_age ON assets (workspace, kind, name, archived);
CREATE INDEX assets_by_hash ON assets (workspace, kind, hash) WHERE hash <> '';
CREATE UNIQUE INDEX containers_by_name ON containers (workspace, kind, name);
CREATE INDEX containers_by_age ON containers (workspace, kind, archived);
CREATE INDEX usage_by_end ON usage (workspace, ended_at);
CREATE TRIGGER audit_stays BEFORE UPDATE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE TRIGGER audit_keeps BEFORE DELETE ON audit
  BEGIN SELECT RAISE(ABORT, 'the audit log is only added to'); END;
CREATE INDEX job_tags_by_age ON job_tags (workspace, key, sequence);
CREATE UNIQUE INDEX deployments_by_name ON deployments (subscription, resource_group, name);
CREATE INDEX deployments_by_age ON deployments (subscription, resource_group);
CREATE INDEX deployments_live ON deployments (live) WHERE live = 1;
CREATE UNIQUE INDEX experiments_by_name ON experiments (workspace, name);
CREATE UNIQUE INDEX runs_by_id ON runs (workspace, id);
CREATE INDEX runs_by_age ON runs (workspace, experiment, deleted, started_at DESC, id);
CREATE UNIQUE INDEX logged_models_by_id ON logged_models (workspace, id);
CREATE INDEX logged_models_by_age
  ON logged_models (workspace, experiment, deleted, created_at DESC, id);
CREATE INDEX secrets_by_owner ON secrets (owner);
CREATE INDEX job_uses_by_job ON job_uses (sequence);
CREATE INDEX logged_models_by_run ON logged_models (workspace, source_run);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('runs',3);
COMMIT;
PRAGMA user_version = 9;
