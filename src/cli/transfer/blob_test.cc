// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/blob.h"

#include <gtest/gtest.h>

namespace berth::cli {
namespace {

TEST(Blob, AddressesAreEncodedAndSigned) {
  const Container container = container_from("http://h:1/blob/w/c/?sv=1&sig=x%2F");

  EXPECT_EQ(blob_url(container, "a b/ü?.txt"),
            "http://h:1/blob/w/c/a%20b/%C3%BC%3F.txt?sv=1&sig=x%2F");
  EXPECT_EQ(blob_url({.url = "http://h/c"}, "x"), "http://h/c/x");
}

TEST(Blob, ReadsAListing) {
  const BlobPage page = parse_blob_page(
      "<?xml version=\"1.0\"?><EnumerationResults><Blobs>"
      "<Blob><Name>a&amp;b/&lt;x&gt;</Name><Properties><Content-Length>12</Content-Length>"
      "</Properties></Blob><Blob><Name>c</Name></Blob></Blobs>"
      "<NextMarker>more</NextMarker></EnumerationResults>");

  ASSERT_EQ(page.blobs.size(), 2u);
  EXPECT_EQ(page.blobs[0].name, "a&b/<x>");
  EXPECT_EQ(page.blobs[0].size, 12u);
  EXPECT_EQ(page.blobs[1].name, "c");
  EXPECT_EQ(page.next_marker, "more");
}

TEST(Blob, AnEmptyListingHasNothing) {
  const BlobPage page =
      parse_blob_page("<EnumerationResults><Blobs/><NextMarker/></EnumerationResults>");

  EXPECT_TRUE(page.blobs.empty());
  EXPECT_TRUE(page.next_marker.empty());
}

}  // namespace
}  // namespace berth::cli
