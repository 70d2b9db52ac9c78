// SPDX-License-Identifier: Apache-2.0
#include "base/quantity.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Quantity, BytesAreReadAsDockerWritesThem) {
  const std::pair<const char*, std::uint64_t> kExpected[] = {
      {"0", 0},
      {"1024", 1024},
      {"7b", 7},
      {"2k", 2048},
      {"512m", 512u << 20},
      {"512MB", 512u << 20},
      {"1.5g", 3u << 29},
      {" 2 GiB ", 2ull << 30},
      {"1t", 1ull << 40},
      {"3P", 3ull << 50},
      {"0.5", 0},
      {"8191p", 8191ull << 50},
  };
  for (const auto& [text, bytes] : kExpected) {
    const auto read = bytes_from(text);
    ASSERT_TRUE(read) << text << ": " << read.error().message;
    EXPECT_EQ(*read, bytes) << text;
  }
}

TEST(Quantity, WhatDoesNotFitIsRefused) {
  for (const char* text : {"17179869184g", "18446744073709551616", "9223372036854775807k", "8192p",
                           "99999999999999999999999p"}) {
    const auto read = bytes_from(text);
    ASSERT_FALSE(read) << text << " is " << *read;
    EXPECT_NE(read.error().message.find("more bytes than there can be"), std::string::npos);
  }
}

TEST(Quantity, WhatIsNoneIsRefused) {
  for (const char* text : {"", "g", "-1", "+1g", "1x", "1gg", "1.g", ".5g", "1e3", "0x10", "1ib",
                           "inf", "nan", "1 2", "1i"}) {
    EXPECT_FALSE(bytes_from(text)) << text;
  }
}

TEST(Quantity, AProductThatDoesNotFitIsNone) {
  EXPECT_EQ(times(3, 4), 12u);
  EXPECT_EQ(times(0, ~0ull), 0u);
  EXPECT_EQ(times(1ull << 34, 1ull << 30), std::nullopt);
}

}  // namespace
}  // namespace berth
