// SPDX-License-Identifier: Apache-2.0
#include "cli/table.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/console.h"
#include "cli/text_width.h"

namespace berth::cli {
namespace {

Table jobs() {
  return {.titles = {"Name", "Status"}, .rows = {{"witty_harbor", "Completed"}, {"a", "Failed"}}};
}

TEST(Table, LinesUpItsColumns) {
  EXPECT_EQ(to_text(jobs(), {}),
            "Name          Status\n"
            "------------  ---------\n"
            "witty_harbor  Completed\n"
            "a             Failed\n");
}

TEST(Table, FitsTheTerminalByCuttingItsWidestColumn) {
  const std::string text = to_text(jobs(), {.width = 18});

  for (const std::string_view line : split(text, '\n')) EXPECT_LE(display_width(line), 18u) << line;
  EXPECT_NE(text.find("witty_h…"), std::string::npos) << text;
}

TEST(Table, OfATinyTerminalKeepsAFewLettersOfEachColumn) {
  const std::string text = to_text(jobs(), {.width = 3});

  EXPECT_NE(text.find("wit…"), std::string::npos) << text;
}

TEST(Table, CannotBeBrokenByControlCharacters) {
  const Table table{.titles = {"Name"}, .rows = {{"a\x1b[31m\nb"}}};

  EXPECT_EQ(to_text(table, {}), "Name\n------------\na\\x1b[31m\\nb\n");
}

TEST(Fields, PutFurtherLinesBelowTheFirst) {
  const Fields fields{.lines = {{"Name", {"x"}}, {"Inputs", {"a = 1", "b = 2"}}, {"Empty", {}}}};

  EXPECT_EQ(to_text(fields, {}), "Name    x\nInputs  a = 1\n        b = 2\n");
}

TEST(TextWidth, CountsColumnsNotBytes) {
  EXPECT_EQ(display_width("naïve"), 5u);
  EXPECT_EQ(display_width("日本"), 4u);
  EXPECT_EQ(display_width("e\u0301"), 1u);
}

TEST(TextWidth, NeverCutsACharacterInHalf) {
  EXPECT_EQ(truncated("日本語", 4), "日…");
  EXPECT_EQ(truncated("abc", 3), "abc");
  EXPECT_EQ(truncated("abcd", 3), "ab…");
  EXPECT_EQ(truncated("abcd", 0), "");
}

TEST(Printable, EscapesWhatCouldSteerATerminal) {
  EXPECT_EQ(printable("a\tb\x7f"), "a\\tb\\x7f");
  EXPECT_EQ(printable("\xC2\x9B"
                      "31m"),
            "\\x9b31m");
  EXPECT_EQ(printable("é"), "é");
}

}  // namespace
}  // namespace berth::cli
