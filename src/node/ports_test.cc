// SPDX-License-Identifier: Apache-2.0
#include "node/ports.h"

#include <gtest/gtest.h>

#include "node/mpi/peer.h"

namespace berth::node {
namespace {

TEST(HeldPorts, NobodyElseCanHaveThem) {
  const auto ports = HeldPorts::take("127.0.0.1", 3);

  ASSERT_TRUE(ports) << ports.error().message;
  for (int port = ports->first(); port < ports->first() + 3; ++port) {
    EXPECT_FALSE(HeldPorts::take("127.0.0.1", 1, port));
    EXPECT_FALSE(listen_at({"127.0.0.1", port}));
  }
}

TEST(HeldPorts, AreFreeOnceLetGoAndCanBeTakenAgain) {
  int first = 0;
  {
    const auto ports = HeldPorts::take("127.0.0.1", 2);
    ASSERT_TRUE(ports);
    first = ports->first();
  }

  EXPECT_TRUE(HeldPorts::take("127.0.0.1", 2, first));
  EXPECT_TRUE(listen_at({"127.0.0.1", first}));
}

TEST(HeldPorts, WhoCallsTooEarlyIsRefusedAndNotKeptWaiting) {
  const auto ports = HeldPorts::take("127.0.0.1", 1);
  ASSERT_TRUE(ports);

  const auto called = connect_to({"127.0.0.1", ports->first()});

  ASSERT_FALSE(called);
  EXPECT_EQ(called.error().code, Code::Unavailable);
}

TEST(HeldPorts, AnAddressThatIsNotOursHasNone) {
  EXPECT_FALSE(HeldPorts::take("192.0.2.1", 1));
  EXPECT_FALSE(HeldPorts::take("not an address", 1));
}

}  // namespace
}  // namespace berth::node
