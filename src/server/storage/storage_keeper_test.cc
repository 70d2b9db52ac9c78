// SPDX-License-Identifier: Apache-2.0
// Sweeps, deletions and rules over a real store.
#include "server/storage/storage_keeper.h"

#include <gtest/gtest.h>

#include "base/digest.h"
#include "base/text.h"
#include "io/files/temporary_directory.h"
#include "server/plane/control_plane.h"
#include "server/plane/fake_effects.h"

namespace berth::server {
namespace {

using model::JobStatus;
using std::chrono::hours;

class StorageKeeperTest : public testing::Test {
 protected:
  StorageKeeperTest() {
    EXPECT_TRUE(plane.start());
    settle();
    workspace = plane.state().workspaces.begin()->first;
  }

  void settle() {
    plane.ledger.when_durable([this](const Status& durable) {
      EXPECT_TRUE(durable);
      loop.stop();
    });
    loop.run();
  }
  void commit(store::Batch batch) {
    plane.ledger.write(std::move(batch));
    settle();
  }

  store::Piece object(const std::string& content) {
    const std::string name = to_hex(sha256(content));
    auto file = io::TemporaryFile::make(home.path());
    EXPECT_TRUE(file && file->write(content) && objects.adopt(std::move(*file), name));
    return {.sha256 = name, .size = content.size()};
  }
  store::PutBlob blob(const std::string& path, const std::string& content) {
    return {
        {.key = {workspace, "azureml", path}, .pieces = {object(content)}, .size = content.size()}};
  }
  bool has(const std::string& content) {
    return objects.open_object(to_hex(sha256(content))).has_value();
  }
  model::Job over(std::int64_t sequence, const std::string& name, int hours_ago) {
    model::Job job{.key = {workspace, name}, .sequence = sequence, .status = JobStatus::Completed};
    command_of(job.spec.edit()).command = "true";
    job.created_at = job.modified_at = clock.now().wall - hours(hours_ago);
    job.ended_at = job.created_at;
    return job;
  }

  SweepReport sweep(bool is_trial = false) {
    std::optional<Result<SweepReport>> found;
    keeper.sweep(is_trial, [&](const Result<SweepReport>& report) {
      found = report;
      loop.stop();
    });
    loop.run();
    EXPECT_TRUE(*found);
    return found->value_or(SweepReport{});
  }
  Status remove(const std::string& name) {
    std::optional<Status> answer;
    const Status begun = keeper.delete_job({workspace, name}, [&](const Status& gone) {
      answer = gone;
      loop.stop();
    });
    if (!begun) return begun;
    loop.run();
    return *answer;
  }
  /// Ticks until it is so; the loop's threads do the work.
  template <typename Check>
  void tick_until(Check check) {
    for (int round = 0; round < 10'000 && !check(); ++round) {
      clock.advance(Duration(200));
      keeper.tick();
      loop.after(Duration(1), [this] { loop.stop(); });
      loop.run();
    }
    EXPECT_TRUE(check());
  }
  bool exists(const std::string& name) { return plane.jobs.find({workspace, name}).has_value(); }

  io::TemporaryDirectory home;
  io::Loop loop;
  SimClock clock;
  io::ObjectStore objects = *io::ObjectStore::open(home / "objects");
  std::unique_ptr<store::Store> store = *store::Store::open(home.path(), loop, objects);
  NoEffects effects;
  ControlPlane plane{*store, effects, clock, {}};
  StorageKeeper keeper{{.store = *store,
                        .ledger = plane.ledger,
                        .jobs = plane.jobs,
                        .objects = objects,
                        .clock = clock,
                        .hold_file = home / "sweep.off"},
                       home.path()};
  model::WorkspaceId workspace;
};

TEST_F(StorageKeeperTest, WhatARowNamesStaysAndTheRestGoes) {
  commit({blob("a", "named"), blob("b", "unnamed"), blob("c", "shared"), blob("d", "shared"),
          store::PutBlock{{.key = {workspace, "azureml", "e"},
                           .id = "1",
                           .piece = object("block"),
                           .created_at = clock.now().wall}}});
  commit({store::DeleteBlob{{workspace, "azureml", "b"}},
          store::DeleteBlob{{workspace, "azureml", "d"}}});

  const SweepReport told = sweep(true);
  EXPECT_EQ(told.objects, 1u);
  EXPECT_EQ(told.bytes, 7u);
  EXPECT_TRUE(has("unnamed"));
  EXPECT_EQ(sweep().objects, 1u);
  EXPECT_FALSE(has("unnamed"));
  EXPECT_TRUE(has("named") && has("shared") && has("block"));
  EXPECT_EQ(sweep().objects, 0u);
}

TEST_F(StorageKeeperTest, WhatIsStoredWhileASweepRunsStays) {
  for (int round = 0; round < 20; ++round) {
    commit({blob("a", "content")});
    commit({store::DeleteBlob{{workspace, "azureml", "a"}}});
    bool is_over = false;
    keeper.sweep(false, [&](const Result<SweepReport>&) { is_over = true; });
    // As many turns of the loop as the round has, so that it comes at another moment each time.
    for (int turn = 0; turn < round && !is_over; ++turn) {
      loop.after(Duration(0), [this] { loop.stop(); });
      loop.run();
    }
    commit({blob("again", "content")});
    tick_until([&] { return is_over; });
    EXPECT_TRUE(has("content")) << round;
    commit({store::DeleteBlob{{workspace, "azureml", "again"}}});
  }
}

TEST_F(StorageKeeperTest, AFileInTheStateDirectoryHoldsSweeps) {
  commit({blob("a", "content")});
  commit({store::DeleteBlob{{workspace, "azureml", "a"}}});
  ASSERT_TRUE(io::write_file(home / "sweep.off", ""));
  EXPECT_TRUE(sweep().is_held);
  EXPECT_TRUE(has("content"));
}

TEST_F(StorageKeeperTest, AJobWithVeryManyFilesGoesInParts) {
  store::Batch batch = {store::Put<model::Job>{over(1, "train", 1)}};
  const store::Piece piece = object("same");
  for (int i = 0; i < 1700; ++i) {
    batch.push_back(store::PutBlob{
        {.key = {workspace, "azureml", fmt::format("ExperimentRun/dcid.train/outputs/{}", i)},
         .pieces = {piece},
         .size = 4}});
  }
  commit(std::move(batch));

  bool is_gone = false;
  ASSERT_TRUE(keeper.delete_job({workspace, "train"}, [&](const Status& gone) {
    EXPECT_TRUE(gone);
    is_gone = true;
  }));
  EXPECT_TRUE(plane.jobs.is_going({workspace, "train"}));
  EXPECT_EQ(plane.jobs.submit({.key = {workspace, "train"}}).error().code, Code::Unavailable);
  EXPECT_EQ(keeper.delete_job({workspace, "train"}, {}).error().code, Code::Unavailable);
  tick_until([&] { return is_gone; });
  EXPECT_FALSE(exists("train"));
  EXPECT_FALSE(plane.jobs.is_going({workspace, "train"}));
  sweep();
  EXPECT_FALSE(has("same"));
}

TEST_F(StorageKeeperTest, WhatIsNotThereOrNotOverIsRefused) {
  EXPECT_EQ(remove("nobody").error().code, Code::NotFound);
  model::Job draft{.key = {workspace, "live"}};
  command_of(draft.spec.edit()).command = "true";
  ASSERT_TRUE(plane.jobs.submit(draft));
  settle();
  EXPECT_EQ(remove("live").error().code, Code::Conflict);
}

TEST_F(StorageKeeperTest, WhileItsDeletionIsOnItsWayAJobIsGone) {
  commit({store::Put<model::Job>{over(1, "train", 1)}});
  ASSERT_TRUE(plane.jobs.remove({workspace, "train"}));
  EXPECT_FALSE(exists("train"));
  EXPECT_FALSE(plane.jobs.rename({workspace, "train"}, "another"));
  settle();
  EXPECT_FALSE(exists("train"));
}

TEST_F(StorageKeeperTest, RulesDeleteWhatIsDueAndTheSweepFollows) {
  model::Job kept = over(3, "kept", 100);
  kept.tags[model::kKeepTag] = "yes";
  commit({store::Put<model::Job>{over(1, "old", 100)}, store::Put<model::Job>{over(2, "young", 1)},
          store::Put<model::Job>{kept},
          blob("ExperimentRun/dcid.old/user_logs/std_log.txt", "of old"),
          blob("ExperimentRun/dcid.young/user_logs/std_log.txt", "of young"),
          blob("ExperimentRun/dcid.kept/user_logs/std_log.txt", "of kept")});
  keeper.tick();
  EXPECT_TRUE(exists("old")) << "nothing goes without a rule";

  ASSERT_TRUE(plane.workspaces.set_retention(workspace, {.keep_jobs = hours(10)}));
  keeper.retention_changed();
  tick_until([&] { return !exists("old") && !has("of old"); });
  EXPECT_TRUE(exists("young") && exists("kept"));
  EXPECT_TRUE(has("of young") && has("of kept"));
  const auto lines = store->audit({.after = 0});
  EXPECT_NE(lines->back().text.find("\"retention\""), std::string::npos);

  ASSERT_TRUE(plane.workspaces.set_retention(workspace, {.keep_logs = std::chrono::minutes(30)}));
  keeper.retention_changed();
  tick_until([&] { return !has("of young"); });
  EXPECT_TRUE(exists("young") && has("of kept"));
}

}  // namespace
}  // namespace berth::server
