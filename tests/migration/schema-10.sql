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
INSERT INTO "audit" VALUES(1,'{"number":1,"at":1795033841392,"who":"owner","from":"127.0.0.1:34226","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/team","status":201,"unrecorded":0}','0ce5bff626df579409b0bc819158230bbb9e37824529e1e8c256fcebc393d8bf');
INSERT INTO "audit" VALUES(2,'{"number":2,"at":1795033841415,"who":"owner","from":"127.0.0.1:34238","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/team","status":200,"unrecorded":0}','80e4591e6209f8eabb2ae6a422511861f504fe3ccf6bcc51a9463ce96d6f027a');
INSERT INTO "audit" VALUES(3,'{"number":3,"at":1795033841424,"who":"owner","from":"127.0.0.1:34242","method":"PUT","action":"Berth/sites/write","target":"/berth/v1/sites/lab","status":201,"unrecorded":0}','64b245e2b63a024ff43e38c0f201789cf4b77952608834db30df521586d1ab4c');
INSERT INTO "audit" VALUES(4,'{"number":4,"at":1795033841432,"who":"owner","from":"127.0.0.1:34254","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/computes/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/computes/Pool","status":201,"unrecorded":0}','896b73d0a75bd641de07ec8e3d80594a82465da5c766affeb006ae9ed51b56ff');
INSERT INTO "audit" VALUES(5,'{"number":5,"at":1795033841441,"who":"owner","from":"127.0.0.1:34262","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/computes/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/computes/far","status":201,"unrecorded":0}','c7b7a3ae789b614b351311f8ec8cdf5c3463ec63eba0d496d15c146b3d55716e');
INSERT INTO "audit" VALUES(6,'{"number":6,"at":1795033841449,"who":"owner","from":"127.0.0.1:34276","method":"PUT","action":"Berth/users/write","target":"/berth/v1/users/ana","status":201,"unrecorded":0}','62b042ebdb0baf0665d662db75e1c05d012b4a80eec810bbe60993bd3ded3128');
INSERT INTO "audit" VALUES(7,'{"number":7,"at":1795033841464,"who":"owner","from":"127.0.0.1:34292","method":"PUT","action":"Berth/users/write","target":"/berth/v1/users/bo","status":201,"unrecorded":0}','581f68049a07248a0221109d19ebcbcbdb160823f2238aede1761f75ac6daeb0');
INSERT INTO "audit" VALUES(8,'{"number":8,"at":1795033841500,"who":"owner","from":"127.0.0.1:34302","method":"PUT","action":"Microsoft.Authorization/roleAssignments/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/providers/Microsoft.Authorization/roleAssignments/0a7f804c-ddcd-42a8-ba12-57cd7cd154a7","status":201,"unrecorded":0}','24b8d195538b34c0c91c303a2815045b333c342f7eac88f3471fb730579810fa');
INSERT INTO "audit" VALUES(9,'{"number":9,"at":1795033841511,"who":"owner","from":"127.0.0.1:34318","method":"PUT","action":"Microsoft.Authorization/roleAssignments/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/providers/Microsoft.Authorization/roleAssignments/94ccf1ff-0c70-4044-abbb-19e4851ef6de","status":201,"unrecorded":0}','34a2e5addcd6134f734e3be32c8eacb6680d1b66174feb354a551ec54de157a0');
INSERT INTO "audit" VALUES(10,'{"number":10,"at":1795033841522,"who":"owner","from":"127.0.0.1:34328","method":"PUT","action":"Berth/tokens/write","target":"/berth/v1/users/ana/tokens/1d1ae7e02309babf","status":201,"unrecorded":0}','8cc512dab831dbd9f6b1e28d475026b9b2fc22bd55a10062f8cbb2af89e9f4d8');
INSERT INTO "audit" VALUES(11,'{"number":11,"at":1795033841597,"who":"owner","from":"127.0.0.1:34340","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/jobs/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/jobs/done","status":201,"unrecorded":0}','626e0e5818eb7ee18ac06b7fd1d63ba5c8af58b4f4c9cb6542cd9332bc1e3362');
INSERT INTO "audit" VALUES(12,'{"number":12,"at":1795033841780,"who":"owner","from":"127.0.0.1:34368","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/jobs/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/jobs/done","status":200,"unrecorded":0}','d4a98cb3e69d9e2a07b8a493847d93f692259c1e17888dc985798a4278b74228');
INSERT INTO "audit" VALUES(13,'{"number":13,"at":1795033841849,"who":"owner","from":"127.0.0.1:34384","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/jobs/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/jobs/child","status":201,"unrecorded":0}','df7ab28d0a24ff234ab22150088c5c86d07a7b0b5cea6e92004cfbfcced7f809');
INSERT INTO "audit" VALUES(14,'{"number":14,"at":1795033841931,"who":"owner","from":"127.0.0.1:34416","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/jobs/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/jobs/failed","status":201,"unrecorded":0}','6ed3b0b4c486941acbc8548818e5a11bc3023672efe3ba8c2e30c667f04f148e');
INSERT INTO "audit" VALUES(15,'{"number":15,"at":1795033841992,"who":"owner","from":"127.0.0.1:34424","method":"PUT","action":"Microsoft.MachineLearningServices/workspaces/jobs/write","target":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.MachineLearningServices/workspaces/default/jobs/waits","status":201,"unrecorded":0}','a81ce3eda9bf110dbeb0c7c6c73c2a527164098a2b6def2d89716eddfd433275');
CREATE TABLE audit_head (one INTEGER PRIMARY KEY CHECK (one = 1), number INTEGER NOT NULL,
                         hash TEXT NOT NULL);
INSERT INTO "audit_head" VALUES(1,15,'a81ce3eda9bf110dbeb0c7c6c73c2a527164098a2b6def2d89716eddfd433275');
CREATE TABLE blobs (
  workspace TEXT NOT NULL,
  container TEXT NOT NULL,
  path TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (workspace, container, path)
) WITHOUT ROWID;
INSERT INTO "blobs" VALUES('70d934b2-167a-4678-901f-25d96573759d','azureml','ExperimentRun/dcid.child/user_logs/std_log.txt','{"size":0,"content_type":"text/plain","etag":"\"0xc2759e6b569fda45\"","created_at":1795033841856,"modified_at":1795033841856}');
INSERT INTO "blobs" VALUES('70d934b2-167a-4678-901f-25d96573759d','azureml','ExperimentRun/dcid.done/user_logs/std_log.txt','{"size":0,"content_type":"text/plain","etag":"\"0xf8dbeebb22903c30\"","created_at":1795033841701,"modified_at":1795033841701}');
INSERT INTO "blobs" VALUES('70d934b2-167a-4678-901f-25d96573759d','azureml','ExperimentRun/dcid.failed/user_logs/std_log.txt','{"size":0,"content_type":"text/plain","etag":"\"0x73c9bd4e6a9553d2\"","created_at":1795033841960,"modified_at":1795033841960}');
CREATE TABLE blocks (
  workspace TEXT NOT NULL,
  container TEXT NOT NULL,
  path TEXT NOT NULL,
  id TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (workspace, container, path, id)
) WITHOUT ROWID;
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
CREATE TABLE documents (
  kind TEXT NOT NULL,
  key TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (kind, key)
) WITHOUT ROWID;
INSERT INTO "documents" VALUES('compute','70d934b2-167a-4678-901f-25d96573759d/far','{"key":{"workspace":"70d934b2-167a-4678-901f-25d96573759d","name":"far"},"name":"far","location":"lab","site":"lab","size":"Standard_DS3_v2","tier":"Dedicated","scale":{"min_nodes":0,"max_nodes":1,"idle_before_scale_down":120},"start_error":"there is no ''squeue'' in /nowhere: Slurm''s commands must be on the server''s machine","created_at":1795033841441,"modified_at":1795033841441,"allocation_changed_at":1795033841992}');
INSERT INTO "documents" VALUES('compute','70d934b2-167a-4678-901f-25d96573759d/pool','{"key":{"workspace":"70d934b2-167a-4678-901f-25d96573759d","name":"pool"},"name":"Pool","location":"local","site":"local","size":"Standard_DS3_v2","tier":"Dedicated","scale":{"min_nodes":0,"max_nodes":2,"idle_before_scale_down":120},"created_at":1795033841432,"modified_at":1795033841432,"allocation_changed_at":1795033841432}');
INSERT INTO "documents" VALUES('node','far-2','{"id":"far-2","sequence":2,"target":"70d934b2-167a-4678-901f-25d96573759d/far","site":"lab","status":"Requested","slots":1,"ahead":0,"cores":4,"memory_mib":14336,"price_per_hour":2.93E-1,"start_failures":1,"start_error":"there is no ''squeue'' in /nowhere: Slurm''s commands must be on the server''s machine","requested_at":1795033841992}');
INSERT INTO "documents" VALUES('node','local','{"id":"local","sequence":1,"target":"local","site":"local","status":"Detached","slots":2,"ahead":0,"cores":0,"memory_mib":0,"price_per_hour":0E0,"work_root":"/tmp/berth-recorded/home/nodes/local/work","address":"127.0.0.1","start_failures":0,"requested_at":1795033841597,"joined_at":1795033841661}');
INSERT INTO "documents" VALUES('role_assignment','0a7f804c-ddcd-42a8-ba12-57cd7cd154a7','{"id":"0a7f804c-ddcd-42a8-ba12-57cd7cd154a7","user":"1809fce1-675a-4e2a-a3ba-5d6ec70143c9","role":"f6c7c914-8db3-469d-8ca1-694a8f32e121","workspace":"70d934b2-167a-4678-901f-25d96573759d","created_by":"owner","created_at":1795033841500}');
INSERT INTO "documents" VALUES('role_assignment','94ccf1ff-0c70-4044-abbb-19e4851ef6de','{"id":"94ccf1ff-0c70-4044-abbb-19e4851ef6de","user":"3db29376-4099-44b8-b71b-284e89d58b87","role":"acdd72a7-3385-48ef-bd42-f606fba81ae7","created_by":"owner","created_at":1795033841511}');
INSERT INTO "documents" VALUES('site','lab','{"name":"lab","provider":"Slurm","capacity":{"nodes":4,"gpus":0},"slurm":{"partition":"main","bin_directory":"/nowhere"},"created_at":1795033841424}');
INSERT INTO "documents" VALUES('site','local','{"name":"local","provider":"Local","capacity":{"nodes":8,"gpus":0},"slurm":{},"created_at":1795033841208}');
INSERT INTO "documents" VALUES('token','1d1ae7e02309babf','{"id":"1d1ae7e02309babf","user":"1809fce1-675a-4e2a-a3ba-5d6ec70143c9","hash":"6a72df2e392a1ee32e7d8e24a3a1ddb9ae87ed39bfe4c04ff0d51243aa526c67","created_by":"owner","created_at":1795033841522,"expires_at":2110393841521}');
INSERT INTO "documents" VALUES('user','1809fce1-675a-4e2a-a3ba-5d6ec70143c9','{"id":"1809fce1-675a-4e2a-a3ba-5d6ec70143c9","name":"ana","display_name":"Ana","created_by":"owner","created_at":1795033841449}');
INSERT INTO "documents" VALUES('user','3db29376-4099-44b8-b71b-284e89d58b87','{"id":"3db29376-4099-44b8-b71b-284e89d58b87","name":"bo","created_by":"owner","created_at":1795033841464}');
INSERT INTO "documents" VALUES('workspace','05363ce1-076a-49b4-b7aa-d953a8280b35','{"id":"05363ce1-076a-49b4-b7aa-d953a8280b35","subscription":"00000000-0000-0000-0000-000000000000","resource_group":"berth","name":"team","location":"local","display_name":"The team","job_access":"Read","recorded":{"storageAccount":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.Storage/storageAccounts/team","keyVault":"/subscriptions/00000000-0000-0000-0000-000000000000/resourceGroups/berth/providers/Microsoft.KeyVault/vaults/team","hbiWorkspace":false},"retention":{},"created_at":1795033841392}');
INSERT INTO "documents" VALUES('workspace','70d934b2-167a-4678-901f-25d96573759d','{"id":"70d934b2-167a-4678-901f-25d96573759d","subscription":"00000000-0000-0000-0000-000000000000","resource_group":"berth","name":"default","location":"local","display_name":"Default workspace","job_access":"Own","retention":{},"created_at":1795033841208}');
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
INSERT INTO "experiments" VALUES('05363ce1-076a-49b4-b7aa-d953a8280b35','0','Default','',0,1795033841392,1795033841392,0);
INSERT INTO "experiments" VALUES('70d934b2-167a-4678-901f-25d96573759d','0','Default','',0,1795033841208,1795033841208,0);
INSERT INTO "experiments" VALUES('70d934b2-167a-4678-901f-25d96573759d','655416535985874815','folder','',0,1795033841597,1795033841597,0);
CREATE TABLE job_tags (
  workspace TEXT NOT NULL,
  key TEXT NOT NULL,
  value TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  PRIMARY KEY (workspace, key, value, sequence)
) WITHOUT ROWID;
INSERT INTO "job_tags" VALUES('70d934b2-167a-4678-901f-25d96573759d','team','red',1);
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
INSERT INTO "jobs" VALUES(1,'70d934b2-167a-4678-901f-25d96573759d','done',0,0,'Command','folder','{"team":"red"}','{"key":{"workspace":"70d934b2-167a-4678-901f-25d96573759d","name":"done"},"sequence":1,"spec":{"type":"Command","command":"true","compute":"local","experiment_name":"folder","environment_variables":{"PATH":"/usr/bin:/bin"},"resources":{"instance_count":1},"priority":2},"tags":{"team":"red"},"status":"Completed","attempt":1,"fence":"906ea65a","requeues":0,"placed_at":1795033841661,"outcome":{"ending":"Exited","exit_code":0,"signal":0},"created_by":"owner","created_at":1795033841597,"modified_at":1795033841780,"started_at":1795033841691,"ended_at":1795033841702}');
INSERT INTO "jobs" VALUES(2,'70d934b2-167a-4678-901f-25d96573759d','child',0,0,'Command','folder','{}','{"key":{"workspace":"70d934b2-167a-4678-901f-25d96573759d","name":"child"},"sequence":2,"spec":{"type":"Command","command":"true","compute":"local","experiment_name":"folder","environment_variables":{"COLOUR":"red"},"resources":{"instance_count":1},"priority":2,"parent_job_name":"done"},"status":"Completed","attempt":1,"fence":"49f91aa2","requeues":0,"placed_at":1795033841849,"outcome":{"ending":"Exited","exit_code":0,"signal":0},"created_by":"owner","created_at":1795033841849,"modified_at":1795033841856,"started_at":1795033841853,"ended_at":1795033841856}');
INSERT INTO "jobs" VALUES(3,'70d934b2-167a-4678-901f-25d96573759d','failed',0,0,'Command','folder','{}','{"key":{"workspace":"70d934b2-167a-4678-901f-25d96573759d","name":"failed"},"sequence":3,"spec":{"type":"Command","command":"exit 3","compute":"local","experiment_name":"folder","environment_variables":{"PATH":"/usr/bin:/bin"},"resources":{"instance_count":1},"priority":2},"status":"Failed","attempt":1,"fence":"6fa3c10c","requeues":0,"placed_at":1795033841931,"outcome":{"ending":"Exited","exit_code":3,"signal":0},"error":{"code":"ExitCode","message":"the command exited with code 3"},"created_by":"owner","created_at":1795033841931,"modified_at":1795033841960,"started_at":1795033841959,"ended_at":1795033841960}');
INSERT INTO "jobs" VALUES(4,'70d934b2-167a-4678-901f-25d96573759d','waits',1,0,'Command','folder','{}','{"key":{"workspace":"70d934b2-167a-4678-901f-25d96573759d","name":"waits"},"sequence":4,"spec":{"type":"Command","command":"true","compute":"far","experiment_name":"folder","resources":{"instance_count":1},"priority":2},"status":"Queued","attempt":0,"requeues":0,"created_by":"owner","created_at":1795033841992,"modified_at":1795033841992}');
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
INSERT INTO "meta" VALUES('last_sequence',4);
CREATE TABLE metric_points (
  run INTEGER NOT NULL,
  key TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  step INTEGER NOT NULL,
  value REAL NOT NULL,
  nan INTEGER NOT NULL,
  PRIMARY KEY (run, key, timestamp, step, value, nan)
) WITHOUT ROWID;
CREATE TABLE resource_groups (
  subscription TEXT NOT NULL,
  name TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (subscription, name)
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
CREATE TABLE run_params (
  run INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run, key)
) WITHOUT ROWID;
CREATE TABLE run_tags (
  run INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (run, key)
) WITHOUT ROWID;
INSERT INTO "run_tags" VALUES(1,'team','red');
INSERT INTO "run_tags" VALUES(2,'mlflow.parentRunId','done');
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
INSERT INTO "runs" VALUES(1,'70d934b2-167a-4678-901f-25d96573759d','done','655416535985874815','done','owner','FINISHED',1795033841691,1795033841702,0,1,0);
INSERT INTO "runs" VALUES(2,'70d934b2-167a-4678-901f-25d96573759d','child','655416535985874815','child','owner','FINISHED',1795033841853,1795033841856,0,1,0);
INSERT INTO "runs" VALUES(3,'70d934b2-167a-4678-901f-25d96573759d','failed','655416535985874815','failed','owner','FAILED',1795033841959,1795033841960,0,1,0);
INSERT INTO "runs" VALUES(4,'70d934b2-167a-4678-901f-25d96573759d','waits','655416535985874815','waits','owner','SCHEDULED',1795033841992,NULL,0,1,0);
CREATE TABLE secrets (
  workspace TEXT NOT NULL,
  owner TEXT NOT NULL,
  name TEXT NOT NULL,
  doc TEXT NOT NULL,
  PRIMARY KEY (workspace, owner, name)
) WITHOUT ROWID;
CREATE TABLE usage (
  id INTEGER PRIMARY KEY,
  workspace TEXT NOT NULL,
  ended_at INTEGER NOT NULL,
  doc TEXT NOT NULL
);
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
INSERT INTO "sqlite_sequence" VALUES('runs',4);
COMMIT;
PRAGMA user_version = 10;
