// SPDX-License-Identifier: Apache-2.0
#include "server/route_fixture.h"

namespace berth::server {
namespace {

class AbsentTest : public RouteTest {
 protected:
  Answer remove(const std::string& target) { return send({.method = "DELETE", .target = target}); }
};

TEST_F(AbsentTest, ListsAreEmptyAndMembersAreNotFound) {
  for (const char* collection : {"onlineEndpoints", "batchEndpoints", "schedules", "connections",
                                 "privateEndpointConnections", "featuresets", "outboundRules"}) {
    const std::string path = std::string("W/") + collection;
    EXPECT_EQ(get(path).body, R"({"value":[]})") << path;
    EXPECT_EQ(get(path + "/x").status, 404) << path;
    EXPECT_EQ(get(path + "/x").at("/error/code"), "ResourceNotFound") << path;
    EXPECT_EQ(remove(path + "/x").status, 204) << path;
    EXPECT_EQ(send({.method = "PATCH", .target = path + "/x", .body = "{}"}).status, 404) << path;
  }
}

TEST_F(AbsentTest, WhatCannotBeMadeIsRefusedByName) {
  const Answer refused = put("W/onlineEndpoints/shop", R"({"properties":{"authMode":"Key"}})");

  EXPECT_EQ(refused.status, 501);
  EXPECT_EQ(refused.at("/error/code"), "NotSupported");
  EXPECT_EQ(refused.at("/error/message"),
            "'shop' was not made: Berth has no resources of the kind 'online endpoint' yet");
  EXPECT_EQ(put("W/onlineEndpoints/shop/deployments/blue", "{}").status, 501);
}

TEST_F(AbsentTest, WhatIsBelowSomethingThatIsNotThereNamesTheOwner) {
  const std::string below = "W/onlineEndpoints/shop/deployments";
  for (const std::string& path : {below, below + "/blue", below + "/blue/skus"}) {
    EXPECT_EQ(get(path).at("/error/message"), "no online endpoint 'shop'") << path;
  }
}

TEST_F(AbsentTest, ContinuationsAreOfNoList) {
  EXPECT_EQ(get("W/schedules?$skip=50").at("/error/target"), "$skip");
}

}  // namespace
}  // namespace berth::server
