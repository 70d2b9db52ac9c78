// SPDX-License-Identifier: Apache-2.0
#include "cli/trust.h"

#include <gtest/gtest.h>

#include "cli/testing_folder.h"

namespace berth::cli {
namespace {

std::string certificate(const std::string& content) {
  return "-----BEGIN CERTIFICATE-----\n" + content + "\n-----END CERTIFICATE-----\n";
}

TEST(JoinedCertificates, HaveEachOneOnceAndNothingElse) {
  const std::string first = "# a comment\n" + certificate("A") + "junk\n" + certificate("B");
  EXPECT_EQ(joined_certificates(first, certificate("B") + certificate("C")),
            certificate("A") + certificate("B") + certificate("C"));
  EXPECT_EQ(joined_certificates("", "-----BEGIN CERTIFICATE-----\ncut off"), "");
}

TEST(WriteBundle, HoldsTheOthersAndOurs) {
  const TestingFolder folder;
  folder.write("system.pem", certificate("A"));
  folder.write("ca.pem", certificate("Berth"));
  const std::string target = folder.path() + "/bundle.pem";
  const std::vector<std::string> sources = {folder.path() + "/system.pem",
                                            folder.path() + "/missing.pem"};

  const auto had_others = write_bundle(target, sources, folder.path() + "/ca.pem");
  ASSERT_TRUE(had_others);
  EXPECT_TRUE(*had_others);
  EXPECT_EQ(folder.read("bundle.pem"), certificate("A") + certificate("Berth"));

  // Evaluated a second time, the shell's own variable names the bundle itself.
  const std::vector<std::string> itself = {target};
  ASSERT_TRUE(write_bundle(target, itself, folder.path() + "/ca.pem"));
  EXPECT_EQ(folder.read("bundle.pem"), certificate("A") + certificate("Berth"));
}

TEST(WriteBundle, SaysThatThereWereNoOthers) {
  const TestingFolder folder;
  folder.write("ca.pem", certificate("Berth"));
  const auto had_others =
      write_bundle(folder.path() + "/bundle.pem", {}, folder.path() + "/ca.pem");
  ASSERT_TRUE(had_others);
  EXPECT_FALSE(*had_others);
  EXPECT_FALSE(write_bundle(folder.path() + "/bundle.pem", {}, folder.path() + "/nothing.pem"));
}

}  // namespace
}  // namespace berth::cli
