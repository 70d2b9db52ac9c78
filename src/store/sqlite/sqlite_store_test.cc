// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "store/database/schema.h"
#include "store/sqlite/fixture.h"

namespace berth::store {
namespace {

using model::AssetKind;
using model::JobStatus;
using View = JobQuery::View;

class StoreTest : public StoreFixture {
 protected:
  void put(model::Job job) { commit({Put<model::Job>{std::move(job)}}); }
  std::vector<std::int64_t> listed(JobQuery query) {
    query.workspace = {"w"};
    std::vector<std::int64_t> sequences;
    const auto jobs = store->jobs(query);
    EXPECT_TRUE(jobs) << jobs.error().message;
    for (const model::Job& job : *jobs) sequences.push_back(job.sequence);
    return sequences;
  }
};

using Sequences = std::vector<std::int64_t>;

TEST_F(StoreTest, ReopenedItHoldsWhatWasCommitted) {
  commit({Put<model::Workspace>{{.id = {"w"}, .name = "default"}}, Put<model::Job>{job(1, "live")},
          Put<model::Job>{job(2, "over", JobStatus::Completed)},
          Put<model::Node>{{.id = {"local"}, .slots = 3, .work_root = "/r"}}});

  reopen();

  core::State state = store->load().value();
  core::rebuild_indexes(state);
  EXPECT_EQ(state.workspaces.at({"w"}).name, "default");
  EXPECT_EQ(state.nodes.at({"local"}).slots, 3);
  ASSERT_EQ(state.jobs.size(), 1u);
  EXPECT_EQ(command_of(state.jobs.at({{"w"}, "live"}).spec).command, "true");
  EXPECT_EQ(state.queued, 1u);
  core::check_invariants(state);
  EXPECT_EQ(store->job({{"w"}, "over"}).value()->status, JobStatus::Completed);
  EXPECT_FALSE(store->job({{"w"}, "unknown"}).value());
}

TEST_F(StoreTest, TenThousandQueuedJobsComeBackInTheirOrder) {
  constexpr std::int64_t kJobs = 10'000;
  Batch batch;
  for (std::int64_t number = 1; number <= kJobs; ++number) {
    model::Job queued = job(number, "j" + std::to_string(number));
    queued.spec.edit().priority = static_cast<int>(1 + number * 7 % 3);
    batch.push_back(Put<model::Job>{queued});
  }
  commit(std::move(batch));

  reopen();

  core::State state = store->load().value();
  core::rebuild_indexes(state);
  ASSERT_EQ(state.queued, static_cast<std::size_t>(kJobs));
  core::Place before{-4, 0};
  for (const auto& [standing, key] : state.targets.begin()->second.line) {
    const model::Job& queued = state.jobs.at(key);
    const core::Place place{-queued.spec->priority, queued.sequence};
    EXPECT_LT(before, place);
    before = place;
  }
}

TEST_F(StoreTest, OneRowAmongManyThatCannotBeReadIsAnError) {
  constexpr std::int64_t kJobs = 5'000;
  Batch batch;
  for (std::int64_t number = 1; number <= kJobs; ++number) {
    batch.push_back(Put<model::Job>{job(number, "j" + std::to_string(number))});
  }
  commit(std::move(batch));
  store.reset();
  for (const std::int64_t broken : {kJobs, kJobs / 2 + 7, std::int64_t{1}}) {
    {
      Database database =
          Database::open(directory() + "/berth.db", Database::Mode::ReadWrite).value();
      ASSERT_TRUE(database.run("UPDATE jobs SET doc = '{' WHERE sequence = ?", {broken}));
    }
    reopen();

    const auto loaded = store->load();

    ASSERT_FALSE(loaded) << broken;
    EXPECT_NE(loaded.error().message.find("a row cannot be read"), std::string::npos)
        << loaded.error().message;
    store.reset();
  }
}

TEST_F(StoreTest, AJobThatEndsIsNotLoadedAgain) {
  put(job(1, "j"));
  put(job(1, "j", JobStatus::Failed));
  EXPECT_TRUE(store->load()->jobs.empty());
  EXPECT_EQ(listed({}), Sequences{1});
}

TEST_F(StoreTest, JobsAreListedNewestFirstInPages) {
  for (int sequence = 1; sequence <= 5; ++sequence)
    put(job(sequence, "j" + std::to_string(sequence)));
  EXPECT_EQ(listed({.limit = 2}), (Sequences{5, 4}));
  EXPECT_EQ(listed({.before = 4, .limit = 2}), (Sequences{3, 2}));
  EXPECT_EQ(listed({.before = 2}), Sequences{1});
  EXPECT_TRUE(store->jobs({.workspace = {"other"}})->empty());
}

TEST_F(StoreTest, ViewsTellArchivedJobsApart) {
  for (int sequence = 1; sequence <= 6; ++sequence) {
    model::Job made = job(sequence, "j" + std::to_string(sequence));
    made.is_archived = sequence % 2 == 0;
    put(made);
  }
  EXPECT_EQ(listed({.view = View::ActiveOnly}), (Sequences{5, 3, 1}));
  EXPECT_EQ(listed({.view = View::ArchivedOnly}), (Sequences{6, 4, 2}));
  EXPECT_EQ(listed({.view = View::All, .limit = 4}), (Sequences{6, 5, 4, 3}));
}

TEST_F(StoreTest, JobsAreFoundByTypeExperimentAndTag) {
  model::Job first = job(1, "a");
  first.tags = {{"team", "red"}, {"owner", "x"}};
  first.spec.edit().experiment_name = "exp";
  model::Job second = job(2, "b");
  second.tags = {{"team", "blue"}};
  second.spec.edit().experiment_name = "exp";
  commit({Put<model::Job>{first}, Put<model::Job>{second}, Put<model::Job>{job(3, "c")}});

  EXPECT_EQ(listed({.tag_key = "team"}), (Sequences{2, 1}));
  EXPECT_EQ(listed({.tag_key = "team", .tag_value = "red"}), Sequences{1});
  EXPECT_EQ(listed({.tag_key = "team", .before = 2}), Sequences{1});
  EXPECT_EQ(listed({.tag_key = "team", .experiment = "other"}), Sequences{});
  EXPECT_EQ(listed({.experiment = "exp"}), (Sequences{2, 1}));
  EXPECT_EQ(listed({.type = "Command"}), (Sequences{3, 2, 1}));
  EXPECT_EQ(listed({.type = "Sweep"}), Sequences{});
}

TEST_F(StoreTest, TagsFollowTheirJob) {
  model::Job tagged = job(1, "a");
  tagged.tags = {{"k", "old"}, {"gone", "x"}};
  put(tagged);
  tagged.tags = {{"k", "new"}};
  put(tagged);
  EXPECT_EQ(listed({.tag_key = "k", .tag_value = "new"}), Sequences{1});
  EXPECT_EQ(listed({.tag_key = "k", .tag_value = "old"}), Sequences{});
  EXPECT_EQ(listed({.tag_key = "gone"}), Sequences{});
  commit({Erase<model::Job>{tagged.key}});
  EXPECT_EQ(listed({.tag_key = "k"}), Sequences{});
}

TEST_F(StoreTest, ASequenceIsNotGivenOutAgainAfterItsJobIsDeleted) {
  EXPECT_EQ(store->last_sequence().value(), 0);
  put(job(7, "j"));
  commit({Erase<model::Job>{{{"w"}, "j"}}});
  reopen();
  EXPECT_EQ(store->last_sequence().value(), 7);
  EXPECT_FALSE(store->job({{"w"}, "j"}).value());
}

TEST_F(StoreTest, TextThatIsNotUtf8CannotMakeARowUnreadable) {
  model::Job broken = job(1, "j");
  broken.description = "half \xe2\x82";
  put(broken);
  EXPECT_EQ(store->load().value().jobs.begin()->second.description,
            "half \xef\xbf\xbd\xef\xbf\xbd");
}

TEST_F(StoreTest, TheLatestAssetIsTheLastMadeThatIsNotArchived) {
  for (const char* version : {"2", "10", "1"}) commit({PutAsset{asset("data", version)}});
  EXPECT_EQ(store->latest_asset({"w"}, AssetKind::Data, "data").value()->version, "1");

  model::Asset archived = asset("data", "1");
  archived.is_archived = true;
  commit({PutAsset{archived}});
  EXPECT_EQ(store->latest_asset({"w"}, AssetKind::Data, "data").value()->version, "10");
  EXPECT_EQ(store->assets(assets_named("data"))->size(), 2u);
  EXPECT_FALSE(store->latest_asset({"w"}, AssetKind::Model, "data").value());
}

TEST_F(StoreTest, AssetsAreFoundByHashAndTag) {
  model::Asset hashed = asset("code", "1");
  hashed.properties = {{"hash_sha256", "abc"}};
  hashed.tags = {{"it's", "x"}};
  commit({PutAsset{hashed}, PutAsset{asset("code", "2")}, PutAsset{asset("other", "1")}});

  AssetQuery query{.workspace = {"w"}, .hash = "abc"};
  ASSERT_EQ(store->assets(query)->size(), 1u);
  EXPECT_EQ(store->assets(query)->front().name, "code");
  query = assets_named("code");
  query.tag_key = "it's";
  EXPECT_EQ(store->assets(query)->size(), 1u);
  query.tag_key = "its";
  EXPECT_TRUE(store->assets(query)->empty());
}

TEST_F(StoreTest, AssetsComeInPagesNewestFirst) {
  for (int version = 1; version <= 5; ++version) {
    commit({PutAsset{asset("data", std::to_string(version))}});
  }
  AssetQuery query = assets_named("data");
  query.skip = 1;
  query.limit = 2;
  const auto page = store->assets(query).value();
  ASSERT_EQ(page.size(), 2u);
  EXPECT_EQ(page[0].version, "4");
  EXPECT_EQ(page[1].version, "3");
}

TEST_F(StoreTest, AContainerTakesItsVersionsWithIt) {
  commit({PutContainer{{.workspace = {"w"}, .name = "data", .latest_version = "1"}},
          PutAsset{asset("data", "1")}, PutAsset{asset("other", "1")}});
  EXPECT_EQ(store->containers({.workspace = {"w"}})->size(), 1u);
  EXPECT_EQ(store->container({"w"}, AssetKind::Data, "data").value()->latest_version, "1");

  commit({DeleteContainer{{"w"}, AssetKind::Data, "data"}});
  EXPECT_FALSE(store->container({"w"}, AssetKind::Data, "data").value());
  EXPECT_FALSE(store->asset({"w"}, AssetKind::Data, "data", "1").value());
  EXPECT_TRUE(store->asset({"w"}, AssetKind::Data, "other", "1").value());
}

TEST_F(StoreTest, BlobsAreListedByPrefixInOrder) {
  for (const char* path : {"a/1", "a/2", "a/3", "a", "a0", "b/1"}) commit({PutBlob{blob(path)}});
  const auto paths = [&](BlobQuery query) {
    query.workspace = {"w"};
    query.container = "c";
    std::vector<std::string> found;
    const std::vector<Blob> blobs = store->blobs(query).value();
    for (const Blob& each : blobs) found.push_back(each.key.path);
    return found;
  };
  using Paths = std::vector<std::string>;
  EXPECT_EQ(paths({.prefix = "a/"}), (Paths{"a/1", "a/2", "a/3"}));
  EXPECT_EQ(paths({.prefix = "a/", .after = "a/1", .limit = 1}), Paths{"a/2"});
  EXPECT_EQ(paths({.prefix = "a/", .after = "a"}), (Paths{"a/1", "a/2", "a/3"}));
  EXPECT_EQ(paths({.after = "a/3"}), (Paths{"a0", "b/1"}));
  EXPECT_EQ(paths({}).size(), 6u);
  EXPECT_EQ(paths({.prefix = "\xff"}), Paths{});
}

TEST_F(StoreTest, ABlobComesBackWithAllItsFacts) {
  Blob made = blob("x");
  made.metadata = {{"Name", "v"}};
  made.content_md5 = "md5";
  made.etag = "0x1";
  commit({PutBlob{made}});
  const Blob found = *store->blob(made.key).value();
  EXPECT_EQ(found.pieces, made.pieces);
  EXPECT_EQ(found.key, made.key);
  EXPECT_EQ(found.metadata, made.metadata);
  EXPECT_EQ(found.content_md5, "md5");
  EXPECT_EQ(found.etag, "0x1");

  commit({DeleteBlob{made.key}});
  EXPECT_FALSE(store->blob(made.key).value());
}

TEST_F(StoreTest, BlocksWaitUntilTheyAreDropped) {
  const BlobKey key = blob("x").key;
  commit({PutBlock{{.key = key, .id = "MQ==", .piece = object("1")}},
          PutBlock{{.key = key, .id = "Mg==", .piece = object("2")}},
          PutBlock{{.key = key, .id = "MQ==", .piece = object("3")}}});
  const auto blocks = store->blocks(key).value();
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].id, "MQ==");
  EXPECT_EQ(blocks[0].piece, object("3"));
  commit({DropBlocks{key}});
  EXPECT_TRUE(store->blocks(key)->empty());
}

TEST_F(StoreTest, AWorkspaceTakesEverythingWithIt) {
  commit({Put<model::Workspace>{{.id = {"w"}}}, Put<model::Job>{job(1, "j")},
          PutAsset{asset("a", "1")}, PutBlob{blob("x")}, Put<model::Workspace>{{.id = {"v"}}}});
  commit({Erase<model::Workspace>{{"w"}}});
  const core::State state = store->load().value();
  EXPECT_EQ(state.workspaces.size(), 1u);
  EXPECT_TRUE(state.jobs.empty());
  EXPECT_FALSE(store->asset({"w"}, AssetKind::Data, "a", "1").value());
  EXPECT_FALSE(store->blob(blob("x").key).value());
}

TEST_F(StoreTest, OnlyTheOwnerMayReadTheFiles) {
  commit({Put<model::Job>{job(1, "j")}});
  for (const char* name : {"/berth.db", "/berth.db-wal"}) {
    struct stat facts {};
    ASSERT_EQ(::stat((directory() + name).c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600u) << name;
  }
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(StoreTest, ADatabaseOfANewerVersionIsRefusedAndLeftAsItIs) {
  commit({Put<model::Job>{job(1, "j")}});
  store.reset();
  const std::string path = directory() + "/berth.db";
  {
    Database database = Database::open(path, Database::Mode::ReadWrite).value();
    ASSERT_TRUE(database.execute("PRAGMA user_version = 99"));
  }
  const std::string before = bytes_of(path);

  const auto refused = SqliteStore::open(directory(), loop, objects);

  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("schema version 99"), std::string::npos);
  EXPECT_NE(refused.error().message.find(std::to_string(schema_version())), std::string::npos);
  EXPECT_EQ(bytes_of(path), before);
}

/// As Berth 0.0 left it, with a job that runs: its documents have a node where they now have
/// members.
constexpr const char* kFirstVersionRows = R"(
INSERT INTO workspaces (id, doc) VALUES ('w', '{"id":"w","name":"default"}');
INSERT INTO nodes (id, doc) VALUES ('local', '{"id":"local","target":"local","status":"Ready"}');
INSERT INTO jobs (sequence, workspace, name, live, archived, type, experiment, tags, doc) VALUES
  (1, 'w', 'runs', 1, 0, 'Command', 'Default', '{}', '{"key":{"workspace":"w","name":"runs"},
   "sequence":1,"status":"Running","attempt":2,"node":"local","modified_at":1700000000000}'),
  (2, 'w', 'waits', 1, 0, 'Command', 'Default', '{}',
   '{"key":{"workspace":"w","name":"waits"},"sequence":2,"status":"Queued"}'),
  (3, 'w', 'over', 0, 0, 'Command', 'Default', '{}',
   '{"key":{"workspace":"w","name":"over"},"sequence":3,"status":"Completed"}');
INSERT INTO meta (key, value) VALUES ('last_sequence', 3);
)";

TEST_F(StoreTest, ADatabaseOfTheFirstVersionIsBroughtForwardWithItsJobs) {
  store.reset();
  const std::string path = directory() + "/berth.db";
  std::filesystem::remove(path);
  {
    Database database = Database::open(path, Database::Mode::ReadWrite).value();
    ASSERT_TRUE(migrate(database, 1));
    ASSERT_TRUE(database.execute(kFirstVersionRows));
  }

  reopen();

  core::State state = store->load().value();
  core::rebuild_indexes(state);
  ASSERT_EQ(state.jobs.size(), 2u);
  const model::Job& runs = state.jobs.at({{"w"}, "runs"});
  EXPECT_EQ(runs.attempt, 2);
  ASSERT_EQ(members_of(runs).size(), 1u);
  EXPECT_EQ(members_of(runs)[0].node.text, "local");
  EXPECT_EQ(state.queued, 1u);
  EXPECT_EQ(store->job({{"w"}, "over"}).value()->status, model::JobStatus::Completed);
  EXPECT_EQ(store->last_sequence().value(), 3);
}

TEST_F(StoreTest, AFileThatIsNoDatabaseIsRefusedAndLeftAsItIs) {
  store.reset();
  const std::string path = directory() + "/berth.db";
  const std::string text(8192, 'x');
  std::ofstream(path, std::ios::trunc) << text;

  EXPECT_FALSE(SqliteStore::open(directory(), loop, objects));
  EXPECT_EQ(bytes_of(path), text);
}

TEST(Plans, TheNewestJobsAreFoundWithoutSortingAllOfThem) {
  Database database = Database::open(":memory:", Database::Mode::ReadWrite).value();
  ASSERT_TRUE(migrate(database));
  for (const char* sql :
       {"SELECT doc FROM jobs INDEXED BY jobs_by_age WHERE workspace = ? AND archived = ? AND "
        "sequence < ? ORDER BY sequence DESC LIMIT ?",
        "SELECT doc FROM jobs INDEXED BY jobs_by_experiment WHERE workspace = ? AND experiment = ? "
        "AND archived = ? AND sequence < ? ORDER BY sequence DESC LIMIT ?",
        "SELECT doc FROM job_tags CROSS JOIN jobs ON jobs.sequence = job_tags.sequence WHERE "
        "job_tags.workspace = ? AND key = ? AND value = ? AND archived = ? AND job_tags.sequence < "
        "? "
        "ORDER BY job_tags.sequence DESC LIMIT ?",
        "SELECT doc FROM assets INDEXED BY assets_by_age WHERE workspace = ? AND kind = ? "
        "AND name = ? AND archived = 0 ORDER BY id DESC LIMIT 1",
        "SELECT doc FROM blobs WHERE workspace = ? AND container = ? AND path > ? AND path < ? "
        "ORDER BY path LIMIT ?"}) {
    Cursor plan = database.query(std::string("EXPLAIN QUERY PLAN ") + sql).value();
    while (plan.next().value()) {
      EXPECT_EQ(plan.text(3).find("SCAN"), std::string_view::npos) << plan.text(3) << "\n" << sql;
      EXPECT_EQ(plan.text(3).find("TEMP B-TREE"), std::string_view::npos) << plan.text(3);
    }
  }
}

// ---- Pages of large rows -----------------------------------------------------------------------

TEST_F(StoreTest, APageOfLargeJobsIsShorterAndTheNextBeginsBehindIt) {
  for (int number = 1; number <= 12; ++number) {
    model::Job large = job(number, fmt::format("j{}", number), JobStatus::Completed);
    command_of(large.spec.edit()).command = std::string(1u << 20, 'x');
    large.is_archived = number % 3 == 0;
    put(large);
  }
  for (const View view : {View::ActiveOnly, View::ArchivedOnly, View::All}) {
    Sequences all;
    JobQuery query{.workspace = {"w"}, .view = view, .limit = 100};
    for (bool has_more = true; has_more;) {
      const Page<model::Job> page = store->jobs(query).value();
      ASSERT_FALSE(page.empty());
      EXPECT_LE(page.size(), view == View::All ? 8u : 4u);
      for (const model::Job& each : page) all.push_back(each.sequence);
      query.before = page.back().sequence;
      has_more = page.is_cut;
    }
    EXPECT_EQ(all.size(), view == View::ActiveOnly ? 8u : view == View::ArchivedOnly ? 4u : 12u);
    EXPECT_TRUE(std::ranges::is_sorted(all, std::greater()));
  }
}

TEST_F(StoreTest, ChangingOneTagLeavesTheOthersAsTheyAre) {
  model::Job tagged = job(1, "tagged");
  tagged.tags = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
  put(tagged);

  tagged.tags = {{"a", "1"}, {"b", "4"}, {"d", "5"}};
  put(tagged);

  EXPECT_EQ(listed({.tag_key = "a", .tag_value = "1"}), Sequences{1});
  EXPECT_EQ(listed({.tag_key = "b", .tag_value = "4"}), Sequences{1});
  EXPECT_EQ(listed({.tag_key = "d"}), Sequences{1});
  EXPECT_EQ(listed({.tag_key = "b", .tag_value = "2"}), Sequences{});
  EXPECT_EQ(listed({.tag_key = "c"}), Sequences{});
  const auto run = store->tracking().logged_run(tagged.key);
  ASSERT_TRUE(run && *run);
  for (const auto& [key, value] : tagged.tags) EXPECT_EQ((*run)->tags.at(key), value);
  EXPECT_FALSE((*run)->tags.contains("c"));
}

}  // namespace
}  // namespace berth::store
