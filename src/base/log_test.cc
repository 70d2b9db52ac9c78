// SPDX-License-Identifier: Apache-2.0
#include "base/log.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace berth::log {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class LogTest : public testing::Test {
 protected:
  ~LogTest() override {
    to_stderr(Level::Error);
    std::remove(path.c_str());
  }
  const std::string path = testing::TempDir() + "berth_log_test.log";
};

TEST_F(LogTest, AMessageCannotForgeALine) {
  to_file(path, Level::Info);
  info("job {} started", "x\n2026-01-01 error \x1b[31mforged");

  const std::string text = read(path);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1);
  EXPECT_NE(text.find(R"(x\n2026-01-01 error \x1b[31mforged)"), std::string::npos) << text;
}

TEST_F(LogTest, OnlyWhatIsImportantEnoughIsWritten) {
  to_file(path, Level::Warning);
  info("quiet");
  error("loud");

  const std::string text = read(path);
  EXPECT_EQ(text.find("quiet"), std::string::npos);
  EXPECT_NE(text.find("loud"), std::string::npos);
}

TEST_F(LogTest, BracesInAMessageAreJustBraces) {
  to_file(path, Level::Info);
  write(Level::Info, "{} {0}");
  EXPECT_NE(read(path).find("{} {0}"), std::string::npos);
}

}  // namespace
}  // namespace berth::log
