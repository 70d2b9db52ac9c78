// SPDX-License-Identifier: Apache-2.0
#include "core/access.h"

#include <gtest/gtest.h>

#include "core/state.h"

namespace berth::core {
namespace {

using model::UserId;
using model::WorkspaceId;

const std::string kMl = "Microsoft.MachineLearningServices/workspaces/";

TEST(Actions, AStarStandsForAnyText) {
  EXPECT_TRUE(matches("*", "a/b/read"));
  EXPECT_TRUE(matches("*/read", "a/b/read"));
  EXPECT_TRUE(matches("a/*/read", "a/b/c/read"));
  EXPECT_TRUE(matches("a/*", "a/"));
  EXPECT_TRUE(matches("a/b", "A/B"));
  EXPECT_TRUE(matches("*a*b*", "xaxbx"));
  EXPECT_TRUE(matches("*ab", "aab"));
  EXPECT_TRUE(matches("", ""));
  EXPECT_FALSE(matches("", "a"));
  EXPECT_FALSE(matches("a", ""));
  EXPECT_FALSE(matches("a/*/read", "a/read"));
  EXPECT_FALSE(matches("*/read", "a/b/readers"));
  EXPECT_FALSE(matches("*/read", "read"));
  EXPECT_FALSE(matches("a/b", "a/bc"));
  EXPECT_FALSE(matches("*a*b", "b/a"));
}

/// What each role may do, written out: Owner, Contributor, Reader, Data Scientist, Operator.
struct Line {
  std::string action;
  const char* who;
};

TEST(Roles, MayDoWhatAzureSays) {
  const Line lines[] = {
      {kMl + "read", "OCRDP"},
      {kMl + "write", "OC"},
      {kMl + "delete", "OC"},
      {kMl + "jobs/read", "OCRD"},
      {kMl + "jobs/write", "OCD"},
      {kMl + "jobs/delete", "OCD"},
      {kMl + "jobs/cancel/action", "OCD"},
      {kMl + "data/versions/write", "OCD"},
      {kMl + "computes/read", "OCRDP"},
      {kMl + "computes/write", "OCP"},
      {kMl + "computes/delete", "OCP"},
      {kMl + "computes/start/action", "OCDP"},
      {kMl + "computes/listKeys/action", "OCP"},
      {kMl + "computes/listNodes/action", "OCDP"},
      {kMl + "computes/enableSso/action", "OCD"},
      {kMl + "listKeys/action", "OC"},
      {kMl + "datastores/listSecrets/action", "OCD"},
      {kMl + "environments/readSecrets/action", "OCD"},
      {kMl + "metadata/artifacts/read", "OCRD"},
      {kMl + "metadata/artifacts/write", "OCD"},
      {"Microsoft.Authorization/roleAssignments/read", "OCR"},
      {"Microsoft.Authorization/roleAssignments/write", "O"},
      {"Microsoft.Authorization/roleAssignments/delete", "O"},
      {"Berth/users/write", "O"},
      {"Berth/tokens/write", "O"},
      {"Berth/tokens/delete", "O"},
      {"Berth/sites/read", "OCRDP"},
      {"Berth/sites/write", "OC"},
      {"Berth/nodes/preempt/action", "OCP"},
      {"Berth/audit/read", "OCR"},
  };
  const std::string letters = "OCRDP";
  ASSERT_EQ(role_definitions().size(), letters.size());
  for (const Line& line : lines) {
    std::string who;
    for (std::size_t i = 0; i < letters.size(); ++i) {
      if (grants(role_definitions()[i], line.action)) who += letters[i];
    }
    EXPECT_EQ(who, line.who) << line.action;
  }
}

TEST(Roles, AreFoundByNameAndId) {
  EXPECT_EQ(find_role("reader")->id, "acdd72a7-3385-48ef-bd42-f606fba81ae7");
  EXPECT_EQ(find_role("ACDD72A7-3385-48EF-BD42-F606FBA81AE7")->name, "Reader");
  EXPECT_EQ(find_role("Kaiser"), nullptr);
}

class MayTest : public testing::Test {
 protected:
  void assign(const std::string& user, std::string_view role, const std::string& workspace) {
    const std::string id = std::to_string(access.assignments.size());
    access.assignments[{id}] = {.id = {id},
                                .user = {user},
                                .role = std::string(find_role(role)->id),
                                .workspace = {workspace}};
  }
  bool may_write(const std::string& user, const std::string& workspace) const {
    return may(access, {user}, kMl + "computes/write", {workspace});
  }
  Access access;
};

TEST_F(MayTest, ARoleHoldsInItsWorkspaceOnly) {
  assign("ana", "Owner", "one");

  EXPECT_TRUE(may_write("ana", "one"));
  EXPECT_FALSE(may_write("ana", "two"));
  EXPECT_FALSE(may_write("ana", ""));
  EXPECT_FALSE(may_write("bo", "one"));
}

TEST_F(MayTest, ARoleInTheInstallationHoldsEverywhere) {
  assign("ana", "Owner", "");

  EXPECT_TRUE(may_write("ana", "one"));
  EXPECT_TRUE(may_write("ana", ""));
}

TEST_F(MayTest, RolesAddUp) {
  assign("ana", "AzureML Data Scientist", "one");
  EXPECT_FALSE(may_write("ana", "one"));

  assign("ana", "AzureML Compute Operator", "one");
  EXPECT_TRUE(may_write("ana", "one"));
}

TEST_F(MayTest, SomewhereIsWhereARoleIs) {
  const auto may_read = [this](const char* within) {
    return may_somewhere(access, {"ana"}, kMl + "read", {within});
  };
  EXPECT_FALSE(may_read(""));
  assign("ana", "Reader", "one");
  EXPECT_TRUE(may_read(""));
  EXPECT_TRUE(may_read("one"));
  EXPECT_FALSE(may_read("two"));
  EXPECT_FALSE(may_somewhere(access, {"ana"}, kMl + "write", {""}));
}

class AccessEvents : public testing::Test {
 protected:
  AccessEvents() {
    apply(WorkspaceMade{{.id = {"one"}, .name = "one"}});
    apply(UserMade{{.id = {"ana"}, .name = "ana"}});
    apply(TokenMade{{.id = {"t"}, .user = {"ana"}, .workspace = {"one"}}});
    apply(TokenMade{{.id = {"u"}, .user = {"ana"}}});
    apply(RoleAssigned{{.id = {"r"}, .user = {"ana"}, .role = "x", .workspace = {"one"}}});
  }
  Touched apply(const Event& event) {
    Touched touched = apply_event(state, event);
    check_invariants(state);
    return touched;
  }
  State state;
};

TEST_F(AccessEvents, AUserGoesWithTokensAndRoles) {
  const Touched touched = apply(UserDeleted{{"ana"}});

  EXPECT_EQ(touched.of<model::User>().size() + touched.of<model::Token>().size() +
                touched.of<model::RoleAssignment>().size(),
            4u);
  EXPECT_TRUE(state.access.users.empty() && state.access.tokens.empty());
  EXPECT_TRUE(apply(UserDeleted{{"ana"}}).of<model::User>().empty());
}

TEST_F(AccessEvents, AWorkspaceTakesItsTokensAndRolesAlong) {
  const Touched touched = apply(WorkspaceDeleted{{"one"}});

  EXPECT_EQ(touched.of<model::Token>(), std::set<model::TokenId>{{"t"}});
  EXPECT_EQ(touched.of<model::RoleAssignment>().size(), 1u);
  EXPECT_TRUE(state.access.tokens.contains({"u"}));
}

TEST_F(AccessEvents, NothingIsGivenToSomebodyWhoIsNotThere) {
  EXPECT_TRUE(apply(TokenMade{{.id = {"v"}, .user = {"bo"}}}).of<model::Token>().empty());
  EXPECT_TRUE(apply(RoleAssigned{{.id = {"s"}, .user = {"ana"}, .workspace = {"two"}}})
                  .of<model::RoleAssignment>()
                  .empty());
  EXPECT_TRUE(apply(TokenRevoked{{"x"}}).of<model::Token>().empty());
  EXPECT_TRUE(apply(RoleRemoved{{"x"}}).of<model::RoleAssignment>().empty());
}

}  // namespace
}  // namespace berth::core
