// SPDX-License-Identifier: Apache-2.0
#include "cli/output/terminal_filter.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

std::string filtered(std::string_view bytes) {
  TerminalFilter filter;
  const std::string text = filter.filter(bytes);
  return text + filter.finish();
}

std::string filtered_by_byte(std::string_view bytes) {
  TerminalFilter filter;
  std::string text;
  for (const char c : bytes) text += filter.filter(std::string_view(&c, 1));
  return text + filter.finish();
}

TEST(TerminalFilter, LetsTextAndColoursPass) {
  const std::string_view text = "epoch 1\r\n\t\x1b[1;31mred\x1b[0m ü 日本\n";

  EXPECT_EQ(filtered(text), text);
  EXPECT_EQ(filtered_by_byte(text), text);
}

TEST(TerminalFilter, EscapesWhatSteersATerminal) {
  EXPECT_EQ(filtered("\x1b]0;title\a"), "\\x1b]0;title\\x07");
  EXPECT_EQ(filtered("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(filtered("\x1b[31;"), "\\x1b[31;");
  EXPECT_EQ(filtered(std::string_view("a\0b", 3)), "a\\x00b");
  EXPECT_EQ(filtered("\xC2\x9B"
                     "2J"),
            "\\x9b2J");
  EXPECT_EQ(filtered_by_byte("\x1b[2J\xC2\x9B"), "\\x1b[2J\\x9b");
}

TEST(TerminalFilter, KeepsAnotherCharacterOfTheSameFirstByte) {
  EXPECT_EQ(filtered_by_byte("\xC2\xA9"), "\xC2\xA9");
}

TEST(TerminalFilter, HalfACharacterHidesNothing) {
  EXPECT_EQ(filtered("\xC2\x1b]52;c;aGk=\a"), "\xC2\\x1b]52;c;aGk=\\x07");
  EXPECT_EQ(filtered_by_byte("\xC2\x1b[2J"), "\xC2\\x1b[2J");
  EXPECT_EQ(filtered("\xC2\xC2\x9B"), "\xC2\\x9b");
}

TEST(TerminalFilter, DoesNotWaitForeverForTheEndOfAColour) {
  TerminalFilter filter;

  EXPECT_FALSE(filter.filter("\x1b[" + std::string(200, '1')).empty());
}

}  // namespace
}  // namespace berth::cli
