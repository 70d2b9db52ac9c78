// SPDX-License-Identifier: Apache-2.0
#include "wire/blob/block_list.h"

#include <gtest/gtest.h>

namespace berth::wire::blob {
namespace {

using Where = BlockListEntry::Where;
using Entries = std::vector<BlockListEntry>;

TEST(BlockList, ReadsWhatClientsSend) {
  const auto python = parse_block_list(
      "<?xml version='1.0' encoding='utf-8'?>\n"
      "<BlockList><Latest>QQ==</Latest><Latest>Qg==</Latest></BlockList>");
  const auto mixed = parse_block_list(
      "\xef\xbb\xbf<BlockList>\r\n  <Committed>QQ==</Committed>\n  <Uncommitted> Qg== "
      "</Uncommitted>\n"
      "</BlockList>\n");

  ASSERT_TRUE(python) << python.error().message;
  EXPECT_EQ(*python, (Entries{{Where::Latest, "QQ=="}, {Where::Latest, "Qg=="}}));
  ASSERT_TRUE(mixed) << mixed.error().message;
  EXPECT_EQ(*mixed, (Entries{{Where::Committed, "QQ=="}, {Where::Uncommitted, "Qg=="}}));
}

TEST(BlockList, MayBeEmpty) {
  EXPECT_EQ(*parse_block_list("<BlockList></BlockList>"), Entries{});
  EXPECT_EQ(*parse_block_list("<BlockList />"), Entries{});
  EXPECT_EQ(*parse_block_list("<BlockList/>"), Entries{});
}

TEST(BlockList, RefusesEverythingElse) {
  const std::string broken[] = {
      "",
      "<",
      "<?xml",
      "<BlockList>",
      "<BlockList><Latest>",
      "<BlockList><Latest>QQ==",
      "<BlockList><Latest>QQ==</Latest>",
      "<BlockList><Latest>QQ==</Committed></BlockList>",
      "<BlockList><Latest>QQ==</Latest></BlockList>x",
      "<BlockList><Latest></Latest></BlockList>",
      "<BlockList><Latest>not base64!</Latest></BlockList>",
      "<BlockList><Latest>&amp;</Latest></BlockList>",
      "<BlockList><Latest a='b'>QQ==</Latest></BlockList>",
      "<BlockList>QQ==</BlockList>",
      "<BlockList><!-- x --></BlockList>",
      "<BlockList><Other>QQ==</Other></BlockList>",
      "<!DOCTYPE x [<!ENTITY a 'b'>]><BlockList></BlockList>",
      "<Blocklist></Blocklist>",
      std::string("<BlockList>\0</BlockList>", 24),
  };
  for (const std::string& xml : broken) {
    const auto parsed = parse_block_list(xml);
    ASSERT_FALSE(parsed) << xml;
    EXPECT_EQ(parsed.error().target, "InvalidXmlDocument") << xml;
  }
}

TEST(BlockList, HasAMostOfEntries) {
  const auto list_of = [](std::size_t count) {
    std::string xml = "<BlockList>";
    for (std::size_t i = 0; i < count; ++i) xml += "<Latest>QQ==</Latest>";
    return parse_block_list(xml + "</BlockList>");
  };
  EXPECT_TRUE(list_of(kMostBlocks));
  EXPECT_FALSE(list_of(kMostBlocks + 1));
}

TEST(BlockList, ThatAClientWritesIsRead) {
  EXPECT_EQ(*parse_block_list(block_list_xml(2)),
            (Entries{{Where::Latest, block_id(0)}, {Where::Latest, block_id(1)}}));
  EXPECT_EQ(block_id(0).size(), block_id(49'999).size());
}

}  // namespace
}  // namespace berth::wire::blob
