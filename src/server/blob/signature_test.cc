// SPDX-License-Identifier: Apache-2.0
#include "server/blob/fixture.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;

TEST_F(BlobTest, ASignatureAllowsWhatItSaysAndNoMore) {
  put_blob("in/a", "x");
  put_blob("inner/a", "x");
  const std::string read = sign("in", "r");

  EXPECT_EQ(by_signature("GET", url("in/a?") + read).status, 200);
  EXPECT_EQ(by_signature("HEAD", url("in/a?") + read).status, 200);
  const Answer elsewhere = by_signature("GET", url("inner/a?") + read);
  EXPECT_EQ(elsewhere.status, 403);
  EXPECT_EQ(elsewhere.header("x-ms-error-code"), "AuthorizationPermissionMismatch");
  EXPECT_EQ(by_signature("PUT", url("in/a?") + read, "y").status, 403);
  EXPECT_EQ(by_signature("PUT", url("in/a?comp=block&blockid=QQ%3D%3D&") + read, "y").status, 403);
  EXPECT_EQ(by_signature("PUT", url("in/a?comp=metadata&") + read).status, 403);
  EXPECT_EQ(by_signature("DELETE", url("in/a?") + read).status, 403);
  EXPECT_EQ(by_signature("GET", container() + "?restype=container&comp=list&" + read).status, 403);
  EXPECT_EQ(get_blob("in/a").body, "x");
}

TEST_F(BlobTest, WithoutAGoodSignatureNothingIsTold) {
  put_blob("a", "x");
  for (const std::string& query :
       {std::string(), sign("", "r") + "x", sign("", "r", -1h), std::string("sig=AAAA&sp=r")}) {
    for (const char* path : {"a", "missing"}) {
      const Answer answer = by_signature("GET", url(path) + "?" + query);
      EXPECT_EQ(answer.status, 403) << query;
      EXPECT_EQ(answer.header("x-ms-error-code"), "AuthenticationFailed") << query;
    }
  }
  EXPECT_EQ(by_signature("GET", container("azureml") + "/a?" + sign("", "r")).status, 403);
}

TEST_F(BlobTest, LeaveToCreateIsNotLeaveToReplace) {
  const std::string create = sign("out", "c");

  EXPECT_EQ(by_signature("PUT", url("out/a?") + create, "one").status, 201);
  EXPECT_EQ(by_signature("PUT", url("out/a?") + create, "two").status, 403);
  EXPECT_EQ(by_signature("PUT", url("out/a?") + sign("out", "w"), "two").status, 201);
}

TEST_F(BlobTest, AListShowsOnlyWhatTheSignatureCovers) {
  for (const char* path : {"in/a", "in/b", "inner/c", "z"}) put_blob(path, "x");
  const auto listed = [&](const std::string& query, const std::string& signature) {
    return by_signature(
        "GET", container() + "?restype=container&comp=list&berth-format=json&" + query + signature);
  };

  EXPECT_EQ(listed("", sign("in", "l")).at("/blobs/1/name"), "in/b");
  EXPECT_EQ(listed("", sign("in", "l")).at("/blobs/2/name"), "");
  EXPECT_EQ(listed("prefix=in&", sign("in/", "l")).at("/blobs/2/name"), "");
  EXPECT_EQ(listed("prefix=in%2Fb&", sign("in", "l")).at("/blobs/0/name"), "in/b");
  EXPECT_EQ(listed("prefix=z&", sign("in", "l")).status, 403);
  EXPECT_EQ(listed("prefix=inner&", sign("in", "l")).status, 403);
}

TEST_F(BlobTest, PythonsAccountAddressesWork) {
  put_blob("a", "x");
  const std::string account = "/blob/" + workspace.text + ".blob.berth/azureml-blobstore/a";

  EXPECT_EQ(get(account).body, "x");
  EXPECT_EQ(by_signature("GET", account + "?" + sign("", "r")).body, "x");
}

}  // namespace
}  // namespace berth::server
