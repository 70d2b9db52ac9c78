// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/deployment_rows.h"

#include "base/text.h"
#include "store/sqlite/documents.h"
#include "store/sqlite/rows.h"

namespace berth::store {

using model::DeploymentOperation;
using model::TemplateDeployment;

Status RowWriter::put(const Put<TemplateDeployment>& write) {
  const TemplateDeployment& deployment = write.value;
  const model::DeploymentKey key = key_of(deployment);
  TRY(database_.run(
      "DELETE FROM deployment_operations WHERE deployment = (SELECT id FROM deployments WHERE "
      "subscription = ? AND resource_group = ? AND name = ?) AND deployment <> ?",
      {key.subscription, key.resource_group, key.name, deployment.id}));
  TRY(database_.run(
      "DELETE FROM deployments WHERE subscription = ? AND resource_group = ? AND name = ? AND "
      "id <> ?",
      {key.subscription, key.resource_group, key.name, deployment.id}));
  return database_.run(
      "INSERT INTO deployments (id, subscription, resource_group, name, live, doc) "
      "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO UPDATE "
      "SET live = excluded.live, doc = excluded.doc",
      {deployment.id, key.subscription, key.resource_group, key.name,
       std::int64_t{model::is_over(deployment.state) ? 0 : 1}, document(deployment)});
}

Status RowWriter::put(const Erase<TemplateDeployment>& write) {
  const Values key = {write.key.subscription, write.key.resource_group, write.key.name};
  TRY(database_.run(
      "DELETE FROM deployment_operations WHERE deployment = (SELECT id FROM deployments WHERE "
      "subscription = ? AND resource_group = ? AND name = ?)",
      key));
  return database_.run(
      "DELETE FROM deployments WHERE subscription = ? AND resource_group = ? AND name = ?", key);
}

Status RowWriter::put(const Put<DeploymentOperation>& write) {
  const DeploymentOperation& operation = write.value;
  return database_.run(
      "INSERT OR REPLACE INTO deployment_operations (deployment, number, doc) VALUES (?, ?, ?)",
      {operation.deployment, std::int64_t{operation.number}, document(operation)});
}

Status RowWriter::put(const Erase<DeploymentOperation>& write) {
  return database_.run("DELETE FROM deployment_operations WHERE deployment = ? AND number = ?",
                       {write.key.deployment, std::int64_t{write.key.number}});
}

Status RowWriter::put(const PutResourceGroup& write) {
  return database_.run(
      "INSERT OR REPLACE INTO resource_groups (subscription, name, doc) VALUES (?, ?, ?)",
      {to_lower(write.group.subscription), to_lower(write.group.name), document(write.group)});
}

Status RowWriter::put(const DeleteResourceGroup& write) {
  return database_.run("DELETE FROM resource_groups WHERE subscription = ? AND name = ?",
                       {to_lower(write.group.subscription), to_lower(write.group.name)});
}

Result<std::optional<TemplateDeployment>> DeploymentRows::find(const std::string& subscription,
                                                               const std::string& resource_group,
                                                               const std::string& name) {
  const model::DeploymentKey key = model::deployment_key(subscription, resource_group, name);
  return read_first<TemplateDeployment>(TRY(reader_.query(
      "SELECT doc FROM deployments WHERE subscription = ? AND resource_group = ? AND name = ?",
      {key.subscription, key.resource_group, key.name})));
}

Result<Page<TemplateDeployment>> DeploymentRows::list(const DeploymentQuery& query) {
  const model::DeploymentKey key =
      model::deployment_key(query.subscription, query.resource_group, "");
  return read_page<TemplateDeployment>(TRY(
      reader_.query("SELECT doc FROM deployments WHERE subscription = ? AND resource_group = ? "
                    "ORDER BY number DESC LIMIT ? OFFSET ?",
                    {key.subscription, key.resource_group, static_cast<std::int64_t>(query.limit),
                     static_cast<std::int64_t>(query.skip)})));
}

Result<std::vector<DeploymentOperation>> DeploymentRows::operations(const std::string& deployment) {
  return read_documents<DeploymentOperation>(TRY(reader_.query(
      "SELECT doc FROM deployment_operations WHERE deployment = ? ORDER BY number", {deployment})));
}

Result<std::vector<model::ResourceGroup>> DeploymentRows::groups() {
  return read_documents<model::ResourceGroup>(
      TRY(reader_.query("SELECT doc FROM resource_groups ORDER BY subscription, name")));
}

}  // namespace berth::store
