// SPDX-License-Identifier: Apache-2.0
#include "cli/output/shell.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

std::string line(const std::string& value, Shell shell) {
  return assignments({{"NAME", value}}, shell);
}

TEST(Assignments, APosixShellReadsEveryValueBack) {
  EXPECT_EQ(line("plain/1.0", Shell::Posix), "export NAME=plain/1.0\n");
  EXPECT_EQ(line("", Shell::Posix), "export NAME=''\n");
  EXPECT_EQ(line("a b", Shell::Posix), "export NAME='a b'\n");
  EXPECT_EQ(line("it's $(id) `id` \"x\" \\", Shell::Posix),
            "export NAME='it'\\''s $(id) `id` \"x\" \\'\n");
}

TEST(Assignments, OtherShellsHaveTheirOwnQuotes) {
  EXPECT_EQ(line("it's \\ $HOME", Shell::Fish), "set -gx NAME 'it\\'s \\\\ $HOME';\n");
  EXPECT_EQ(line("it's \\ $HOME", Shell::PowerShell), "$env:NAME = 'it''s \\ $HOME'\n");
  EXPECT_EQ(line("a \"b\" $HOME \\", Shell::Dotenv), "NAME=\"a \\\"b\\\" \\$HOME \\\\\"\n");
}

TEST(ShellFrom, KnowsShellsByTheirNames) {
  EXPECT_EQ(*shell_from("bash"), Shell::Posix);
  EXPECT_EQ(*shell_from("FISH"), Shell::Fish);
  EXPECT_EQ(*shell_from("pwsh"), Shell::PowerShell);
  EXPECT_EQ(*shell_from("dotenv"), Shell::Dotenv);
  ASSERT_FALSE(shell_from("csh"));
  EXPECT_NE(shell_from("csh").error().message.find("fish"), std::string::npos);
}

}  // namespace
}  // namespace berth::cli
