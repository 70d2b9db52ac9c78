// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "store/sqlite/fixture.h"

namespace berth::store {
namespace {

class SecretRowsTest : public StoreFixture {
 protected:
  static PutSecret secret(const std::string& workspace, const std::string& owner,
                          const std::string& name, const std::string& sealed = "x") {
    return {{.key = {{workspace}, owner, name}, .sealed = sealed}};
  }
  std::string names(const std::string& workspace, const std::string& owner) {
    std::string text;
    const auto found = store->secrets().list({workspace}, owner);
    for (const auto& each : *found) text += each.key.name + " ";
    return text;
  }
};

TEST_F(SecretRowsTest, AreKeptForTheirOwnerInTheirWorkspace) {
  commit({secret("w", "ana", "b"), secret("w", "ana", "a"), secret("w", "", "a"),
          secret("v", "ana", "c")});
  commit({secret("w", "ana", "a", "another")});
  reopen();

  EXPECT_EQ(names("w", "ana"), "a b ");
  EXPECT_EQ(names("w", ""), "a ");
  EXPECT_EQ((*store->secrets().find({{"w"}, "ana", "a"}))->sealed, "another");
  EXPECT_FALSE(*store->secrets().find({{"w"}, "ana", "A"}));
  EXPECT_FALSE(*store->secrets().find({{"w"}, "bo", "a"}));
}

TEST_F(SecretRowsTest, GoByThemselvesWithTheirUserAndWithTheirWorkspace) {
  commit({secret("w", "ana", "a"), secret("w", "ana", "b"), secret("v", "ana", "a"),
          secret("w", "bo", "a")});
  commit({DeleteSecret{{{"w"}, "ana", "a"}}});
  EXPECT_EQ(names("w", "ana"), "b ");

  commit({Erase<model::User>{{"ana"}}});
  EXPECT_EQ(names("w", "ana") + names("v", "ana"), "");
  EXPECT_EQ(names("w", "bo"), "a ");

  commit({Erase<model::Workspace>{{"w"}}});
  EXPECT_EQ(names("w", "bo"), "");
}

}  // namespace
}  // namespace berth::store
