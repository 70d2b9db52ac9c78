// SPDX-License-Identifier: Apache-2.0
#include "server/blob/xml.h"

#include <gtest/gtest.h>

#include "server/blob/error.h"

namespace berth::server {
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
    EXPECT_EQ(blob_error_reply(parsed.error()).status, 400) << xml;
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

TEST(BlobXml, EscapesWhatXmlCannotHold) {
  EXPECT_EQ(xml_escape("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(xml_escape("ä\t"), "ä\t");
  EXPECT_EQ(xml_escape("\x01\xff"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(xml_escape("a\xef\xbf\xbfz"), "a\xef\xbf\xbdz");
}

TEST(BlobXml, AnErrorNamesItsCodeInHeaderAndBody) {
  const Error error = fail_blob("BlobNotFound", "no blob '<x>'").value();

  const io::Reply reply = blob_error_reply(error);

  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(io::header(reply.headers, "x-ms-error-code"), "BlobNotFound");
  EXPECT_EQ(reply.body,
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>BlobNotFound</Code>"
            "<Message>no blob '&lt;x&gt;'</Message></Error>");
}

TEST(BlobXml, ErrorsFromElsewhereKeepTheirStatus) {
  EXPECT_EQ(blob_error_reply({Code::OutOfSpace, "full"}).status, 507);
  EXPECT_EQ(blob_error_reply({Code::Unavailable, "later"}).status, 503);
  EXPECT_EQ(blob_error_reply({Code::Internal, "oops", "some.field"}).status, 500);
}

TEST(BlobXml, AListingShowsBlobsFoldersAndWhereToGoOn) {
  BlobListing listing{.container_url = "http://h/blob/w/c", .prefix = "a&", .most = 2};
  listing.blobs = {{.key = {{"w"}, "c", "a&b"},
                    .size = 3,
                    .content_type = "text/plain",
                    .content_md5 = "bWQ1",
                    .etag = "0x1",
                    .metadata = {{"Key", "<v>"}}}};
  listing.prefixes = {"a&d/", "a\xef\xbf\xbf/"};
  listing.next_marker = "bmV4dA==";

  const std::string with = blob_list_xml(listing, true);
  const std::string without = blob_list_xml(listing, false);

  EXPECT_NE(with.find("<Prefix>a&amp;</Prefix>"), std::string::npos);
  EXPECT_NE(with.find("<Name>a&amp;b</Name>"), std::string::npos);
  EXPECT_NE(with.find("<Content-Length>3</Content-Length>"), std::string::npos);
  EXPECT_NE(with.find("<Content-MD5>bWQ1</Content-MD5>"), std::string::npos);
  EXPECT_NE(with.find("<Last-Modified>Thu, 01 Jan 1970 00:00:00 GMT</Last-Modified>"),
            std::string::npos);
  EXPECT_NE(with.find("<Metadata><Key>&lt;v&gt;</Key></Metadata>"), std::string::npos);
  EXPECT_EQ(without.find("<Metadata>"), std::string::npos);
  EXPECT_NE(with.find("<BlobPrefix><Name>a&amp;d/</Name></BlobPrefix>"), std::string::npos);
  EXPECT_NE(with.find("<Name Encoded=\"true\">a%EF%BF%BF/</Name>"), std::string::npos);
  EXPECT_NE(with.find("<NextMarker>bmV4dA==</NextMarker>"), std::string::npos);
  listing.prefixes = {"a&d/"};
  EXPECT_EQ(blob_list_json(listing),
            "{\"blobs\":[{\"name\":\"a&b\",\"size\":3}],\"next\":\"bmV4dA==\","
            "\"prefixes\":[\"a&d/\"]}");
}

TEST(BlobXml, EntityTagsAreQuotedOnce) {
  EXPECT_EQ(etag_of({.etag = "0x1"}), "\"0x1\"");
  EXPECT_EQ(etag_of({.etag = "\"0x1\""}), "\"0x1\"");
  EXPECT_EQ(etag_of({.modified_at = WallTime(std::chrono::milliseconds(255))}), "\"0xFF\"");
}

}  // namespace
}  // namespace berth::server
