// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/ignore.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

bool leaves_out(std::string_view rules, std::string_view path) {
  return IgnoreRules::parse(rules).leaves_out(path);
}

TEST(Glob, MatchesWithinOneSegment) {
  EXPECT_TRUE(matches_glob("*.py", "train.py"));
  EXPECT_FALSE(matches_glob("*.py", "train.pyc"));
  EXPECT_TRUE(matches_glob("a?c", "abc"));
  EXPECT_TRUE(matches_glob("[a-c]x", "bx"));
  EXPECT_FALSE(matches_glob("[!a-c]x", "bx"));
  EXPECT_TRUE(matches_glob("[]]", "]"));
  EXPECT_TRUE(matches_glob("\\*", "*"));
  EXPECT_FALSE(matches_glob("\\*", "x"));
  EXPECT_TRUE(matches_glob("a*b*c", "a-b-b-c"));
}

TEST(Glob, ManyStarsDoNotTakeForever) {
  EXPECT_FALSE(matches_glob("*a*a*a*a*a*a*a*a*a*a*a*b", std::string(5'000, 'a')));
}

TEST(Glob, AnOpenBracketIsItself) { EXPECT_TRUE(matches_glob("[ab", "[ab")); }

TEST(Ignore, NoRulesLeaveNothingOutButGit) {
  EXPECT_FALSE(leaves_out("", "train.py"));
  EXPECT_TRUE(leaves_out("", ".git/config"));
  EXPECT_TRUE(leaves_out("", "sub/.git/config"));
  EXPECT_TRUE(leaves_out("!.git", ".git"));
  EXPECT_FALSE(leaves_out("", ".gitignore"));
}

TEST(Ignore, ANameMatchesAtAnyDepth) {
  EXPECT_TRUE(leaves_out("*.pyc", "a/b/c.pyc"));
  EXPECT_TRUE(leaves_out("build", "x/build/out.o"));
  EXPECT_FALSE(leaves_out("build", "x/builder/out.o"));
}

TEST(Ignore, ASlashAnchorsToTheRoot) {
  EXPECT_TRUE(leaves_out("/build", "build/x"));
  EXPECT_FALSE(leaves_out("/build", "a/build/x"));
  EXPECT_TRUE(leaves_out("docs/*.md", "docs/a.md"));
  EXPECT_FALSE(leaves_out("docs/*.md", "docs/sub/a.md"));
  EXPECT_FALSE(leaves_out("docs/*.md", "x/docs/a.md"));
}

TEST(Ignore, ATrailingSlashMeansFoldersOnly) {
  EXPECT_TRUE(leaves_out("data/", "data/rows.csv"));
  EXPECT_FALSE(leaves_out("data/", "data"));
}

TEST(Ignore, DoubleStarsCrossFolders) {
  EXPECT_TRUE(leaves_out("**/logs", "a/b/logs/x"));
  EXPECT_TRUE(leaves_out("a/**/z", "a/z"));
  EXPECT_TRUE(leaves_out("a/**/z", "a/b/c/z"));
  EXPECT_TRUE(leaves_out("a/**", "a/b/c"));
  EXPECT_FALSE(leaves_out("a/**", "b/a/c"));
}

TEST(Ignore, TheLastMatchingRuleDecides) {
  EXPECT_FALSE(leaves_out("*.log\n!keep.log", "keep.log"));
  EXPECT_TRUE(leaves_out("!keep.log\n*.log", "keep.log"));
}

TEST(Ignore, AFileBelowAFolderLeftOutCannotComeBack) {
  EXPECT_TRUE(leaves_out("data/\n!data/keep.csv", "data/keep.csv"));
  EXPECT_FALSE(leaves_out("data/*\n!data/keep.csv", "data/keep.csv"));
}

TEST(Ignore, ReadsCommentsSpacesAndEscapesAsGitDoes) {
  EXPECT_FALSE(leaves_out("# train.py", "train.py"));
  EXPECT_TRUE(leaves_out("\\#odd", "#odd"));
  EXPECT_TRUE(leaves_out("\\!odd", "!odd"));
  EXPECT_TRUE(leaves_out("trailing   ", "trailing"));
  EXPECT_TRUE(leaves_out("windows.txt\r\n", "windows.txt"));
  EXPECT_TRUE(leaves_out("\xEF\xBB\xBFmarked", "marked"));
  EXPECT_FALSE(leaves_out("/\n//\n", "train.py"));
}

}  // namespace
}  // namespace berth::cli
