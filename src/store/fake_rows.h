// SPDX-License-Identifier: Apache-2.0
// Rows in memory, for tests: what a batch does to them, and what is found in them.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "store/fake_readers.h"
#include "store/sqlite/documents.h"
#include "store/sqlite/entity_rows.h"
#include "store/store.h"

namespace berth::store {

/// Does what RowWriter does, for all that tests of the server ask for. Not kept: what is logged,
/// resource groups, and which files belong to a job (Erase<model::Job> leaves them).
class FakeRows {
 public:
  using AssetKey = std::tuple<model::WorkspaceId, model::AssetKind, std::string, std::string>;

  /// All or nothing: a name of a job that is there under another sequence refuses the batch.
  Status write(const Batch& batch) {
    TRY(check_names(batch));
    for (const Write& write : batch) {
      std::visit([this](const auto& change) { put(change); }, write);
    }
    return Done{};
  }

  /// Every row of an entity; of jobs, also those that are over.
  template <typename T>
  auto& all() {
    return core::Entity<T>::map(entities_);
  }

  core::State load() const {
    core::State state;
    core::for_each_entity([&]<typename T>() {
      for (const auto& [key, value] : core::Entity<T>::map(entities_)) {
        if (is_live(value)) core::Entity<T>::map(state).emplace(key, value);
      }
    });
    return state;
  }

  template <typename T>
  std::optional<T> find(const core::EntityKey<T>& key) const {
    return find_in(core::Entity<T>::map(entities_), key);
  }
  std::optional<model::Asset> asset(const AssetKey& key) const { return value_in(assets_, key); }
  std::optional<model::AssetContainer> container(const AssetKey& key) const {
    return value_in(containers_, key);
  }
  std::optional<Blob> blob(const BlobKey& key) const { return find_in(blobs_, key); }
  std::vector<Block> blocks(const BlobKey& key) const {
    std::vector<Block> found;
    for (const auto& [place, block] : blocks_) {
      if (place.first == key) found.push_back(block);
    }
    return found;
  }

  std::vector<model::Job> jobs(const JobQuery& query) const {
    std::vector<model::Job> found;
    for (const auto& [key, job] : entities_.jobs) {
      if (matches(job, query)) found.push_back(job);
    }
    std::ranges::sort(found, std::greater(), &model::Job::sequence);
    if (found.size() > query.limit) found.resize(query.limit);
    return found;
  }
  std::vector<model::Asset> assets(const AssetQuery& query) const { return list(assets_, query); }
  std::vector<model::AssetContainer> containers(const AssetQuery& query) const {
    return list(containers_, query);
  }
  std::vector<Blob> blobs(const BlobQuery& query) const {
    std::vector<Blob> found;
    for (const auto& [key, blob] : blobs_) {
      const bool is_asked_for = key.workspace == query.workspace &&
                                key.container == query.container &&
                                key.path.starts_with(query.prefix) && key.path > query.after;
      if (is_asked_for && found.size() < query.limit) found.push_back(blob);
    }
    return found;
  }
  /// Newest first.
  std::vector<model::TemplateDeployment> deployments(const DeploymentQuery& query) const {
    const model::DeploymentKey group =
        model::deployment_key(query.subscription, query.resource_group, "");
    std::map<std::int64_t, const model::TemplateDeployment*> by_age;
    for (const auto& [key, deployment] : entities_.deployments) {
      const bool is_in_it =
          key.subscription == group.subscription && key.resource_group == group.resource_group;
      if (is_in_it) by_age.emplace(-deployment_numbers_.at(key), &deployment);
    }
    std::vector<model::TemplateDeployment> found;
    std::size_t skipped = 0;
    for (const auto& [age, deployment] : by_age) {
      if (skipped++ < query.skip || found.size() >= query.limit) continue;
      found.push_back(*deployment);
    }
    return found;
  }
  std::vector<model::DeploymentOperation> operations(const std::string& deployment) const {
    std::vector<model::DeploymentOperation> found;
    for (const auto& [key, operation] : entities_.operations) {
      if (key.deployment == deployment) found.push_back(operation);
    }
    return found;
  }
  std::vector<model::Usage> usage(const UsageQuery& query) const {
    std::vector<model::Usage> found;
    for (const model::Usage& each : usage_) {
      const bool is_asked_for = each.workspace == query.workspace && each.ended_at >= query.from &&
                                each.ended_at < query.to;
      if (is_asked_for) found.push_back(each);
    }
    std::ranges::stable_sort(found, {}, &model::Usage::ended_at);
    if (found.size() > query.limit) found.resize(query.limit);
    return found;
  }
  std::vector<model::AuditLine> audit(const AuditQuery& query) const {
    std::vector<model::AuditLine> found;
    for (const model::AuditLine& line : audit_) {
      if (line.number > query.after && found.size() < query.limit) found.push_back(line);
    }
    return found;
  }
  AuditHead audit_head() const {
    if (audit_.empty()) return {};
    return {.number = audit_.back().number, .hash = audit_.back().hash};
  }

  std::int64_t last_sequence() const { return last_sequence_; }
  std::int64_t last_node_sequence() const { return last_node_sequence_; }
  FakeSecrets& secrets() { return secrets_; }

 private:
  /// With its place in the order of creation, which a later version of the row keeps.
  template <typename T>
  struct Numbered {
    std::int64_t number = 0;
    T value{};
  };
  template <typename T>
  using NumberedMap = std::map<AssetKey, Numbered<T>>;

  template <typename T>
  bool is_live(const T&) const {
    return true;
  }
  bool is_live(const model::Job& job) const { return !model::is_terminal(job.status); }
  bool is_live(const model::TemplateDeployment& deployment) const {
    return !model::is_over(deployment.state);
  }
  bool is_live(const model::DeploymentOperation& operation) const {
    return std::ranges::any_of(entities_.deployments, [&](const auto& row) {
      return row.second.id == operation.deployment && is_live(row.second);
    });
  }

  template <typename Map, typename Key>
  static std::optional<typename Map::mapped_type> find_in(const Map& map, const Key& key) {
    const auto found = map.find(key);
    if (found == map.end()) return std::nullopt;
    return found->second;
  }
  template <typename T>
  static std::optional<T> value_in(const NumberedMap<T>& map, const AssetKey& key) {
    const auto found = map.find(key);
    if (found == map.end()) return std::nullopt;
    return found->second.value;
  }

  static bool is_in_view(bool is_archived, JobQuery::View view) {
    return view == JobQuery::View::All || is_archived == (view == JobQuery::View::ArchivedOnly);
  }
  static bool matches(const model::Job& job, const JobQuery& query) {
    const auto tag = job.tags.find(query.tag_key);
    const bool has_tag =
        query.tag_key.empty() ||
        (tag != job.tags.end() && (query.tag_value.empty() || tag->second == query.tag_value));
    return job.key.workspace == query.workspace && is_in_view(job.is_archived, query.view) &&
           has_tag && (query.type.empty() || kind_of(job.spec->work) == query.type) &&
           (query.parent.empty() || job.spec->parent_job_name == query.parent) &&
           (query.experiment.empty() || job.spec->experiment_name == query.experiment) &&
           (!query.before || job.sequence < *query.before);
  }
  template <typename T>
  static bool matches(const T& row, const AssetQuery& query) {
    if constexpr (std::is_same_v<T, model::Asset>) {
      const auto hash = row.properties.find("hash_sha256");
      const bool has_hash = hash != row.properties.end() && hash->second == query.hash;
      if (!query.hash.empty() && !has_hash) return false;
      if (!query.name.empty() && row.name != query.name) return false;
    }
    return row.workspace == query.workspace && row.kind == query.kind &&
           is_in_view(row.is_archived, query.view) &&
           (query.tag_key.empty() || row.tags.contains(query.tag_key));
  }
  template <typename T>
  static std::vector<T> list(const NumberedMap<T>& map, const AssetQuery& query) {
    std::map<std::int64_t, const T*> by_age;
    for (const auto& [key, row] : map) {
      if (!matches(row.value, query)) continue;
      by_age.emplace(query.oldest_first ? row.number : -row.number, &row.value);
    }
    std::vector<T> found;
    std::size_t skipped = 0;
    for (const auto& [age, row] : by_age) {
      if (skipped++ < query.skip || found.size() >= query.limit) continue;
      found.push_back(*row);
    }
    return found;
  }

  Status check_names(const Batch& batch) const {
    std::map<model::JobKey, std::int64_t> made;  // Erased in the batch: 0.
    for (const Write& write : batch) {
      if (const auto* erased = std::get_if<Erase<model::Job>>(&write)) made[erased->key] = 0;
      const auto* job = std::get_if<Put<model::Job>>(&write);
      if (job == nullptr) continue;
      const auto on_disk = entities_.jobs.find(job->value.key);
      const std::int64_t before = on_disk == entities_.jobs.end() ? 0 : on_disk->second.sequence;
      const auto [place, is_first] = made.try_emplace(job->value.key, before);
      if (place->second != 0 && place->second != job->value.sequence) {
        return fail(Code::Unavailable, "a job of that name is there");
      }
      place->second = job->value.sequence;
    }
    return Done{};
  }

  template <typename T>
  void put(const Put<T>& write) {
    core::Entity<T>::map(entities_)[core::Entity<T>::key(write.value)] = write.value;
    follow(write);
  }
  template <typename T>
  void put(const Erase<T>& write) {
    core::Entity<T>::map(entities_).erase(write.key);
    follow(write);
  }
  void put(const Put<model::TemplateDeployment>& write) {
    const model::DeploymentKey key = model::key_of(write.value);
    const auto before = entities_.deployments.find(key);
    const bool is_other =
        before != entities_.deployments.end() && before->second.id != write.value.id;
    if (is_other) put(Erase<model::TemplateDeployment>{key});
    if (entities_.deployments.insert_or_assign(key, write.value).second) {
      deployment_numbers_[key] = ++last_number_;
    }
  }
  void put(const Erase<model::TemplateDeployment>& write) {
    const auto before = entities_.deployments.find(write.key);
    if (before == entities_.deployments.end()) return;
    std::erase_if(entities_.operations,
                  [&](const auto& row) { return row.first.deployment == before->second.id; });
    entities_.deployments.erase(before);
    deployment_numbers_.erase(write.key);
  }
  template <typename Other>
  void follow(const Other&) {}
  void follow(const Put<model::Job>& write) {
    last_sequence_ = std::max(last_sequence_, write.value.sequence);
  }
  void follow(const Put<model::Node>& write) {
    last_node_sequence_ = std::max(last_node_sequence_, write.value.sequence);
  }
  void follow(const Erase<model::User>& write) {
    std::erase_if(secrets_.rows,
                  [&](const auto& row) { return row.first.owner == write.key.text; });
  }
  void follow(const Erase<model::Workspace>& write) {
    core::for_each_entity([&]<typename T>() {
      if constexpr (core::kIsOwned<core::EntityKey<T>>) {
        std::erase_if(core::Entity<T>::map(entities_),
                      [&](const auto& row) { return row.first.workspace == write.key; });
      }
    });
    const auto is_of_it = [&](const auto& row) { return row.first.workspace == write.key; };
    std::erase_if(blobs_, is_of_it);
    std::erase_if(secrets_.rows, is_of_it);
    std::erase_if(blocks_, [&](const auto& row) { return row.first.first.workspace == write.key; });
    const auto is_in_it = [&](const auto& row) { return std::get<0>(row.first) == write.key; };
    std::erase_if(assets_, is_in_it);
    std::erase_if(containers_, is_in_it);
    std::erase_if(usage_, [&](const model::Usage& row) { return row.workspace == write.key; });
  }

  template <typename T>
  void put_numbered(NumberedMap<T>& map, const AssetKey& key, const T& value) {
    const auto [place, is_new] = map.try_emplace(key);
    if (is_new) place->second.number = ++last_number_;
    place->second.value = value;
  }
  void put(const PutAsset& write) {
    const model::Asset& asset = write.asset;
    put_numbered(assets_, {asset.workspace, asset.kind, asset.name, asset.version}, asset);
  }
  void put(const DeleteAsset& write) {
    assets_.erase({write.workspace, write.kind, write.name, write.version});
  }
  void put(const PutContainer& write) {
    const model::AssetContainer& container = write.container;
    put_numbered(containers_, {container.workspace, container.kind, container.name, ""}, container);
  }
  void put(const DeleteContainer& write) {
    containers_.erase({write.workspace, write.kind, write.name, ""});
    std::erase_if(assets_, [&](const auto& row) {
      const auto& [workspace, kind, name, version] = row.first;
      return workspace == write.workspace && kind == write.kind && name == write.name;
    });
  }
  void put(const RenameContainer& write) {
    const model::AssetContainer& container = write.container;
    auto versions = std::exchange(assets_, {});
    for (auto& [key, row] : versions) {
      model::Asset& asset = row.value;
      const bool is_renamed = asset.workspace == container.workspace &&
                              asset.kind == container.kind && asset.name == write.name;
      if (is_renamed) asset.name = container.name;
      assets_.emplace(AssetKey{asset.workspace, asset.kind, asset.name, asset.version}, row);
    }
    containers_.erase({container.workspace, container.kind, write.name, ""});
    put(PutContainer{container});
  }
  void put(const PutBlob& write) { blobs_[write.blob.key] = write.blob; }
  void put(const DeleteBlob& write) { blobs_.erase(write.key); }
  void put(const PutBlock& write) { blocks_[{write.block.key, write.block.id}] = write.block; }
  void put(const DropBlocks& write) {
    std::erase_if(blocks_, [&](const auto& row) { return row.first.first == write.key; });
  }
  void put(const AddUsage& write) { usage_.push_back(write.usage); }
  void put(const AddAudit& write) {
    const AuditHead head = audit_head();
    model::AuditRecord record = write.record;
    record.number = head.number + 1;
    const std::string text = document(record);
    audit_.push_back({record.number, text, model::audit_hash(head.hash, text)});
  }
  void put(const PutSecret& write) { secrets_.rows[write.secret.key] = write.secret; }
  void put(const DeleteSecret& write) { secrets_.rows.erase(write.key); }
  void put(const DropJobFiles&) {}
  void put(const DropMetrics&) {}
  void put(const DropCode&) {}
  void put(const DropUpload&) {}
  void put(const DropStaleBlocks&) {}
  void put(const Track&) {}
  void put(const PutResourceGroup&) {}
  void put(const DeleteResourceGroup&) {}

  core::State entities_;  ///< Its maps alone: no indexes, no settings.
  std::int64_t last_sequence_ = 0;
  std::int64_t last_node_sequence_ = 0;
  std::int64_t last_number_ = 0;
  std::map<model::DeploymentKey, std::int64_t> deployment_numbers_;
  NumberedMap<model::Asset> assets_;
  NumberedMap<model::AssetContainer> containers_;
  std::map<BlobKey, Blob> blobs_;
  std::map<std::pair<BlobKey, std::string>, Block> blocks_;
  std::vector<model::Usage> usage_;
  std::vector<model::AuditLine> audit_;
  FakeSecrets secrets_;
};

}  // namespace berth::store
