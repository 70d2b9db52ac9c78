// SPDX-License-Identifier: Apache-2.0
#include "node/node_command.h"

#include <gtest/gtest.h>

namespace berth::node {
namespace {

TEST(NodeCommand, FindsItsPlacesByNameAndHome) {
  const std::vector<std::string> words = {"--name", "n1", "--home", "/h", "--slots", "4"};

  const auto options = parse_node_arguments(words);

  ASSERT_TRUE(options);
  EXPECT_EQ(options->id.text, "n1");
  EXPECT_EQ(options->home, "/h");
  EXPECT_EQ(options->slots, 4);
  EXPECT_EQ(options->work_root, "/h/nodes/n1/work");
  EXPECT_EQ(options->token_file, "/h/nodes/n1/token");
}

TEST(NodeCommand, RefusesWhatIsWrongOrMissing) {
  const std::vector<std::vector<std::string>> wrong = {
      {},
      {"--name", "n1"},
      {"--name", "../n1", "--home", "/h"},
      {"--name", "n1", "--home", "relative"},
      {"--name", "n1", "--home", "/h", "--slots", "0"},
      {"--name", "n1", "--home", "/h", "--slots", "2x"},
      {"--name", "n1", "--home", "/h", "--what", "x"},
      {"--name", "n1", "--home"},
  };
  for (const auto& words : wrong) {
    const auto options = parse_node_arguments(words);
    ASSERT_FALSE(options);
    EXPECT_EQ(options.error().code, Code::InvalidArgument);
  }
}

TEST(NodeCommand, ARemoteNodeIsToldWhereItsServerIs) {
  const std::vector<std::string> words = {
      "--name", "n1",      "--server", "https://head:8470", "--ca",    "/dev/fd/4", "--token-file",
      "/t",     "--slots", "2",        "--work-directory",  "/scratch"};

  const auto remote = parse_remote_arguments(words);

  ASSERT_TRUE(remote) << remote.error().message;
  EXPECT_EQ(remote->id.text, "n1");
  EXPECT_EQ(remote->server, "https://head:8470");
  EXPECT_EQ(remote->authority_file, "/dev/fd/4");
  EXPECT_EQ(remote->token_file, "/t");
  EXPECT_EQ(remote->slots, 2);
  EXPECT_EQ(remote->work_directory, "/scratch");
}

TEST(NodeCommand, ARemoteNodeDialsNothingWithoutTlsAndAuthority) {
  const std::vector<std::vector<std::string>> wrong = {
      {"--name", "n1", "--server", "http://head:1", "--ca", "/c", "--token-file", "/t"},
      {"--name", "n1", "--server", "https://head:1", "--token-file", "/t"},
      {"--name", "n1", "--server", "https://head:1", "--ca", "/c"},
      {"--name", "..", "--server", "https://head:1", "--ca", "/c", "--token-file", "/t"},
      {"--name", "n1", "--server", "https://head:1", "--ca", "/c", "--token-file", "/t",
       "--work-directory", "x"},
      {"--name", "n1", "--server", "https://head:1", "--ca", "/c", "--token-file", "/t", "--home",
       "/h"},
  };
  for (const auto& words : wrong) EXPECT_FALSE(parse_remote_arguments(words));
}

}  // namespace
}  // namespace berth::node
