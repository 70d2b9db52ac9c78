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

}  // namespace
}  // namespace berth::node
