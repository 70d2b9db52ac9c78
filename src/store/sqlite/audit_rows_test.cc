// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "base/record.h"
#include "store/database/sqlite.h"
#include "store/sqlite/fixture.h"

namespace berth::store {
namespace {

class AuditRows : public StoreFixture {
 protected:
  void record(const std::string& who) { commit({AddAudit{{.who = who}}}); }
  std::vector<model::AuditLine> lines() { return *store->audit({}); }

  /// As somebody with the file in his hands would.
  Status tamper(const char* sql) {
    auto database = *Database::open(directory() + "/berth.db", Database::Mode::ReadWrite);
    return database.execute(sql);
  }
};

TEST_F(AuditRows, UsersTokensAndRolesComeBack) {
  commit(
      {Put<model::User>{{.id = {"u"}, .name = "ana"}},
       Put<model::Token>{
           {.id = {"t"}, .user = {"u"}, .hash = "h", .expires_at = WallTime(Duration(7))}},
       Put<model::RoleAssignment>{{.id = {"r"}, .user = {"u"}, .role = "x", .workspace = {"w"}}}});
  reopen();
  const core::Access access = store->load()->access;
  EXPECT_EQ(access.users.at({"u"}).name, "ana");
  EXPECT_EQ(access.tokens.at({"t"}).hash, "h");
  EXPECT_EQ(access.tokens.at({"t"}).expires_at, WallTime(Duration(7)));
  EXPECT_EQ(access.assignments.at({"r"}).workspace.text, "w");

  commit(
      {Erase<model::User>{{"u"}}, Erase<model::Token>{{"t"}}, Erase<model::RoleAssignment>{{"r"}}});
  const core::Access left = store->load()->access;
  EXPECT_TRUE(left.users.empty() && left.tokens.empty() && left.assignments.empty());
}

TEST_F(AuditRows, LinesOfTheAuditLogAreNumberedAndChained) {
  record("ana");
  commit({AddAudit{{.who = "bo"}}, AddAudit{{.who = "cy"}}});
  reopen();
  record("di");

  const auto all = lines();
  ASSERT_EQ(all.size(), 4u);
  std::string before;
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].number, static_cast<std::int64_t>(i + 1));
    EXPECT_EQ(record::decode_text<model::AuditRecord>(all[i].text)->number, all[i].number);
    EXPECT_EQ(all[i].hash, model::audit_hash(before, all[i].text));
    before = all[i].hash;
  }
  EXPECT_EQ(store->audit_head()->number, 4);
  EXPECT_EQ(store->audit_head()->hash, before);
  EXPECT_EQ((*store->audit({.after = 2, .limit = 1})).front().number, 3);
}

TEST_F(AuditRows, AFailedCommitTakesNoPlaceInTheChain) {
  record("ana");
  ASSERT_TRUE(
      tamper("CREATE TRIGGER full BEFORE INSERT ON documents BEGIN "
             "SELECT RAISE(ABORT, 'no'); END"));
  EXPECT_FALSE(try_commit({AddAudit{{.who = "bo"}}, Put<model::User>{{.id = {"u"}}}}));
  store->resume();
  record("cy");

  const auto all = lines();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].number, 2);
  EXPECT_EQ(all[1].hash, model::audit_hash(all[0].hash, all[1].text));
  EXPECT_NE(all[1].text.find("cy"), std::string::npos);
}

TEST_F(AuditRows, ALineIsNotChangedOrTakenOut) {
  record("ana");
  EXPECT_FALSE(tamper("UPDATE audit SET doc = '{}'"));
  EXPECT_FALSE(tamper("DELETE FROM audit"));
  EXPECT_EQ(lines().size(), 1u);
}

}  // namespace
}  // namespace berth::store
