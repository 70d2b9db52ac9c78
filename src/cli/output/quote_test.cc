// SPDX-License-Identifier: Apache-2.0
#include "cli/output/quote.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

std::string line_of(std::vector<std::string> words) { return command_line(words); }

TEST(Quote, LeavesPlainWordsAlone) {
  EXPECT_EQ(shell_quote("train.py"), "train.py");
  EXPECT_EQ(shell_quote("--rate=0.1"), "--rate=0.1");
}

TEST(Quote, QuotesWhatAShellWouldRead) {
  EXPECT_EQ(shell_quote("a b"), "'a b'");
  EXPECT_EQ(shell_quote("$HOME"), "'$HOME'");
  EXPECT_EQ(shell_quote("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quote("~"), "'~'");
  EXPECT_EQ(shell_quote("*"), "'*'");
  EXPECT_EQ(shell_quote("a\nb"), "'a\nb'");
}

TEST(Quote, AnEmptyWordStaysAWord) { EXPECT_EQ(shell_quote(""), "''"); }

TEST(CommandLine, OneWordIsAShellLine) {
  EXPECT_EQ(line_of({"echo $HOME | wc"}), "echo $HOME | wc");
}

TEST(CommandLine, SeveralWordsAreQuotedEach) {
  EXPECT_EQ(line_of({"python3", "-c", "print(\"hi\")"}), "python3 -c 'print(\"hi\")'");
}

TEST(CommandLine, AFirstWordWithAnEqualsSignIsNotAnAssignment) {
  EXPECT_EQ(line_of({"A=1", "x"}), "'A=1' x");
}

}  // namespace
}  // namespace berth::cli
