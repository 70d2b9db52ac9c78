// SPDX-License-Identifier: Apache-2.0
#include "wire/blob/range.h"

#include <gtest/gtest.h>

namespace berth::wire::blob {
namespace {

void expect_range(std::string_view header, ByteRange expected) {
  const auto range = parse_range(header, 100);
  ASSERT_TRUE(range && *range) << header;
  EXPECT_EQ((*range)->first, expected.first) << header;
  EXPECT_EQ((*range)->length, expected.length) << header;
}

TEST(ByteRanges, AreReadInAllThreeForms) {
  expect_range("bytes=0-9", {0, 10});
  expect_range("bytes=99-99", {99, 1});
  expect_range("Bytes=10-", {10, 90});
  expect_range("bytes=-20", {80, 20});
}

TEST(ByteRanges, AreCutToTheSize) {
  expect_range("bytes=90-1000", {90, 10});
  expect_range("bytes=90-18446744073709551615", {90, 10});
  expect_range("bytes=-1000", {0, 100});
}

TEST(ByteRanges, BeyondTheEndAreRefused) {
  for (const char* header :
       {"bytes=100-", "bytes=100-200", "bytes=18446744073709551615-", "bytes=-0"}) {
    const auto range = parse_range(header, 100);
    ASSERT_FALSE(range) << header;
    EXPECT_EQ(range.error().target, "InvalidRange") << header;
  }
  EXPECT_FALSE(parse_range("bytes=0-", 0));
  EXPECT_FALSE(parse_range("bytes=0-10", 0));
}

TEST(ByteRanges, ThatAreNotOneRangeOfBytesAreIgnored) {
  for (const char* header : {"", "bytes", "bytes=", "bytes=-", "bytes=a-b", "bytes=5", "bytes=9-5",
                             "bytes=0-1,3-4", "bytes=+1-2", "bytes= 1 - 2", "lines=0-1",
                             "bytes=18446744073709551616-", "bytes=--1", "bytes=-+1"}) {
    const auto range = parse_range(header, 100);
    ASSERT_TRUE(range) << header;
    EXPECT_FALSE(*range) << header;
  }
}

}  // namespace
}  // namespace berth::wire::blob
