// SPDX-License-Identifier: Apache-2.0
#include "server/plane/ledger.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "server/plane/plane_fixture.h"

namespace berth::server {
namespace {

/// Writes down what it is told.
class Diarist final : public LedgerOwner {
 public:
  explicit Diarist(Names& diary) : diary_(diary) {}
  void before(const core::Event&) override {}
  void after(const core::Touched&) override {}
  void recorded(const core::Touched&) override { diary_.emplace_back("recorded"); }
  void loaded(core::State&) override { diary_.emplace_back("loaded"); }
  void undone() override { diary_.emplace_back("undone"); }

 private:
  Names& diary_;
};

class LedgerTest : public testing::Test {
 protected:
  LedgerTest() {
    EXPECT_TRUE(ledger.load());
    diary.clear();
  }

  void make(const std::string& workspace) {
    ledger.apply(core::WorkspaceMade{{.id = {workspace}, .name = workspace}});
    ledger.flush();
  }
  void note_end() {
    ledger.when_durable(
        [this](const Status& status) { diary.emplace_back(status ? "answered" : "refused"); });
  }
  bool has(const std::string& workspace) { return ledger.state().workspaces.contains({workspace}); }
  bool disk_has(const std::string& workspace) {
    return store.load()->workspaces.contains({workspace});
  }

  SimClock clock;
  store::FakeStore store;
  Names diary;
  Diarist owner{diary};
  Ledger ledger{store, clock, owner};
};

TEST_F(LedgerTest, EffectsRunAfterTheCommitAndBeforeTheAnswers) {
  ledger.apply(core::WorkspaceMade{{.id = {"a"}}});
  ledger.then([this] { diary.emplace_back("effect"); });
  note_end();
  EXPECT_EQ(diary, Names{});

  store.complete();

  EXPECT_EQ(diary, (Names{"effect", "recorded", "answered"}));
}

TEST_F(LedgerTest, NothingFollowsFromACommitThatFails) {
  ledger.apply(core::WorkspaceMade{{.id = {"a"}}});
  ledger.then([this] { diary.emplace_back("effect"); });
  note_end();

  store.fail_all({Code::OutOfSpace, "disk full"});

  EXPECT_EQ(diary, (Names{"loaded", "undone", "refused"}));
  EXPECT_FALSE(has("a"));
}

TEST_F(LedgerTest, WhatIsChangedTogetherIsOneCommit) {
  {
    const Together outer(ledger);
    make("a");
    {
      const Together inner(ledger);
      make("b");
    }
    ledger.write({store::AddAudit{{.who = "somebody"}}});
    EXPECT_TRUE(ledger.has_changes());
    EXPECT_EQ(store.waiting(), 0u);
  }
  EXPECT_FALSE(ledger.has_changes());
  ASSERT_EQ(store.waiting(), 1u);

  store.complete_next();
  EXPECT_TRUE(disk_has("a") && disk_has("b"));
}

TEST_F(LedgerTest, ABatchThatAnExceptionEndsNeverHappened) {
  const auto change_and_fail = [this] {
    const Together together(ledger);
    make("a");
    note_end();
    (void)std::string().at(1);
  };

  EXPECT_THROW(change_and_fail(), std::out_of_range);

  EXPECT_EQ(diary, (Names{"loaded", "undone", "refused"}));
  EXPECT_FALSE(has("a"));
  EXPECT_EQ(store.waiting(), 0u);
  make("b");
  store.complete();
  EXPECT_TRUE(disk_has("b")) << "it goes on";
}

TEST_F(LedgerTest, TheStateIsAheadOfTheDiskUntilTheCommit) {
  const auto concerns_a = [](const core::Touched& touched) {
    return touched.of<model::Workspace>().contains({"a"});
  };
  make("b");
  EXPECT_FALSE(ledger.is_ahead(concerns_a));
  ledger.apply(core::WorkspaceMade{{.id = {"a"}}});
  EXPECT_TRUE(ledger.is_ahead(concerns_a));
  ledger.flush();
  EXPECT_TRUE(ledger.is_ahead(concerns_a));
  store.complete();
  EXPECT_FALSE(ledger.is_ahead(concerns_a));
}

TEST_F(LedgerTest, ABurstClogsNothingUnlessTheDiskIsSlow) {
  for (int i = 0; i < 600; ++i) make("a");
  EXPECT_FALSE(ledger.is_clogged());
  clock.advance(std::chrono::seconds(1));
  EXPECT_TRUE(ledger.is_clogged());
  store.complete();
  EXPECT_FALSE(ledger.is_clogged());
}

}  // namespace
}  // namespace berth::server
