// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/writer.h"

#include <gtest/gtest.h>

#include "store/database/schema.h"
#include "store/sqlite/fixture.h"

namespace berth::store {
namespace {

using model::AssetKind;

class CommitTest : public StoreFixture {};

TEST_F(CommitTest, BatchesThatWaitShareATransaction) {
  constexpr int kBatches = 1000;
  int done = 0;
  for (int sequence = 1; sequence <= kBatches; ++sequence) {
    store->commit({Put<model::Job>{job(sequence, "j" + std::to_string(sequence))}},
                  [&, sequence](const Status& status) {
                    EXPECT_TRUE(status);
                    EXPECT_EQ(++done, sequence);
                    if (done == kBatches) loop.stop();
                  });
  }
  run_loop();
  EXPECT_LT(store->transactions(), kBatches / 4);
  EXPECT_EQ(store->load()->jobs.size(), std::size_t{kBatches});
}

TEST_F(CommitTest, SixtyFourClientsAtOnceAllGetTheirAnswer) {
  int next = 64;
  int done = 0;
  const std::function<void(int)> submit = [&](int sequence) {
    store->commit({Put<model::Job>{job(sequence, "j" + std::to_string(sequence))}},
                  [&](const Status& status) {
                    EXPECT_TRUE(status);
                    ++done;
                    if (next < 2000) {
                      submit(++next);
                    } else if (done == 2000) {
                      loop.stop();
                    }
                  });
  };
  for (int client = 1; client <= 64; ++client) submit(client);
  run_loop();
  EXPECT_LT(store->transactions(), 1000u);
  EXPECT_EQ(store->last_sequence().value(), 2000);
}

TEST_F(CommitTest, AnAnswerMeansThatReadersSeeIt) {
  bool seen = false;
  store->commit({Put<model::Job>{job(1, "j")}}, [&](const Status&) {
    seen = store->job({{"w"}, "j"}).value().has_value();
    loop.stop();
  });
  run_loop();
  EXPECT_TRUE(seen);
}

TEST_F(CommitTest, ReadsByKeySeeWhatIsNotOnDiskYet) {
  const Blob waiting = blob("x");
  store->commit({PutAsset{asset("a", "1")}, PutContainer{{.workspace = {"w"}, .name = "a"}},
                 PutBlob{waiting}},
                {});
  EXPECT_TRUE(store->asset({"w"}, AssetKind::Data, "a", "1").value());
  EXPECT_TRUE(store->container({"w"}, AssetKind::Data, "a").value());
  EXPECT_EQ(store->blob(waiting.key).value()->size, waiting.size);

  store->commit({DeleteContainer{{"w"}, AssetKind::Data, "a"}, DeleteBlob{waiting.key}}, {});
  EXPECT_FALSE(store->asset({"w"}, AssetKind::Data, "a", "1").value());
  EXPECT_FALSE(store->container({"w"}, AssetKind::Data, "a").value());
  EXPECT_FALSE(store->blob(waiting.key).value());
}

TEST_F(CommitTest, ARefusedBatchAndAllBehindItLeaveNoTrace) {
  commit({Put<model::Job>{job(1, "j")}});
  const Piece missing{.sha256 = "not an object", .size = 1};
  Blob impossible = blob("x");
  impossible.pieces = {missing};

  std::vector<std::string> messages;
  const auto note = [&](const Status& status) {
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, Code::Unavailable);
    messages.push_back(status.error().message);
  };
  store->commit({PutBlob{impossible}}, note);
  store->flush();
  store->commit({PutAsset{asset("a", "1")}}, note);
  store->commit({Put<model::Job>{job(2, "k")}}, [&](const Status& status) {
    note(status);
    loop.stop();
  });
  run_loop();

  ASSERT_EQ(messages.size(), 3u);
  EXPECT_FALSE(messages[0].empty());
  EXPECT_EQ(messages[1], messages[0]);
  EXPECT_EQ(messages[2], messages[0]);
  EXPECT_FALSE(store->blob(impossible.key).value());
  EXPECT_FALSE(store->asset({"w"}, AssetKind::Data, "a", "1").value());
  EXPECT_EQ(store->load()->jobs.size(), 1u);

  store->resume();
  commit({Put<model::Job>{job(2, "k")}});
  EXPECT_EQ(store->load()->jobs.size(), 2u);
}

TEST_F(CommitTest, ABatchIsAllOrNothing) {
  commit({Put<model::Job>{job(1, "taken")}});
  EXPECT_FALSE(try_commit({Put<model::Job>{job(2, "first")}, Put<model::Job>{job(3, "taken")}}));
  EXPECT_FALSE(store->job({{"w"}, "first"}).value());
  EXPECT_EQ(store->last_sequence().value(), 1);
}

/// What the writer keeps in mind from one transaction to the next is what the database has.
TEST_F(CommitTest, WhatWasRolledBackIsForgotten) {
  commit({Put<model::Job>{job(1, "taken")}});
  const model::Node far{.id = {"far"}, .sequence = 9};
  EXPECT_FALSE(try_commit({Put<model::Node>{far}, Put<model::Job>{job(9, "first")}, AddAudit{},
                           Put<model::Job>{job(10, "taken")}}));
  store->resume();

  commit({Put<model::Node>{model::Node{.id = {"near"}, .sequence = 2}},
          Put<model::Job>{job(2, "first")}, AddAudit{}});
  EXPECT_EQ(store->last_sequence().value(), 2);
  EXPECT_EQ(store->last_node_sequence().value(), 2);
  EXPECT_EQ(store->audit_head()->number, 1);
  EXPECT_EQ(store->job({{"w"}, "first"}).value()->sequence, 2);
}

TEST_F(CommitTest, JobsCommitInAnyOrderOfTheirSequences) {
  commit({Put<model::Job>{job(5, "e")}, Put<model::Job>{job(3, "c")}});
  commit({Put<model::Job>{job(4, "d")}, Put<model::Job>{job(3, "c", model::JobStatus::Completed)}});
  reopen();
  EXPECT_EQ(store->last_sequence().value(), 5);
  EXPECT_EQ(store->load()->jobs.size(), 2u);
  EXPECT_TRUE(store->job({{"w"}, "c"}).value());
}

TEST_F(CommitTest, StoppingTheStoreFinishesWhatWaits) {
  for (int sequence = 1; sequence <= 100; ++sequence) {
    store->commit({Put<model::Job>{job(sequence, "j" + std::to_string(sequence))}}, {});
  }
  reopen();
  EXPECT_EQ(store->load()->jobs.size(), 100u);
}

/// A writer on a database that cannot grow beyond a few pages: what a full disk looks like.
TEST_F(CommitTest, AFullDiskRefusesAndRecoversWhenThereIsRoom) {
  store.reset();
  const std::string path = directory() + "/small.db";
  Database database = Database::open(path, Database::Mode::ReadWrite).value();
  ASSERT_TRUE(database.execute("PRAGMA journal_mode = WAL"));
  ASSERT_TRUE(migrate(database));
  ASSERT_TRUE(database.execute("PRAGMA max_page_count = 40"));
  Writer writer(std::move(database), {.loop = loop, .objects = objects, .path = path});

  const auto commit_to = [&](Batch batch) {
    Status answer = fail(Code::Internal, "no answer");
    writer.submit(std::move(batch), [&](const Status& status) {
      answer = status;
      loop.stop();
    });
    run_loop();
    return answer;
  };
  model::Job large = job(1, "large");
  large.description = std::string(400'000, 'x');
  const Status refused = commit_to({Put<model::Job>{large}});
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, Code::OutOfSpace);

  EXPECT_FALSE(commit_to({Put<model::Job>{job(2, "small")}}));
  writer.resume();
  EXPECT_TRUE(commit_to({Put<model::Job>{job(2, "small")}}));
}

}  // namespace
}  // namespace berth::store
