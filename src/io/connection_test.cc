// SPDX-License-Identifier: Apache-2.0
#include "io/connection.h"

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

}  // namespace
}  // namespace berth::io
