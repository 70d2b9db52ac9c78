// SPDX-License-Identifier: Apache-2.0
// A store in memory whose commits a test completes, or fails, by hand.
#pragma once

#include <deque>
#include <map>
#include <tuple>

#include "server/plane/fake_tracking.h"
#include "store/store.h"

namespace berth::server {

/// Of a store that nobody deploys anything to.
class NoDeployments final : public store::DeploymentReader {
 public:
  Result<std::optional<model::TemplateDeployment>> find(const std::string&, const std::string&,
                                                        const std::string&) override {
    return std::optional<model::TemplateDeployment>();
  }
  Result<store::Page<model::TemplateDeployment>> list(const store::DeploymentQuery&) override {
    return store::Page<model::TemplateDeployment>{};
  }
  Result<std::vector<model::TemplateDeployment>> unfinished() override {
    return std::vector<model::TemplateDeployment>{};
  }
  Result<std::vector<model::DeploymentOperation>> operations(const std::string&) override {
    return std::vector<model::DeploymentOperation>{};
  }
  Result<std::vector<model::ResourceGroup>> groups() override {
    return std::vector<model::ResourceGroup>{};
  }
};

class FakeSecrets final : public store::SecretReader {
 public:
  Result<std::optional<model::Secret>> find(const model::SecretKey& key) override {
    const auto found = rows.find(key);
    return found == rows.end() ? std::optional<model::Secret>() : found->second;
  }
  Result<std::vector<model::Secret>> list(const model::WorkspaceId& workspace,
                                          const std::string& owner) override {
    std::vector<model::Secret> found;
    for (const auto& [key, secret] : rows) {
      if (key.workspace == workspace && key.owner == owner) found.push_back(secret);
    }
    return found;
  }

  std::map<model::SecretKey, model::Secret> rows;
};

/// Of a store that has nothing to show.
class NoStorage final : public store::StorageReader {
 public:
  Result<store::SelectedJobs> jobs(const store::JobSelection&) override {
    return store::SelectedJobs{};
  }
  Result<bool> has_logs(const model::JobKey&) override { return false; }
  Result<store::JobFootprint> footprint(const model::JobKey&) override {
    return store::JobFootprint{};
  }
  Result<store::StoredFiles> files(const store::FileCursor&, std::size_t) override {
    return store::StoredFiles{.next = {.is_end = true}};
  }
  Result<std::vector<store::AssetPlace>> asset_places() override {
    return std::vector<store::AssetPlace>{};
  }
  Result<std::vector<store::CodeVersion>> idle_code(WallTime, std::size_t) override {
    return std::vector<store::CodeVersion>{};
  }
  Result<std::vector<store::UploadFolder>> idle_uploads(WallTime, std::size_t) override {
    return std::vector<store::UploadFolder>{};
  }
  Result<std::vector<store::BlobKey>> stale_blocks(WallTime, std::size_t) override {
    return std::vector<store::BlobKey>{};
  }
  Result<std::uint64_t> free_bytes() override { return 0; }
};

class FakeStore final : public store::Store {
 public:
  void commit(store::Batch batch, Committed done) override {
    pending_.push_back({std::move(batch), std::move(done)});
  }
  void resume() override { is_poisoned_ = false; }
  void flush() override { complete(); }

  /// Everything that waits, and what that makes wait, reaches the disk.
  void complete() {
    while (!pending_.empty()) complete_next();
  }
  void complete_next() {
    auto [batch, done] = std::move(pending_.front());
    pending_.pop_front();
    for (const store::Write& write : batch)
      std::visit([this](const auto& row) { put(row); }, write);
    done(Done{});
  }
  /// Everything that waits fails, as when the disk is full.
  void fail_all(const Error& error) {
    is_poisoned_ = true;
    while (!pending_.empty() && is_poisoned_) fail_next(error);
  }
  void fail_next(const Error& error) {
    is_poisoned_ = true;
    auto [batch, done] = std::move(pending_.front());
    pending_.pop_front();
    done(fail(error));
  }
  std::size_t waiting() const { return pending_.size(); }

  Result<core::State> load() override {
    core::State state;
    state.workspaces = workspaces;
    state.nodes = nodes;
    state.sites = sites;
    state.computes = computes;
    state.access = access;
    for (const auto& [key, job] : jobs_) {
      if (!model::is_terminal(job.status)) state.jobs.emplace(key, job);
    }
    core::rebuild_indexes(state);
    return state;
  }
  Result<std::int64_t> last_sequence() override { return last_; }
  Result<std::int64_t> last_node_sequence() override { return last_node_; }
  Result<store::Page<model::AuditLine>> audit(const store::AuditQuery&) override {
    return store::Page<model::AuditLine>{};
  }
  Result<store::AuditHead> audit_head() override { return store::AuditHead{}; }
  Result<std::vector<model::Usage>> usage(const store::UsageQuery&) override { return usages; }
  Result<std::optional<model::Job>> job(const model::JobKey& key) override {
    return find(jobs_, key);
  }
  Result<store::Page<model::Job>> jobs(const store::JobQuery&) override {
    return store::Page<model::Job>{};
  }
  Result<std::optional<model::Asset>> asset(const model::WorkspaceId& workspace,
                                            model::AssetKind kind, const std::string& name,
                                            const std::string& version) override {
    return find(assets_, AssetKey{workspace, kind, name, version});
  }
  Result<std::optional<model::Asset>> latest_asset(const model::WorkspaceId& workspace,
                                                   model::AssetKind kind,
                                                   const std::string& name) override {
    const auto found = find(containers_, AssetKey{workspace, kind, name, ""});
    if (!found) return std::optional<model::Asset>{};
    return asset(workspace, kind, name, found->latest_version);
  }
  Result<store::Page<model::Asset>> assets(const store::AssetQuery&) override {
    return store::Page<model::Asset>{};
  }
  Result<std::optional<model::AssetContainer>> container(const model::WorkspaceId& workspace,
                                                         model::AssetKind kind,
                                                         const std::string& name) override {
    return find(containers_, AssetKey{workspace, kind, name, ""});
  }
  Result<store::Page<model::AssetContainer>> containers(const store::AssetQuery&) override {
    return store::Page<model::AssetContainer>{};
  }
  Result<store::Page<model::AssetContainer>> search_models(const store::ModelQuery&) override {
    return store::Page<model::AssetContainer>{};
  }
  Result<store::Page<model::Asset>> search_model_versions(const store::ModelQuery&) override {
    return store::Page<model::Asset>{};
  }
  Result<std::vector<model::Asset>> latest_of_stages(const model::WorkspaceId&,
                                                     const std::string&) override {
    return std::vector<model::Asset>{};
  }
  store::DeploymentReader& deployments() override { return no_deployments_; }
  store::SecretReader& secrets() override { return secrets_; }
  Result<std::optional<store::Blob>> blob(const store::BlobKey& key) override {
    return find(blobs_, key);
  }
  Result<store::Page<store::Blob>> blobs(const store::BlobQuery& query) override {
    store::Page<store::Blob> found;
    for (const auto& [key, blob] : blobs_) {
      if (key.container == query.container && key.path.starts_with(query.prefix))
        found.push_back(blob);
    }
    return found;
  }
  Result<std::vector<store::Block>> blocks(const store::BlobKey&) override {
    return std::vector<store::Block>{};
  }

  store::Tracking& tracking() override { return tracking_; }
  void search(Reading reading) override { reading(tracking_)(); }
  void inspect(Inspection inspection) override {
    if (const auto then = inspection(storage_)) then();
  }

  std::map<model::WorkspaceId, model::Workspace> workspaces;
  std::map<model::NodeId, model::Node> nodes;
  std::map<std::string, model::Site> sites;
  std::map<model::ComputeKey, model::Compute> computes;
  std::vector<model::Usage> usages;
  core::Access access;
  std::vector<model::AuditRecord> audited;

 private:
  using AssetKey = std::tuple<model::WorkspaceId, model::AssetKind, std::string, std::string>;

  template <typename Map, typename Key>
  static std::optional<typename Map::mapped_type> find(const Map& map, const Key& key) {
    const auto found = map.find(key);
    if (found == map.end()) return std::nullopt;
    return found->second;
  }

  void put(const store::PutWorkspace& row) { workspaces[row.workspace.id] = row.workspace; }
  void put(const store::DeleteWorkspace& row) { workspaces.erase(row.workspace); }
  void put(const store::PutJob& row) {
    jobs_[row.job.key] = row.job;
    last_ = std::max(last_, row.job.sequence);
  }
  void put(const store::DeleteJob& row) { jobs_.erase(row.job); }
  void put(const store::DropJobFiles&) {}
  void put(const store::DropMetrics&) {}
  void put(const store::DropCode&) {}
  void put(const store::DropUpload&) {}
  void put(const store::DropStaleBlocks&) {}
  void put(const store::PutNode& row) {
    nodes[row.node.id] = row.node;
    last_node_ = std::max(last_node_, row.node.sequence);
  }
  void put(const store::PutSite& row) { sites[row.site.name] = row.site; }
  void put(const store::DeleteSite& row) { sites.erase(row.site); }
  void put(const store::PutCompute& row) { computes[row.compute.key] = row.compute; }
  void put(const store::DeleteCompute& row) { computes.erase(row.compute); }
  void put(const store::AddUsage& row) { usages.push_back(row.usage); }
  void put(const store::DeleteNode& row) { nodes.erase(row.node); }
  void put(const store::PutAsset& row) {
    const model::Asset& asset = row.asset;
    assets_[{asset.workspace, asset.kind, asset.name, asset.version}] = asset;
  }
  void put(const store::PutContainer& row) {
    const model::AssetContainer& container = row.container;
    containers_[{container.workspace, container.kind, container.name, ""}] = container;
  }
  void put(const store::DeleteAsset&) {}
  void put(const store::DeleteContainer&) {}
  void put(const store::RenameContainer&) {}
  void put(const store::PutBlob& row) { blobs_[row.blob.key] = row.blob; }
  void put(const store::DeleteBlob& row) { blobs_.erase(row.key); }
  void put(const store::PutBlock&) {}
  void put(const store::DropBlocks&) {}
  void put(const store::PutUser& row) { access.users[row.user.id] = row.user; }
  void put(const store::DeleteUser& row) { access.users.erase(row.user); }
  void put(const store::PutToken& row) { access.tokens[row.token.id] = row.token; }
  void put(const store::DeleteToken& row) { access.tokens.erase(row.token); }
  void put(const store::PutRoleAssignment& row) {
    access.assignments[row.assignment.id] = row.assignment;
  }
  void put(const store::DeleteRoleAssignment& row) { access.assignments.erase(row.assignment); }
  void put(const store::AddAudit& row) { audited.push_back(row.record); }
  void put(const store::Track&) {}

  void put(const store::PutDeployment&) {}
  void put(const store::DeleteDeployment&) {}
  void put(const store::PutDeploymentOperation&) {}
  void put(const store::PutResourceGroup&) {}
  void put(const store::DeleteResourceGroup&) {}
  void put(const store::PutSecret& row) { secrets_.rows[row.secret.key] = row.secret; }
  void put(const store::DeleteSecret& row) { secrets_.rows.erase(row.key); }

  struct Pending {
    store::Batch batch;
    Committed done;
  };
  NoDeployments no_deployments_;
  FakeSecrets secrets_;
  NoStorage storage_;
  std::deque<Pending> pending_;
  FakeTracking tracking_;
  bool is_poisoned_ = false;
  std::int64_t last_ = 0;
  std::int64_t last_node_ = 0;
  std::map<model::JobKey, model::Job> jobs_;
  std::map<AssetKey, model::Asset> assets_;
  std::map<AssetKey, model::AssetContainer> containers_;
  std::map<store::BlobKey, store::Blob> blobs_;
};

}  // namespace berth::server
