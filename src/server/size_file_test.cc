// SPDX-License-Identifier: Apache-2.0
#include "server/size_file.h"

#include <gtest/gtest.h>

#include <fstream>

#include "io/files/temporary_directory.h"

namespace berth::server {
namespace {

class SizeFile : public testing::Test {
 protected:
  void write(const std::string& name, std::string_view text) { std::ofstream(home / name) << text; }

  io::TemporaryDirectory home;
};

TEST_F(SizeFile, WithoutOneThereAreThoseBuiltIn) {
  const auto sizes = load_sizes(home.path(), "");

  ASSERT_TRUE(sizes);
  EXPECT_NE(model::find_size(*sizes, "Standard_DS3_v2"), nullptr);
}

TEST_F(SizeFile, TheOperatorAddsAndReplaces) {
  write("sizes.yml",
        "- {name: desk, cores: 3, memory: 5Gi}\n"
        "- {name: standard_ds3_v2, cores: 9, memory: 1Gi}\n");

  const auto sizes = load_sizes(home.path(), "");

  ASSERT_TRUE(sizes) << sizes.error().message;
  EXPECT_EQ(model::find_size(*sizes, "DESK")->cores, 3);
  EXPECT_EQ(model::find_size(*sizes, "Standard_DS3_v2")->cores, 9);
  EXPECT_EQ(sizes->size(), model::built_in_sizes().size() + 1);
}

TEST_F(SizeFile, OneThatWasNamedMustBeThere) {
  write("sizes.yml", "- {name: desk, cores: 3, memory: 5Gi}\n");
  write("mine.yml", "- {name: mine, cores: 1, memory: 1Gi}\n");

  EXPECT_EQ(load_sizes(home.path(), home / "no.yml").error().code, Code::InvalidArgument);
  const auto sizes = load_sizes(home.path(), home / "mine.yml");
  ASSERT_TRUE(sizes);
  EXPECT_NE(model::find_size(*sizes, "mine"), nullptr);
  EXPECT_EQ(model::find_size(*sizes, "desk"), nullptr);
}

TEST_F(SizeFile, ABrokenOneIsPointedAt) {
  write("sizes.yml", "- {name: desk, cores: three, memory: 5Gi}\n");

  const auto sizes = load_sizes(home.path(), "");

  ASSERT_FALSE(sizes);
  EXPECT_NE(sizes.error().message.find("sizes.yml:1:23: 'cores' must be a whole number"),
            std::string::npos)
      << sizes.error().message;
}

}  // namespace
}  // namespace berth::server
