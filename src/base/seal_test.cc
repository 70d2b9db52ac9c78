// SPDX-License-Identifier: Apache-2.0
#include "base/seal.h"

#include <gtest/gtest.h>

namespace berth {
namespace {

TEST(Seal, GivesBackWhatWasSealed) {
  for (const std::string& secret :
       {std::string(), std::string("hunter2"), std::string(5000, 'x')}) {
    EXPECT_EQ(unseal("key", seal("key", secret)), secret);
  }
}

TEST(Seal, ShowsNothingAndDiffersEachTime) {
  const std::string sealed = seal("key", "hunter2");

  EXPECT_EQ(sealed.find("hunter2"), std::string::npos);
  EXPECT_NE(sealed, seal("key", "hunter2"));
}

TEST(Seal, RefusesAnotherKeyAndWhatWasChanged) {
  std::string sealed = seal("key", "hunter2");

  EXPECT_FALSE(unseal("other", sealed));
  EXPECT_FALSE(unseal("key", "AAAA"));
  sealed[20] = sealed[20] == 'A' ? 'B' : 'A';
  EXPECT_FALSE(unseal("key", sealed));
}

}  // namespace
}  // namespace berth
