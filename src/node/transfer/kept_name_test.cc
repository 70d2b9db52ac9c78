// SPDX-License-Identifier: Apache-2.0
#include "node/transfer/kept_name.h"

#include <gtest/gtest.h>

#include "base/text.h"
#include "model/assets/reference.h"

namespace berth::node {
namespace {

std::vector<std::string> kept(const std::vector<std::string>& paths, std::size_t longest = 900) {
  std::vector<io::FileEntry> files;
  for (const std::string& path : paths) files.push_back({.path = path});
  KeptNames names(files, longest);
  std::vector<std::string> result;
  for (const std::string& path : paths) result.push_back(names.name_of(path));
  return result;
}

TEST(KeptName, WhatCanBeABlobStaysAsItIs) {
  const std::vector<std::string> paths = {"a", "a b/100%.txt", "grüße/ends.", "..x", "%0A", "~"};

  EXPECT_EQ(kept(paths), paths);
}

TEST(KeptName, WhatCannotIsEscapedAsInAnAddress) {
  EXPECT_EQ(kept({"a\\b", "a\nb", "x\xff/\xc3y", "50%\t"}),
            (std::vector<std::string>{"a%5Cb", "a%0Ab", "x%FF/%C3y", "50%25%09"}));
}

TEST(KeptName, NoFileTakesAnothersName) {
  const auto names = kept({"a%0Ab", "a\nb", "a%5Cb/c", "a\\b"});

  EXPECT_EQ(names[0], "a%0Ab");
  EXPECT_TRUE(names[1].starts_with("a%0Ab~")) << names[1];
  EXPECT_EQ(names[2], "a%5Cb/c");
  EXPECT_TRUE(names[3].starts_with("a%5Cb~")) << "beside a folder of that name: " << names[3];
}

TEST(KeptName, WhatIsTooLongIsCutAndStillItsOwn) {
  const std::string deep = std::string(300, 'd') + "/" + std::string(300, 'e');
  const std::string odd(255, '\n');
  const auto names = kept({deep + "/1", deep + "/2", odd, odd.substr(1) + "\\"}, 500);

  for (const std::string& name : names) {
    EXPECT_LE(name.size(), 500u);
    EXPECT_TRUE(model::checked_blob_path(name)) << name;
    for (const std::string_view segment : split(name, '/')) EXPECT_LE(segment.size(), 255u);
  }
  EXPECT_NE(names[0], names[1]);
  EXPECT_NE(names[2], names[3]);
}

TEST(KeptName, IsShownInOneLine) {
  EXPECT_EQ(shown_path("a\nb\\c\xff\x01 ü"), "a\\nb\\\\c\\xff\\x01 ü");
}

}  // namespace
}  // namespace berth::node
