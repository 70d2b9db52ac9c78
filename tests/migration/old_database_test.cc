// SPDX-License-Identifier: Apache-2.0
// Databases that the executables of earlier commits have written (by tests/migration/record),
// opened by this one: nothing of what was in them is missing.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <string>

#include "base/record.h"
#include "io/files/object_store.h"
#include "io/files/temporary_directory.h"
#include "io/loop.h"
#include "store/database/schema.h"
#include "store/sqlite/sqlite_store.h"

namespace berth::store {
namespace {

/// By a member of its values, where the key is a GUID.
template <typename Map, typename Member>
const typename Map::mapped_type* named(const Map& map, Member member, const std::string& text) {
  const auto found =
      std::ranges::find_if(map, [&](const auto& entry) { return entry.second.*member == text; });
  return found == map.end() ? nullptr : &found->second;
}

class OldDatabase : public testing::Test {
 protected:
  /// Before anything is opened; afterwards `state` is what was loaded, with its indexes.
  void open(const std::string& recorded, std::int64_t version) {
    std::ifstream file(std::string(RECORDED) + "/" + recorded);
    const std::string sql{std::istreambuf_iterator<char>(file), {}};
    ASSERT_FALSE(sql.empty());
    {
      Database database = Database::open(directory / "berth.db", Database::Mode::ReadWrite).value();
      ASSERT_TRUE(database.execute(sql.c_str()));
      ASSERT_EQ(database.integer("PRAGMA user_version").value(), version);
    }
    auto opened = SqliteStore::open(directory.path(), loop, objects);
    ASSERT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
    state = store->load().value();
    core::rebuild_indexes(state);
    core::check_invariants(state);
  }

  io::TemporaryDirectory directory;
  io::Loop loop;
  io::ObjectStore objects = io::ObjectStore::open(directory / "objects").value();
  std::unique_ptr<SqliteStore> store;
  core::State state;
};

TEST_F(OldDatabase, OfSchema9HasAllItsEntities) {
  ASSERT_NO_FATAL_FAILURE(open("schema-9.sql", 9));

  ASSERT_EQ(state.workspaces.size(), 2u);
  const auto* ours = named(state.workspaces, &model::Workspace::name, "default");
  const auto* team = named(state.workspaces, &model::Workspace::name, "team");
  ASSERT_TRUE(ours != nullptr && team != nullptr);
  EXPECT_EQ(team->display_name, "The team");
  EXPECT_EQ(team->job_access, model::JobAccess::Read);

  ASSERT_EQ(state.sites.size(), 2u);
  EXPECT_EQ(state.sites.at("local").provider, model::ProviderKind::Local);
  EXPECT_EQ(state.sites.at("lab").slurm.partition, "main");
  ASSERT_EQ(state.computes.size(), 2u);
  EXPECT_EQ(state.computes.at({ours->id, "pool"}).name, "Pool");
  const model::Cluster* pool = cluster_in(&state.computes.at({ours->id, "pool"}));
  ASSERT_NE(pool, nullptr);
  EXPECT_EQ(pool->size, "Standard_DS3_v2");
  EXPECT_EQ(pool->scale.max_nodes, 2);
  EXPECT_EQ(state.computes.at({ours->id, "far"}).site, "lab");

  ASSERT_EQ(state.access.users.size(), 2u);
  const auto* ana = named(state.access.users, &model::User::name, "ana");
  ASSERT_NE(ana, nullptr);
  EXPECT_EQ(ana->display_name, "Ana");
  ASSERT_EQ(state.access.tokens.size(), 1u);
  EXPECT_EQ(state.access.tokens.begin()->second.user, ana->id);
  ASSERT_EQ(state.access.assignments.size(), 2u);
  EXPECT_TRUE(core::may(state.access, ana->id,
                        "Microsoft.MachineLearningServices/workspaces/jobs/write", ours->id));

  ASSERT_EQ(state.nodes.size(), 2u);
  EXPECT_EQ(state.nodes.at({"local"}).status, model::NodeStatus::Detached);
  EXPECT_EQ(state.nodes.at({"far-2"}).target, model::TargetId({{ours->id, "far"}}));
  EXPECT_EQ(store->last_node_sequence().value(), 2);
}

TEST_F(OldDatabase, OfSchema9HasItsJobsLiveAndOver) {
  ASSERT_NO_FATAL_FAILURE(open("schema-9.sql", 9));
  const model::WorkspaceId ours = named(state.workspaces, &model::Workspace::name, "default")->id;

  ASSERT_EQ(state.jobs.size(), 1u);
  EXPECT_EQ(state.jobs.begin()->first.name, "waits");
  EXPECT_EQ(state.queued, 1u);
  const std::vector<model::Job> listed = *store->jobs({.workspace = ours});
  ASSERT_EQ(listed.size(), 3u);
  EXPECT_EQ(store->jobs({.workspace = ours, .tag_key = "team", .tag_value = "red"})->size(), 1u);
  EXPECT_EQ(store->job({ours, "done"}).value()->status, model::JobStatus::Completed);
  EXPECT_EQ(store->job({ours, "failed"}).value()->outcome->exit_code, 3);
  EXPECT_EQ(store->last_sequence().value(), 3);
  EXPECT_TRUE(store->tracking().run({ours, "done"}).value());
  const AuditHead head = store->audit_head().value();
  EXPECT_GT(head.number, 5);
  EXPECT_EQ(store->audit({})->back().hash, head.hash);
}

TEST_F(OldDatabase, OfSchema9GoesOnAsOneOfToday) {
  ASSERT_NO_FATAL_FAILURE(open("schema-9.sql", 9));
  const model::WorkspaceId ours = named(state.workspaces, &model::Workspace::name, "default")->id;
  store->commit({Erase<model::Compute>{{ours, "pool"}}, Put{model::Site{.name = "another"}}}, {});
  store->flush();
  store.reset();

  store = SqliteStore::open(directory.path(), loop, objects).value();

  state = store->load().value();
  EXPECT_EQ(state.computes.size(), 1u);
  EXPECT_EQ(state.sites.size(), 3u);
}

TEST_F(OldDatabase, OfSchema10HasItsJobsAsCommands) {
  ASSERT_NO_FATAL_FAILURE(open("schema-10.sql", 10));
  const model::WorkspaceId ours = named(state.workspaces, &model::Workspace::name, "default")->id;

  const model::Job child = store->job({ours, "child"}).value().value();
  EXPECT_EQ(model::kind_of(child.spec->work), "Command");
  EXPECT_EQ(command_of(child.spec).command, "true");
  EXPECT_EQ(command_of(child.spec).environment_variables.at("COLOUR"), "red");
  EXPECT_EQ(command_of(child.spec).resources.instance_count, 1);
  EXPECT_FALSE(model::holds_anything(child));
  const std::vector<model::Job> children = *store->jobs({.workspace = ours, .parent = "done"});
  ASSERT_EQ(children.size(), 1u);
  EXPECT_EQ(children[0].key, child.key);
}

/// None of the recorded jobs ran: this is a row of one, as it was written then.
TEST(OldRow, OfAJobThatRunsHasItsNodes) {
  const auto row = R"({"key": {"workspace": "w", "name": "j"}, "sequence": 1, "attempt": 1,
                       "spec": {"type": "Command", "command": "true", "code_id": "azureml:c:1"},
                       "status": "Running", "members": [{"node": "n1", "status": "Running"}]})";
  const model::Job job = record::decode_text<model::Job>(row).value();
  ASSERT_TRUE(model::holds_nodes(job));
  EXPECT_EQ(members_of(job).at(0).node.text, "n1");
  EXPECT_EQ(command_of(job.spec).code_id, "azureml:c:1");
}

}  // namespace
}  // namespace berth::store
