// SPDX-License-Identifier: Apache-2.0
#include "node/shim/handover.h"

#include <gtest/gtest.h>

namespace berth::node {
namespace {

TEST(Handover, ComesBackAsItWas) {
  const Handover sent{.directory = "/work/ws/job/1-ab",
                      .secrets = {{"A", "x=y\nz"}, {"B", "\xff\x01"}, {"C", "line\n"}}};
  const Handover got = decode_handover(encode(sent));
  EXPECT_EQ(got.directory, sent.directory);
  EXPECT_EQ(got.secrets, sent.secrets);
}

TEST(Handover, OfAnAgentThatIsGoneIsEmpty) {
  EXPECT_TRUE(decode_handover("").directory.empty());
  EXPECT_TRUE(decode_handover("").secrets.empty());
  EXPECT_EQ(decode_handover("/a").directory, "/a");
}

}  // namespace
}  // namespace berth::node
