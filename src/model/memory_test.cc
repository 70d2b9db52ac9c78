// SPDX-License-Identifier: Apache-2.0
#include "model/memory.h"

#include <gtest/gtest.h>

namespace berth::model {
namespace {

TEST(Memory, IsANumberAndAUnit) {
  EXPECT_EQ(memory_mib_from("512Mi"), 512);
  EXPECT_EQ(memory_mib_from("512 MB"), 512);
  EXPECT_EQ(memory_mib_from("64Gi"), 65536);
  EXPECT_EQ(memory_mib_from(" 3.5 gib "), 3584);
  EXPECT_EQ(memory_mib_from("2T"), 2 * 1024 * 1024);
}

TEST(Memory, AnythingElseIsRefused) {
  for (const char* wrong : {"", "64", "Gi", "-1Gi", "0Gi", "1Ki", "1.3Mi", "nanGi", "infGi",
                            "1e99T", "4 Gi Gi", "4Gix", "four"}) {
    EXPECT_FALSE(memory_mib_from(wrong)) << wrong;
  }
}

}  // namespace
}  // namespace berth::model
