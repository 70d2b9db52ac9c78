// SPDX-License-Identifier: Apache-2.0
#include "server/door/reach.h"

#include <gtest/gtest.h>

namespace berth::server {
namespace {

using Texts = std::vector<std::string>;

TEST(Reach, IsLoopbackUnlessSomebodyAsksForMore) {
  const auto reach = find_reach({}, "box");

  ASSERT_TRUE(reach);
  EXPECT_EQ(reach->addresses, Texts{"127.0.0.1"});
  EXPECT_EQ(reach->host, "127.0.0.1");
}

TEST(Reach, AnAddressIsListenedOnBesideLoopbackAndIsInTheCertificate) {
  const auto reach = find_reach({"127.0.0.9", "127.0.0.9"}, "box");

  ASSERT_TRUE(reach);
  EXPECT_EQ(reach->addresses, (Texts{"127.0.0.1", "127.0.0.9"}));
  EXPECT_EQ(reach->names, (Texts{"box", "127.0.0.9"}));
  EXPECT_EQ(reach->host, "127.0.0.9");
}

TEST(Reach, ANameIsInTheCertificateAsWellAsItsAddress) {
  const auto reach = find_reach({"localhost"}, "box");

  ASSERT_TRUE(reach);
  EXPECT_EQ(reach->names.back(), "localhost");
  EXPECT_EQ(reach->host, "localhost");
}

TEST(Reach, EverywhereTakesLoopbackInAndIsCalledByTheMachinesName) {
  const auto reach = find_reach({"0.0.0.0"}, "box");

  ASSERT_TRUE(reach);
  EXPECT_EQ(reach->addresses, Texts{"0.0.0.0"});
  EXPECT_EQ(reach->host, "box");
}

TEST(Reach, ANameThatCannotBeFoundIsRefused) {
  const auto reach = find_reach({"no-such-host.invalid"}, "box");

  ASSERT_FALSE(reach);
  EXPECT_EQ(reach.error().code, Code::InvalidArgument);
}

}  // namespace
}  // namespace berth::server
