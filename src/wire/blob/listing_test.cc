// SPDX-License-Identifier: Apache-2.0
#include "wire/blob/listing.h"

#include <gtest/gtest.h>

namespace berth::wire::blob {
namespace {

TEST(BlobXml, EscapesWhatXmlCannotHold) {
  EXPECT_EQ(xml_escape("a<b>&\"c\""), "a&lt;b&gt;&amp;&quot;c&quot;");
  EXPECT_EQ(xml_escape("ä\t"), "ä\t");
  EXPECT_EQ(xml_escape("\x01\xff"), "\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(xml_escape("a\xef\xbf\xbfz"), "a\xef\xbf\xbdz");
}

TEST(BlobXml, AListingShowsBlobsFoldersAndWhereToGoOn) {
  Listing listing{.container_url = "http://h/blob/w/c", .prefix = "a&", .most = 2};
  listing.blobs = {{.name = "a&b",
                    .size = 3,
                    .content_type = "text/plain",
                    .content_md5 = "bWQ1",
                    .etag = "\"0x1\"",
                    .metadata = {{"Key", "<v>"}}}};
  listing.prefixes = {"a&d/", "a\xef\xbf\xbf/"};
  listing.next_marker = "bmV4dA==";

  const std::string with = listing_to_xml(listing, true);
  const std::string without = listing_to_xml(listing, false);

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
  EXPECT_EQ(listing_to_json(listing),
            "{\"blobs\":[{\"name\":\"a&b\",\"size\":3}],\"next\":\"bmV4dA==\","
            "\"prefixes\":[\"a&d/\"]}");
}

TEST(BlobListing, InJsonIsReadAsItWasWritten) {
  Listing listing{.prefixes = {"d/"}, .next_marker = "bmV4dA=="};
  listing.blobs = {{.name = "a&b/<x>\"", .size = 12}, {.name = "c"}};

  const auto page = listing_from_json(listing_to_json(listing));

  ASSERT_TRUE(page) << page.error().message;
  ASSERT_EQ(page->blobs.size(), 2u);
  EXPECT_EQ(page->blobs[0].name, "a&b/<x>\"");
  EXPECT_EQ(page->blobs[0].size, 12u);
  EXPECT_EQ(page->blobs[1].name, "c");
  EXPECT_EQ(page->prefixes, std::vector<std::string>{"d/"});
  EXPECT_EQ(page->next, "bmV4dA==");
}

TEST(BlobListing, WithNothingInItHasNoNextPage) {
  const auto page = listing_from_json(listing_to_json({}));

  ASSERT_TRUE(page) << page.error().message;
  EXPECT_TRUE(page->blobs.empty());
  EXPECT_TRUE(page->next.empty());
}

TEST(BlobListing, ThatIsNoListingIsRefused) {
  EXPECT_FALSE(listing_from_json("<EnumerationResults/>"));
  EXPECT_FALSE(listing_from_json("[]"));
}

}  // namespace
}  // namespace berth::wire::blob
