// SPDX-License-Identifier: Apache-2.0
#include "cli/output/table.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "cli/output/console.h"
#include "cli/output/text_width.h"

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

void expect_fits(const std::string& text, std::size_t width) {
  for (const std::string_view line : split(text, '\n'))
    EXPECT_LE(display_width(line), width) << line;
}

TEST(Table, CutsOtherColumnsBeforeTheFirst) {
  const std::string text = to_text(jobs(), {.width = 20});

  expect_fits(text, 20);
  EXPECT_NE(text.find("witty_harbor  Compl…"), std::string::npos) << text;
}

TEST(Table, LeavesOutColumnsAtItsEndWhenThereIsNoRoom) {
  const Table table{.titles = {"Name", "Status", "Path", "Created"},
                    .rows = {{"job", "Completed", std::string(60, 'x'), "2026-11-16 02:20:12"}}};

  const std::string text = to_text(table, {.width = 42});

  expect_fits(text, 42);
  EXPECT_NE(text.find("job   Completed  xxxxx"), std::string::npos) << text;
  EXPECT_EQ(text.find("Created"), std::string::npos) << text;
}

TEST(Table, OfATinyTerminalIsItsFirstColumn) {
  EXPECT_EQ(to_text(jobs(), {.width = 5}), "Name\n-----\nwitt…\na\n");
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
  EXPECT_EQ(printable("a\u202Etxt.exe"), "a\\u202etxt.exe");
  EXPECT_EQ(printable("\u2066a\u2069"), "\\u2066a\\u2069");
  EXPECT_EQ(printable("\u2020 \u2065"), "\u2020 \u2065");
}

}  // namespace
}  // namespace berth::cli
