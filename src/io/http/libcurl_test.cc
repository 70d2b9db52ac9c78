// SPDX-License-Identifier: Apache-2.0
#include "io/http/libcurl.h"

#include <gtest/gtest.h>

namespace berth::io {
namespace {

TEST(Libcurl, OneThatIsMissingIsNamedWithItsPackage) {
  const auto curl = load_libcurl("libcurl-of-nobody.so.4");

  ASSERT_FALSE(curl);
  EXPECT_EQ(curl.error().code, Code::Internal);
  EXPECT_NE(curl.error().message.find("libcurl-of-nobody.so.4"), std::string::npos);
  EXPECT_NE(curl.error().message.find("package libcurl4"), std::string::npos);
}

TEST(Libcurl, AnotherLibraryIsNotTakenForIt) {
  EXPECT_FALSE(load_libcurl("libc.so.6"));
  EXPECT_TRUE(libcurl());
}

}  // namespace
}  // namespace berth::io
