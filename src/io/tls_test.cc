// SPDX-License-Identifier: Apache-2.0
#include "io/tls.h"

#include <gtest/gtest.h>

namespace berth::io {
namespace {

using namespace std::chrono_literals;

const WallTime kNow = WallTime(Duration(1'800'000'000'000));
const std::vector<std::string> kNames = {"localhost", "127.0.0.1", "::1"};

TEST(Certificate, IsGoodForItsNamesUntilItNearsItsEnd) {
  const KeyPair authority = make_authority("berth", kNow).value();
  const KeyPair identity = make_server_certificate(authority, kNames, kNow).value();

  EXPECT_FALSE(needs_renewal(identity.certificate, kNames, kNow, 24h));
  EXPECT_FALSE(needs_renewal(identity.certificate, kNames, kNow + 24h * 800, 24h));
  EXPECT_TRUE(needs_renewal(identity.certificate, kNames, kNow + 24h * 800, 24h * 26));
  EXPECT_TRUE(needs_renewal(identity.certificate, kNames, kNow - 2h, 24h));
  EXPECT_TRUE(needs_renewal(identity.certificate, {"localhost", "example.org"}, kNow, 24h));
  EXPECT_TRUE(needs_renewal(identity.certificate, {"10.0.0.1"}, kNow, 24h));
  EXPECT_TRUE(needs_renewal("not a certificate", {}, kNow, 24h));
}

TEST(Certificate, ACommaInANameDoesNotMakeTwoNames) {
  const KeyPair authority = make_authority("berth", kNow).value();
  const auto identity = make_server_certificate(authority, {"a,DNS:evil.example"}, kNow);

  ASSERT_TRUE(identity);
  EXPECT_TRUE(needs_renewal(identity->certificate, {"evil.example"}, kNow, 24h));
}

TEST(Certificate, EveryOneIsDifferent) {
  const KeyPair first = make_authority("berth", kNow).value();
  const KeyPair second = make_authority("berth", kNow).value();

  EXPECT_NE(first.certificate, second.certificate);
  EXPECT_NE(first.key, second.key);
  EXPECT_TRUE(first.key.starts_with("-----BEGIN PRIVATE KEY-----"));
}

TEST(Certificate, NeedsAnAuthorityAndAName) {
  const KeyPair authority = make_authority("berth", kNow).value();
  const KeyPair other = make_authority("other", kNow).value();

  EXPECT_FALSE(make_server_certificate(authority, {}, kNow));
  EXPECT_FALSE(make_server_certificate({}, kNames, kNow));
  EXPECT_FALSE(make_server_certificate({authority.certificate, other.key}, kNames, kNow));
}

TEST(Tls, RefusesWhatIsNotACertificateOrDoesNotMatch) {
  const KeyPair first = make_authority("berth", kNow).value();
  const KeyPair second = make_authority("berth", kNow).value();

  EXPECT_TRUE(ServerTls::make(first));
  EXPECT_FALSE(ServerTls::make({first.certificate, second.key}));
  EXPECT_FALSE(ServerTls::make({"x", "y"}));
  EXPECT_TRUE(ClientTls::make(first.certificate));
  EXPECT_FALSE(ClientTls::make("x"));
}

}  // namespace
}  // namespace berth::io
