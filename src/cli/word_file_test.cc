// SPDX-License-Identifier: Apache-2.0
#include "cli/word_file.h"

#include <gtest/gtest.h>

#include "cli/testing_folder.h"

namespace berth::cli {
namespace {

TEST(WordFile, AWordMayStandInAFile) {
  TestingFolder folder;
  folder.write("query", "[].name\n\n");
  const Place place{.directory = folder.path()};
  const std::vector<std::string> words = {"--query", "@query", "a=@query", "a@query", "@", "@none"};

  EXPECT_EQ(with_files_read(words, place),
            (std::vector<std::string>{"--query", "[].name", "a=[].name", "a@query", "@", "@none"}));
}

}  // namespace
}  // namespace berth::cli
