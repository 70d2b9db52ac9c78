// SPDX-License-Identifier: Apache-2.0
#include "io/http/connection.h"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace berth::io {
namespace {

using namespace std::chrono_literals;

/// One whose every call is its end, and the end of its neighbour.
class Fragile final : public Connection {
 public:
  Fragile(ConnectionTable& table, std::vector<std::unique_ptr<Fragile>>& all)
      : Connection(table), all_(all) {}

  void expire() override { end(); }
  void finish_soon() override { end(); }
  void cut() override { end(); }

 private:
  void end() {
    auto& all = all_;
    const auto self = std::ranges::find(all, this, &std::unique_ptr<Fragile>::get);
    const auto neighbour = self + 1 == all.end() ? all.begin() : self + 1;
    neighbour->reset();
    all[static_cast<std::size_t>(self - all.begin())].reset();
  }

  std::vector<std::unique_ptr<Fragile>>& all_;
};

class ConnectionTableTest : public testing::Test {
 protected:
  ConnectionTableTest() {
    for (int number = 0; number < 100; ++number) {
      all.push_back(std::make_unique<Fragile>(table, all));
    }
    table.when_empty([this] { is_empty = true; });
  }

  ConnectionTable table{1ms};
  std::vector<std::unique_ptr<Fragile>> all;
  bool is_empty = false;
};

TEST_F(ConnectionTableTest, AllAreCutThoughTheyTakeEachOtherAlong) {
  table.cut_all();

  EXPECT_EQ(table.size(), 0u);
  EXPECT_TRUE(is_empty);
}

TEST_F(ConnectionTableTest, AllFinishThoughTheyTakeEachOtherAlong) {
  table.finish_all_soon();

  EXPECT_EQ(table.size(), 0u);
}

TEST_F(ConnectionTableTest, AllExpireThoughTheyTakeEachOtherAlong) {
  for (const auto& each : all) each->set_deadline(1ms);
  while (table.size() > 0) table.tick();

  EXPECT_TRUE(is_empty);
}

TEST_F(ConnectionTableTest, OneWhoseGuardSaysNoIsCut) {
  for (std::size_t index = 0; index < all.size(); ++index) {
    all[index]->set_guard([index] { return index != 10; });
  }

  table.recheck();

  EXPECT_EQ(table.size(), 98u) << "it and its neighbour";
  EXPECT_FALSE(all[10]);
}

// ---- Who goes when there is no room ------------------------------------------------------------

class Guest final : public Connection {
 public:
  Guest(ConnectionTable& table, std::string address) : Connection(table, std::move(address)) {}

  void expire() override {}
  void finish_soon() override {}
  void cut() override { is_cut = true; }
  bool is_idle() const override { return idle; }

  bool is_cut = false;
  bool idle = true;
};

class FullTable : public testing::Test {
 protected:
  Guest& arrive(const std::string& address, const std::string& caller = {}) {
    Guest& guest = *guests.emplace_back(std::make_unique<Guest>(table, address));
    if (!caller.empty()) guest.set_caller(caller);
    return guest;
  }

  ConnectionTable table{1ms};
  std::vector<std::unique_ptr<Guest>> guests;
};

TEST_F(FullTable, WithRoomNobodyGoes) {
  arrive("a");

  const auto made = table.make_room("a", {.all = 2, .of_strangers = 2});

  EXPECT_TRUE(made.is_there);
  EXPECT_EQ(made.closed_from, "");
}

TEST_F(FullTable, OneThatGoesIsNotCountedAndDoesNotGoTwice) {
  Guest& first = arrive("a");
  Guest& second = arrive("b");

  EXPECT_EQ(table.make_room("c", {.all = 2, .of_strangers = 2}).closed_from, "a");
  EXPECT_TRUE(first.is_cut);
  EXPECT_EQ(table.make_room("c", {.all = 2, .of_strangers = 2}).closed_from, "");
  arrive("c");
  EXPECT_EQ(table.make_room("c", {.all = 2, .of_strangers = 2}).closed_from, "b");
  EXPECT_TRUE(second.is_cut);
}

TEST_F(FullTable, WhenAllAreKnownAndBusyTheNewOneDoesNotComeIn) {
  arrive("a", "ana").idle = false;
  arrive("a", "ana").idle = false;

  EXPECT_FALSE(table.make_room("b", {.all = 2, .of_strangers = 2}).is_there);
}

TEST_F(FullTable, OnesThatAreAlwaysKeptAreNeverChosen) {
  Guest& kept = arrive("");
  Guest& stranger = arrive("a");

  table.make_room("a", {.all = 2, .of_strangers = 2});

  EXPECT_TRUE(stranger.is_cut);
  EXPECT_FALSE(kept.is_cut);
}

}  // namespace
}  // namespace berth::io
