// SPDX-License-Identifier: Apache-2.0
#include "wire/blob/address.h"

#include <gtest/gtest.h>

namespace berth::wire::blob {
namespace {

TEST(BlobAddress, IsEncodedAndSigned) {
  const Container container = container_from("http://h:1/blob/w/c/?sv=1&sig=x%2F");

  EXPECT_EQ(blob_url(container, "a b/ü?.txt"),
            "http://h:1/blob/w/c/a%20b/%C3%BC%3F.txt?sv=1&sig=x%2F");
  EXPECT_EQ(blob_url({.url = "http://h/c"}, "x"), "http://h/c/x");
}

TEST(BlobAddress, TakesMoreParametersWithAndWithoutASignature) {
  EXPECT_EQ(with_query("http://h/c/x?sig=1", "comp=block"), "http://h/c/x?sig=1&comp=block");
  EXPECT_EQ(with_query("http://h/c/x", "comp=block"), "http://h/c/x?comp=block");
}

TEST(BlobAddress, OfAPageNamesPrefixAndMarker) {
  const Container container{.url = "http://h/c", .signature = "sig=1"};

  EXPECT_EQ(list_url(container, "a b/", ""),
            "http://h/c?restype=container&comp=list&berth-format=json&prefix=a%20b%2F&sig=1");
  EXPECT_EQ(list_url(container, "", "bQ=="),
            "http://h/c?restype=container&comp=list&berth-format=json&prefix=&marker=bQ%3D%3D"
            "&sig=1");
}

}  // namespace
}  // namespace berth::wire::blob
