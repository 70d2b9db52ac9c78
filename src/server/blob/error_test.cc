// SPDX-License-Identifier: Apache-2.0
#include "server/blob/error.h"

#include <gtest/gtest.h>

#include "server/blob/etag.h"

namespace berth::server {
namespace {

TEST(BlobError, AnErrorNamesItsCodeInHeaderAndBody) {
  const Error error = fail_blob("BlobNotFound", "no blob '<x>'").value();

  const io::Reply reply = blob_error_reply(error);

  EXPECT_EQ(reply.status, 404);
  EXPECT_EQ(io::header(reply.headers, "x-ms-error-code"), "BlobNotFound");
  EXPECT_EQ(reply.body,
            "<?xml version=\"1.0\" encoding=\"utf-8\"?><Error><Code>BlobNotFound</Code>"
            "<Message>no blob '&lt;x&gt;'</Message></Error>");
}

TEST(BlobError, ErrorsFromElsewhereKeepTheirStatus) {
  EXPECT_EQ(blob_error_reply({Code::OutOfSpace, "full"}).status, 507);
  EXPECT_EQ(blob_error_reply({Code::Unavailable, "later"}).status, 503);
  EXPECT_EQ(blob_error_reply({Code::Internal, "oops", "some.field"}).status, 500);
}

TEST(BlobError, EntityTagsAreQuotedOnce) {
  EXPECT_EQ(etag_of({.etag = "0x1"}), "\"0x1\"");
  EXPECT_EQ(etag_of({.etag = "\"0x1\""}), "\"0x1\"");
  EXPECT_EQ(etag_of({.modified_at = WallTime(std::chrono::milliseconds(255))}), "\"0xFF\"");
}

}  // namespace
}  // namespace berth::server
