// SPDX-License-Identifier: Apache-2.0
#include "server/keys/identity_token.h"

#include <gtest/gtest.h>

#include "base/digest.h"
#include "base/text.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;

constexpr WallTime kNow(1'700'000'000s);

std::string to_base64url(std::string text) {
  text = to_base64(text);
  std::ranges::replace(text, '+', '-');
  std::ranges::replace(text, '/', '_');
  text.resize(std::min(text.find('='), text.size()));
  return text;
}

class IdentityTokenTest : public testing::Test {
 protected:
  std::string issue() const { return issue_identity(signer, ana, "https://here", kNow, kNow + 1h); }
  bool is_good(std::string_view text, WallTime now = kNow) const {
    return check_identity(signer, text, now).has_value();
  }
  /// A token with another header or other claims, signed as ours are.
  std::string forged(const std::string& header, const std::string& claims) const {
    const std::string part = to_base64url(header) + "." + to_base64url(claims);
    return part + "." + to_base64url(hmac_sha256(signer.derived_key("identity-token"), part));
  }

  const Signer signer{"key"};
  const Identity ana{.token = {"t1"}, .issued_at = kNow - 1h, .user = {"ana"}, .name = "Ana"};
};

TEST_F(IdentityTokenTest, WhatWasIssuedIsReadBack) {
  const auto checked = check_identity(signer, issue(), kNow);
  ASSERT_TRUE(checked);
  EXPECT_EQ(checked->identity.token.text, "t1");
  EXPECT_EQ(checked->identity.issued_at, kNow - 1h);
  EXPECT_EQ(checked->audience, "https://here");
}

TEST_F(IdentityTokenTest, ItIsGoodFromWhenToWhen) {
  EXPECT_TRUE(is_good(issue(), kNow + 1h - 1s));
  EXPECT_FALSE(is_good(issue(), kNow + 1h));
  EXPECT_FALSE(is_good(issue(), kNow - 1s)) << "nbf";
}

TEST_F(IdentityTokenTest, AnyOtherByteMakesItWrong) {
  const std::string good = issue();
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string bad = good;
    bad[at] = bad[at] == 'A' ? 'B' : 'A';
    EXPECT_FALSE(is_good(bad)) << at;
    EXPECT_FALSE(is_good(good.substr(0, at)));
  }
  EXPECT_FALSE(is_good(good + "A"));
  EXPECT_FALSE(is_good(good + "."));
}

TEST_F(IdentityTokenTest, TheBearerDoesNotChooseTheAlgorithm) {
  const std::string claims = *from_base64("eyJhdWQiOiJ4In0=");  // {"aud":"x"}
  const std::string live = R"({"aud":"x","iss":"urn:berth","nbf":0,"exp":9999999999})";
  EXPECT_TRUE(is_good(forged(R"({"alg":"HS256","typ":"JWT"})", live)));
  for (const char* header : {R"({"alg":"none","typ":"JWT"})", R"({"alg":"RS256","typ":"JWT"})",
                             R"({"typ":"JWT","alg":"HS256"})", R"({})", ""}) {
    EXPECT_FALSE(is_good(forged(header, live))) << header;
  }
  EXPECT_FALSE(is_good(to_base64url(R"({"alg":"none"})") + "." + to_base64url(live) + "."));
  EXPECT_FALSE(is_good(forged(R"({"alg":"HS256","typ":"JWT"})", claims)));
}

TEST_F(IdentityTokenTest, ClaimsThatAreOddAreRefused) {
  constexpr const char* kHeader = R"({"alg":"HS256","typ":"JWT"})";
  for (const char* claims :
       {"", "[]", "null", R"({"iss":"urn:berth","exp":"9999999999"})",
        R"({"iss":"urn:berth","exp":1e99})", R"({"iss":"other","nbf":0,"exp":9999999999})"}) {
    EXPECT_FALSE(is_good(forged(kHeader, claims))) << claims;
  }
}

TEST_F(IdentityTokenTest, ItIsGoodHereOnly) {
  EXPECT_FALSE(check_identity(Signer("other"), issue(), kNow));
}

TEST_F(IdentityTokenTest, ALongTextIsNotLookedAt) {
  EXPECT_FALSE(is_good(std::string(1 << 20, 'A')));
  EXPECT_FALSE(is_good(std::string(1 << 20, '.')));
}

TEST_F(IdentityTokenTest, AnOwnersMarkDoesNotTellTheToken) {
  EXPECT_EQ(owner_mark(signer, "secret"), owner_mark(signer, "secret"));
  EXPECT_NE(owner_mark(signer, "secret"), owner_mark(signer, "other"));
  EXPECT_EQ(owner_mark(signer, "secret").find("secret"), std::string::npos);
}

}  // namespace
}  // namespace berth::server
