// SPDX-License-Identifier: Apache-2.0
#include "base/digest.h"

#include <gtest/gtest.h>

#include "base/text.h"

namespace berth {
namespace {

TEST(Digest, KnowsThePublishedAnswers) {
  EXPECT_EQ(to_hex(sha256("abc")),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  Digest md5(Digest::Algorithm::Md5);
  md5.update("abc");
  EXPECT_EQ(to_hex(md5.finish()), "900150983cd24fb0d6963f7d28e17f72");
}

TEST(Digest, DoesNotCareHowTheBytesArrive) {
  Digest digest;
  digest.update("a");
  digest.update("");
  digest.update("bc");
  EXPECT_EQ(digest.finish(), sha256("abc"));
}

TEST(Hmac, KnowsAnAnswerOfRfc4231) {
  EXPECT_EQ(to_hex(hmac_sha256("Jefe", "what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
}

TEST(ConstantTime, EqualMeansEqual) {
  EXPECT_TRUE(equal_in_constant_time("token", "token"));
  EXPECT_TRUE(equal_in_constant_time("", ""));
  EXPECT_FALSE(equal_in_constant_time("token", "tokem"));
  EXPECT_FALSE(equal_in_constant_time("token", "toke"));
}

}  // namespace
}  // namespace berth
