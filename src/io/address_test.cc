// SPDX-License-Identifier: Apache-2.0
#include "io/address.h"

#include <gtest/gtest.h>

namespace berth::io {
namespace {

TEST(Address, ReadsWhereAServerIs) {
  EXPECT_EQ(parse_https_address("https://head.lab:8470"), (ServerAddress{"head.lab", 8470}));
  EXPECT_EQ(parse_https_address("https://10.0.0.1:1/"), (ServerAddress{"10.0.0.1", 1}));
  EXPECT_EQ(parse_https_address("https://[fe80::1]:8470"), (ServerAddress{"fe80::1", 8470}));
  EXPECT_EQ(parse_https_address("https://head"), (ServerAddress{"head", 443}));
}

TEST(Address, RefusesEverythingElse) {
  for (const char* url :
       {"", "head:1", "http://head:1", "https://", "https://:1", "https://head:", "https://head:0",
        "https://head:65536", "https://head:1x", "https://head:1/path", "https://a b:1",
        "https://user@head:1", "https://[fe80::1", "https://[fe80::1]x", "https://fe80::1",
        "https://head:1\n", "https://head?x"}) {
    EXPECT_FALSE(parse_https_address(url)) << url;
  }
}

TEST(Address, TheWayToThisMachineIsLoopback) {
  EXPECT_EQ(local_address_towards({"127.0.0.1", 1}), "127.0.0.1");
  EXPECT_FALSE(local_address_towards({"no-such-host.invalid", 1}));
}

}  // namespace
}  // namespace berth::io
