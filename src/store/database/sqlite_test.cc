// SPDX-License-Identifier: Apache-2.0
#include "store/database/sqlite.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace berth::store {
namespace {

TEST(Database, AStatementInUseOutlivesAThousandOthers) {
  Result<Database> database = Database::open(":memory:", Database::Mode::ReadWrite);
  ASSERT_TRUE(database);
  Result<Cursor> held = database->query("SELECT 7 UNION SELECT 8 ORDER BY 1");
  ASSERT_TRUE(held && *held->next());

  for (int number = 0; number < 1000; ++number) {
    EXPECT_EQ(*database->integer(fmt::format("SELECT {}", number)), number);
  }

  EXPECT_EQ(held->integer(0), 7);
  EXPECT_TRUE(*held->next());
  EXPECT_EQ(held->integer(0), 8);
}

}  // namespace
}  // namespace berth::store
