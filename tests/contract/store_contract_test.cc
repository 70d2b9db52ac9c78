// SPDX-License-Identifier: Apache-2.0
// What store::Store promises, tried on the real one and on the one in memory that the tests of the
// control plane and the simulator rest on.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/contract/sample_value.h"
#include "tests/contract/store_kind.h"

namespace berth::contract {
namespace {

using model::AssetKind;
using model::JobStatus;
using store::Batch;
using store::Erase;
using store::Put;
using Sequences = std::vector<std::int64_t>;
using View = store::JobQuery::View;

model::Job job(std::int64_t sequence, const std::string& name,
               JobStatus status = JobStatus::Queued) {
  return {.key = {{"w"}, name}, .sequence = sequence, .status = status};
}
model::Asset asset(const std::string& name, const std::string& version) {
  return {.workspace = {"w"}, .name = name, .version = version};
}
store::Blob blob(const std::string& path) { return {.key = {{"w"}, "c", path}}; }

template <typename Kind>
class StoreContract : public testing::Test {
 protected:
  StoreContract() {
    EXPECT_TRUE(commit({Put{model::Workspace{.id = {"w"}}},
                        Put{model::TemplateDeployment{.id = kDeployment, .name = "of samples"}}}));
  }

  store::Store& store() { return kind_.store(); }
  void settle() { kind_.settle(); }

  /// Hands it over; settle() makes it answered.
  void hand_over(Batch batch) {
    store().commit(std::move(batch), [this](const Status& status) { answers.push_back(status); });
  }
  Status commit(Batch batch) {
    hand_over(std::move(batch));
    settle();
    return answers.back();
  }
  store::PutBlock block(const std::string& path, const std::string& id) {
    return {{.key = blob(path).key, .id = id, .piece = kind_.piece()}};
  }
  /// Two jobs under one name: no store can hold that.
  Batch impossible() { return {Put{job(998, "twice")}, Put{job(999, "twice")}}; }

  Sequences listed(store::JobQuery query) {
    query.workspace = {"w"};
    Sequences found;
    const std::vector<model::Job> page = *store().jobs(query);
    for (const model::Job& each : page) found.push_back(each.sequence);
    return found;
  }
  /// Every entity of the State, as text.
  std::vector<std::string> loaded() {
    std::vector<std::string> all;
    const core::State state = store().load().value();
    core::for_each_entity([&]<typename T>() {
      for (const auto& [key, value] : core::Entity<T>::map(state)) {
        EXPECT_EQ(key, core::Entity<T>::key(value));
        all.push_back(record::encode_text(value));
      }
    });
    return all;
  }

  std::vector<Status> answers;

 private:
  Kind kind_;
};

TYPED_TEST_SUITE(StoreContract, StoreKinds, StoreKindNames);

// ---- Entities ----------------------------------------------------------------------------------

TYPED_TEST(StoreContract, EveryEntityComesBackAsItWasPut) {
  core::for_each_entity([&]<typename T>() {
    SCOPED_TRACE(std::string(core::Entity<T>::kKind));
    const T first = sample<T>(1);
    const T second = sample<T>(2);
    ASSERT_TRUE(this->commit({Put{first}, Put{second}}));
    const core::State state = this->store().load().value();
    const auto& all = core::Entity<T>::map(state);
    for (const T& each : {first, second}) {
      const auto found = all.find(core::Entity<T>::key(each));
      ASSERT_NE(found, all.end());
      EXPECT_EQ(record::encode_text(found->second), record::encode_text(each));
    }
  });
}

TYPED_TEST(StoreContract, EveryEntityIsReplacedByTheNextOfItsKey) {
  core::for_each_entity([&]<typename T>() {
    SCOPED_TRACE(std::string(core::Entity<T>::kKind));
    const T before = sample<T>(3);
    T after = sample<T>(4);
    give_key(after, before);
    if constexpr (std::is_same_v<T, model::Job>) after.sequence = before.sequence;
    const std::size_t others = this->loaded().size();
    ASSERT_TRUE(this->commit({Put{before}}));
    ASSERT_TRUE(this->commit({Put{after}}));
    EXPECT_EQ(this->loaded().size(), others + 1);
    const core::State state = this->store().load().value();
    const auto& all = core::Entity<T>::map(state);
    ASSERT_TRUE(all.contains(core::Entity<T>::key(before)));
    EXPECT_EQ(record::encode_text(all.at(core::Entity<T>::key(before))),
              record::encode_text(after));
  });
}

TYPED_TEST(StoreContract, EveryEntityIsErasedByItsKeyAndNoOther) {
  core::for_each_entity([&]<typename T>() {
    SCOPED_TRACE(std::string(core::Entity<T>::kKind));
    const T goes = sample<T>(1);
    const T stays = sample<T>(2);
    ASSERT_TRUE(this->commit({Put{goes}, Put{stays}}));
    ASSERT_TRUE(this->commit({Erase<T>{core::Entity<T>::key(goes)}}));
    const core::State state = this->store().load().value();
    const auto& all = core::Entity<T>::map(state);
    EXPECT_FALSE(all.contains(core::Entity<T>::key(goes)));
    EXPECT_TRUE(all.contains(core::Entity<T>::key(stays)));
    ASSERT_TRUE(this->commit({Erase<T>{core::Entity<T>::key(goes)}})) << "once more";
  });
}

TYPED_TEST(StoreContract, WhatIsLoadedHasNoIndexes) {
  ASSERT_TRUE(this->commit({Put{job(1, "a")}}));
  EXPECT_TRUE(this->store().load()->targets.empty());
}

TYPED_TEST(StoreContract, AJobThatIsOverIsKeptAndNotLoaded) {
  ASSERT_TRUE(this->commit({Put{job(1, "a")}}));
  ASSERT_TRUE(this->commit({Put{job(1, "a", JobStatus::Failed)}}));
  EXPECT_TRUE(this->store().load()->jobs.empty());
  EXPECT_EQ(this->store().job({{"w"}, "a"}).value()->status, JobStatus::Failed);
}

TYPED_TEST(StoreContract, SequencesOutliveWhatHadThem) {
  EXPECT_EQ(this->store().last_sequence().value(), 0);
  EXPECT_EQ(this->store().last_node_sequence().value(), 0);
  ASSERT_TRUE(this->commit(
      {Put{job(7, "a")}, Put{job(3, "b")}, Put{model::Node{.id = {"n"}, .sequence = 5}}}));
  ASSERT_TRUE(this->commit({Erase<model::Job>{{{"w"}, "a"}}, Erase<model::Node>{{"n"}}}));
  EXPECT_EQ(this->store().last_sequence().value(), 7);
  EXPECT_EQ(this->store().last_node_sequence().value(), 5);
}

// ---- Commits -----------------------------------------------------------------------------------

TYPED_TEST(StoreContract, NothingIsThereBeforeItIsAnsweredAndAnswersComeInOrder) {
  std::string order;
  for (const char* name : {"a", "b", "c"}) {
    const std::int64_t sequence = name[0];
    this->store().commit({Put{job(sequence, name)}}, [&order, name, this](const Status& status) {
      EXPECT_TRUE(status);
      EXPECT_TRUE(this->store().job({{"w"}, name}).value());
      order += name;
    });
  }
  EXPECT_EQ(order, "");
  this->settle();
  EXPECT_EQ(order, "abc");
}

TYPED_TEST(StoreContract, TheLaterOfTwoBatchesWins) {
  this->hand_over({Put{model::Site{.name = "s", .server_url = "first"}}});
  this->hand_over({Put{model::Site{.name = "s", .server_url = "second"}}});
  this->hand_over({Put{model::User{.id = {"u"}}}, Erase<model::User>{{"u"}}});
  this->settle();
  EXPECT_EQ(this->store().load()->sites.at("s").server_url, "second");
  EXPECT_TRUE(this->store().load()->access.users.empty());
}

TYPED_TEST(StoreContract, ABatchIsAllOrNothing) {
  ASSERT_TRUE(this->commit({Put{job(1, "taken")}}));
  const std::vector<std::string> before = this->loaded();

  EXPECT_FALSE(this->commit({Put{model::Site{.name = "s"}}, Erase<model::Workspace>{{"w"}},
                             Put{job(2, "first")}, Put{job(3, "first")}}));

  EXPECT_EQ(this->loaded(), before);
  EXPECT_FALSE(this->store().job({{"w"}, "first"}).value());
  EXPECT_EQ(this->store().last_sequence().value(), 1);
}

TYPED_TEST(StoreContract, AJobDoesNotTakeTheNameOfAnother) {
  ASSERT_TRUE(this->commit({Put{job(1, "taken")}}));
  EXPECT_FALSE(this->commit({Put{job(2, "taken")}}));
  this->store().resume();
  EXPECT_TRUE(this->commit({Erase<model::Job>{{{"w"}, "taken"}}, Put{job(3, "taken")}}));
}

TYPED_TEST(StoreContract, AfterAFailureEverythingIsRefusedWithTheSameErrorUntilResume) {
  this->answers.clear();
  ASSERT_FALSE(this->commit(this->impossible()));
  this->hand_over({Put{job(1, "a")}});
  this->hand_over({store::PutAsset{asset("a", "1")}});
  this->settle();
  this->store().resume();
  this->hand_over({Put{job(2, "b")}});
  this->settle();

  ASSERT_EQ(this->answers.size(), 4u);
  for (const std::size_t refused : {1u, 2u}) {
    ASSERT_FALSE(this->answers[refused]);
    EXPECT_EQ(this->answers[refused].error().message, this->answers[0].error().message);
    EXPECT_EQ(this->answers[refused].error().code, Code::Unavailable);
  }
  EXPECT_TRUE(this->answers[3]);
  EXPECT_EQ(this->listed({}), Sequences{2});
  EXPECT_FALSE(this->store().asset({"w"}, AssetKind::Data, "a", "1").value());
}

TYPED_TEST(StoreContract, FlushAndAnEmptyCallbackAreFine) {
  this->store().commit({Put{job(1, "a")}}, {});
  this->store().flush();
  EXPECT_TRUE(this->store().job({{"w"}, "a"}).value());
}

// ---- What is on its way ------------------------------------------------------------------------

TYPED_TEST(StoreContract, ReadsByKeySeeWhatIsHandedOver) {
  this->hand_over({store::PutAsset{asset("a", "1")},
                   store::PutContainer{{.workspace = {"w"}, .name = "a"}},
                   store::PutBlob{blob("x")}});
  EXPECT_TRUE(this->store().asset({"w"}, AssetKind::Data, "a", "1").value());
  EXPECT_TRUE(this->store().container({"w"}, AssetKind::Data, "a").value());
  EXPECT_TRUE(this->store().blob(blob("x").key).value());

  this->hand_over(
      {store::DeleteContainer{{"w"}, AssetKind::Data, "a"}, store::DeleteBlob{blob("x").key}});
  for (int look = 0; look < 2; ++look) {
    EXPECT_FALSE(this->store().asset({"w"}, AssetKind::Data, "a", "1").value());
    EXPECT_FALSE(this->store().container({"w"}, AssetKind::Data, "a").value());
    EXPECT_FALSE(this->store().blob(blob("x").key).value());
    this->settle();
  }
}

TYPED_TEST(StoreContract, AWorkspaceThatIsAboutToGoTakesWhatIsInItAlong) {
  ASSERT_TRUE(this->commit({store::PutAsset{asset("a", "1")}, store::PutBlob{blob("x")}}));
  this->hand_over({Erase<model::Workspace>{{"w"}}});
  EXPECT_FALSE(this->store().asset({"w"}, AssetKind::Data, "a", "1").value());
  EXPECT_FALSE(this->store().blob(blob("x").key).value());
  this->settle();
}

TYPED_TEST(StoreContract, WhatWasRefusedIsNotSeen) {
  this->hand_over(this->impossible());
  this->hand_over({store::PutBlob{blob("x")}});
  this->settle();
  EXPECT_FALSE(this->store().blob(blob("x").key).value());
}

// ---- Lists -------------------------------------------------------------------------------------

TYPED_TEST(StoreContract, JobsAreListedNewestFirstInPages) {
  for (int sequence : {2, 5, 1, 4, 3}) {
    ASSERT_TRUE(this->commit({Put{job(sequence, "j" + std::to_string(sequence))}}));
  }
  EXPECT_EQ(this->listed({.limit = 2}), (Sequences{5, 4}));
  EXPECT_EQ(this->listed({.before = 4, .limit = 2}), (Sequences{3, 2}));
  EXPECT_EQ(this->listed({.before = 2}), Sequences{1});
  EXPECT_TRUE(this->store().jobs({.workspace = {"other"}})->empty());
}

TYPED_TEST(StoreContract, JobsAreFoundByViewTypeExperimentAndTag) {
  model::Job first = job(1, "a");
  first.tags = {{"team", "red"}};
  first.spec.edit().experiment_name = "exp";
  model::Job second = job(2, "b", JobStatus::Completed);
  second.tags = {{"team", "blue"}};
  second.spec.edit().experiment_name = "exp";
  model::Job archived = job(3, "c");
  archived.is_archived = true;
  ASSERT_TRUE(this->commit({Put{first}, Put{second}, Put{archived}}));

  EXPECT_EQ(this->listed({}), (Sequences{2, 1}));
  EXPECT_EQ(this->listed({.view = View::ArchivedOnly}), Sequences{3});
  EXPECT_EQ(this->listed({.view = View::All}), (Sequences{3, 2, 1}));
  EXPECT_EQ(this->listed({.view = View::All, .limit = 2}), (Sequences{3, 2}));
  EXPECT_EQ(this->listed({.tag_key = "team"}), (Sequences{2, 1}));
  EXPECT_EQ(this->listed({.tag_key = "team", .tag_value = "red"}), Sequences{1});
  EXPECT_EQ(this->listed({.tag_key = "team", .before = 2}), Sequences{1});
  EXPECT_EQ(this->listed({.tag_key = "team", .experiment = "other"}), Sequences{});
  EXPECT_EQ(this->listed({.experiment = "exp"}), (Sequences{2, 1}));
  EXPECT_EQ(this->listed({.type = "Command"}), (Sequences{2, 1}));
  EXPECT_EQ(this->listed({.type = "Sweep"}), Sequences{});
  first.tags = {{"team", "green"}};
  ASSERT_TRUE(this->commit({Put{first}}));
  EXPECT_EQ(this->listed({.tag_key = "team", .tag_value = "red"}), Sequences{});
  EXPECT_EQ(this->listed({.tag_key = "team", .tag_value = "green"}), Sequences{1});
}

TYPED_TEST(StoreContract, TheChildrenOfAJobAreFoundOverOrNot) {
  model::Job first = job(2, "first");
  model::Job ended = job(3, "ended", JobStatus::Completed);
  model::Job archived = job(4, "archived", JobStatus::Completed);
  first.spec.edit().parent_job_name = ended.spec.edit().parent_job_name = "p";
  archived.spec.edit().parent_job_name = "p";
  archived.is_archived = true;
  model::Job others = job(5, "other");
  others.spec.edit().parent_job_name = "q";
  others.spec.edit().experiment_name = "exp";
  ASSERT_TRUE(this->commit({Put{job(1, "p")}, Put{first}, Put{ended}, Put{archived}, Put{others}}));

  EXPECT_EQ(this->listed({.parent = "p"}), (Sequences{3, 2}));
  EXPECT_EQ(this->listed({.view = View::All, .parent = "p"}), (Sequences{4, 3, 2}));
  EXPECT_EQ(this->listed({.parent = "p", .limit = 1}), Sequences{3});
  EXPECT_EQ(this->listed({.parent = "p", .before = 3}), Sequences{2});
  EXPECT_EQ(this->listed({.experiment = "exp", .parent = "p"}), Sequences{});
  EXPECT_EQ(this->listed({.parent = "first"}), Sequences{});
}

TYPED_TEST(StoreContract, ListsSeeWhatIsCommittedAndNothingElse) {
  this->hand_over(this->impossible());
  this->hand_over({Put{job(1, "a")}, store::PutAsset{asset("a", "1")}, store::PutBlob{blob("x")}});
  this->settle();
  EXPECT_EQ(this->listed({}), Sequences{});
  EXPECT_TRUE(this->store().assets({.workspace = {"w"}, .name = "a"})->empty());
  EXPECT_TRUE(this->store().blobs({.workspace = {"w"}, .container = "c"})->empty());
}

TYPED_TEST(StoreContract, AssetsAreListedInTheOrderInWhichTheyWereMade) {
  for (const char* version : {"2", "10", "1"}) {
    ASSERT_TRUE(this->commit({store::PutAsset{asset("a", version)}}));
  }
  model::Asset changed = asset("a", "10");
  changed.tags = {{"k", "v"}};
  model::Asset archived = asset("a", "1");
  archived.is_archived = true;
  ASSERT_TRUE(this->commit({store::PutAsset{changed}, store::PutAsset{archived}}));

  const auto versions = [&](store::AssetQuery query) {
    query.workspace = {"w"};
    query.name = "a";
    std::string found;
    const std::vector<model::Asset> page = *this->store().assets(query);
    for (const model::Asset& each : page) found += each.version + " ";
    return found;
  };
  EXPECT_EQ(versions({}), "10 2 ");
  EXPECT_EQ(versions({.view = View::All}), "1 10 2 ");
  EXPECT_EQ(versions({.view = View::All, .oldest_first = true, .skip = 1, .limit = 1}), "10 ");
  EXPECT_EQ(versions({.tag_key = "k"}), "10 ");
  EXPECT_EQ(this->store().latest_asset({"w"}, AssetKind::Data, "a").value()->version, "10");
}

TYPED_TEST(StoreContract, AVersionKeepsItsPlaceWhenItsContainerIsRenamed) {
  ASSERT_TRUE(
      this->commit({store::PutContainer{{.workspace = {"w"}, .name = "old"}},
                    store::PutAsset{asset("old", "1")}, store::PutAsset{asset("old", "2")}}));
  ASSERT_TRUE(this->commit(
      {store::RenameContainer{.name = "old", .container = {.workspace = {"w"}, .name = "new"}}}));
  EXPECT_FALSE(this->store().container({"w"}, AssetKind::Data, "old").value());
  EXPECT_TRUE(this->store().container({"w"}, AssetKind::Data, "new").value());
  EXPECT_FALSE(this->store().asset({"w"}, AssetKind::Data, "old", "1").value());
  const std::vector<model::Asset> found =
      *this->store().assets({.workspace = {"w"}, .name = "new"});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].version, "2");
  EXPECT_EQ(found[0].name, "new");
}

TYPED_TEST(StoreContract, BlobsAreListedByPrefixInOrder) {
  for (const char* path : {"a/2", "a", "b/1", "a/1", "a0"}) {
    ASSERT_TRUE(this->commit({store::PutBlob{blob(path)}}));
  }
  const auto paths = [&](store::BlobQuery query) {
    query.workspace = {"w"};
    query.container = "c";
    std::string found;
    const std::vector<store::Blob> page = *this->store().blobs(query);
    for (const store::Blob& each : page) found += each.key.path + " ";
    return found;
  };
  EXPECT_EQ(paths({}), "a a/1 a/2 a0 b/1 ");
  EXPECT_EQ(paths({.prefix = "a/"}), "a/1 a/2 ");
  EXPECT_EQ(paths({.prefix = "a/", .after = "a/1"}), "a/2 ");
  EXPECT_EQ(paths({.after = "a", .limit = 2}), "a/1 a/2 ");
  EXPECT_TRUE(this->store().blobs({.workspace = {"v"}, .container = "c"})->empty());
}

TYPED_TEST(StoreContract, UsageIsListedByItsEnd) {
  const auto used = [](const std::string& node, std::int64_t ended) {
    return store::AddUsage{
        {.workspace = {"w"}, .node = node, .ended_at = WallTime(Duration(ended))}};
  };
  ASSERT_TRUE(this->commit({used("late", 30), used("middle", 20), used("early", 10)}));
  const std::vector<model::Usage> found = *this->store().usage(
      {.workspace = {"w"}, .from = WallTime(Duration(10)), .to = WallTime(Duration(30))});
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].node, "early");
  EXPECT_EQ(found[1].node, "middle");
}

TYPED_TEST(StoreContract, LinesOfTheAuditLogAreNumberedAndChained) {
  ASSERT_TRUE(this->commit({store::AddAudit{{.who = "ana"}}, store::AddAudit{{.who = "bo"}}}));
  const std::vector<model::AuditLine> lines = *this->store().audit({});
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1].number, 2);
  EXPECT_EQ(lines[1].hash, model::audit_hash(lines[0].hash, lines[1].text));
  EXPECT_EQ(this->store().audit_head()->hash, lines[1].hash);
  EXPECT_EQ(this->store().audit({.after = 1})->size(), 1u);
}

// ---- What goes with what -----------------------------------------------------------------------

TYPED_TEST(StoreContract, AWorkspaceTakesAllThatItOwnsAndNothingElse) {
  ASSERT_TRUE(this->commit(
      {Put{model::Workspace{.id = {"v"}}}, Put{model::Compute{.key = {{"w"}, "c"}}},
       Put{model::Compute{.key = {{"v"}, "c"}}}, Put{job(1, "a")},
       Put{job(2, "over", JobStatus::Completed)}, store::PutAsset{asset("a", "1")},
       store::PutContainer{{.workspace = {"w"}, .name = "a"}}, store::PutBlob{blob("x")},
       this->block("y", "1"), store::PutSecret{{.key = {{"w"}, "u", "s"}}},
       store::PutSecret{{.key = {{"v"}, "u", "s"}}}, store::AddUsage{{.workspace = {"w"}}}}));

  ASSERT_TRUE(this->commit({Erase<model::Workspace>{{"w"}}}));

  const core::State state = this->store().load().value();
  EXPECT_EQ(state.workspaces.size(), 1u);
  ASSERT_EQ(state.computes.size(), 1u);
  EXPECT_EQ(state.computes.begin()->first.workspace.text, "v");
  EXPECT_TRUE(state.jobs.empty());
  EXPECT_FALSE(this->store().job({{"w"}, "over"}).value());
  EXPECT_FALSE(this->store().asset({"w"}, AssetKind::Data, "a", "1").value());
  EXPECT_FALSE(this->store().container({"w"}, AssetKind::Data, "a").value());
  EXPECT_FALSE(this->store().blob(blob("x").key).value());
  EXPECT_TRUE(this->store().blocks(blob("y").key)->empty());
  EXPECT_FALSE(this->store().secrets().find({{"w"}, "u", "s"}).value());
  EXPECT_TRUE(this->store().secrets().find({{"v"}, "u", "s"}).value());
  EXPECT_TRUE(this->store().usage({.workspace = {"w"}})->empty());
  EXPECT_EQ(this->store().last_sequence().value(), 2);
}

TYPED_TEST(StoreContract, AUserTakesTheirSecrets) {
  ASSERT_TRUE(
      this->commit({Put{model::User{.id = {"ana"}}}, store::PutSecret{{.key = {{"w"}, "ana", "s"}}},
                    store::PutSecret{{.key = {{"w"}, "bo", "s"}}}}));
  ASSERT_TRUE(this->commit({Erase<model::User>{{"ana"}}}));
  EXPECT_FALSE(this->store().secrets().find({{"w"}, "ana", "s"}).value());
  EXPECT_TRUE(this->store().secrets().find({{"w"}, "bo", "s"}).value());
}

TYPED_TEST(StoreContract, AContainerTakesItsVersions) {
  ASSERT_TRUE(this->commit({store::PutContainer{{.workspace = {"w"}, .name = "a"}},
                            store::PutAsset{asset("a", "1")}, store::PutAsset{asset("b", "1")}}));
  ASSERT_TRUE(this->commit({store::DeleteContainer{{"w"}, AssetKind::Data, "a"}}));
  EXPECT_FALSE(this->store().asset({"w"}, AssetKind::Data, "a", "1").value());
  EXPECT_TRUE(this->store().asset({"w"}, AssetKind::Data, "b", "1").value());
}

TYPED_TEST(StoreContract, BlocksGoTogether) {
  ASSERT_TRUE(this->commit({this->block("x", "2"), this->block("x", "1"), this->block("y", "1")}));
  const std::vector<store::Block> blocks = *this->store().blocks(blob("x").key);
  ASSERT_EQ(blocks.size(), 2u);
  EXPECT_EQ(blocks[0].id, "1");
  ASSERT_TRUE(this->commit({store::DropBlocks{blob("x").key}}));
  EXPECT_TRUE(this->store().blocks(blob("x").key)->empty());
  EXPECT_EQ(this->store().blocks(blob("y").key)->size(), 1u);
}

}  // namespace
}  // namespace berth::contract
