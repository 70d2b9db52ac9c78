// SPDX-License-Identifier: Apache-2.0
#include "server/assets/log_blob.h"
#include "server/blob/fixture.h"

namespace berth::server {
namespace {

using namespace std::chrono_literals;
using Names = std::vector<std::string>;

// ---- Whole blobs -------------------------------------------------------------------------------

TEST_F(BlobTest, WhatIsPutCanBeRead) {
  const Answer made = put_blob("dir/a b.txt", "hello", {{"x-ms-blob-content-type", "text/plain"}});
  const Answer read = get_blob("dir/a%20b.txt");
  const Answer facts_of = head("dir/a%20b.txt");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(made.header("Content-MD5"), "XUFAKrxLKna5cZ2REBfFkg==");
  EXPECT_FALSE(made.header("x-ms-request-id").empty());
  EXPECT_EQ(read.status, 200);
  EXPECT_EQ(read.body, "hello");
  EXPECT_EQ(read.header("Content-Type"), "text/plain");
  EXPECT_EQ(read.header("ETag"), made.header("ETag"));
  EXPECT_EQ(read.header("x-ms-blob-type"), "BlockBlob");
  EXPECT_EQ(read.header("Accept-Ranges"), "bytes");
  EXPECT_EQ(read.header("Last-Modified"), to_http_date(clock.now().wall));
  EXPECT_EQ(facts_of.status, 200);
  EXPECT_EQ(facts_of.body, "");
  EXPECT_EQ(facts_of.head_length, 5u);
}

TEST_F(BlobTest, AnEmptyBlobIsABlob) {
  EXPECT_EQ(put_blob("empty", "").status, 201);
  EXPECT_EQ(get_blob("empty").status, 200);
  EXPECT_EQ(get_blob("empty").body, "");
  EXPECT_EQ(get_blob("empty", {{"x-ms-range", "bytes=0-10"}}).status, 416);
}

TEST_F(BlobTest, WhatIsNotThereSaysSo) {
  const Answer read = get_blob("missing");
  const Answer asked = head("missing");

  EXPECT_EQ(read.status, 404);
  EXPECT_EQ(read.header("x-ms-error-code"), "BlobNotFound");
  EXPECT_NE(read.body.find("<Code>BlobNotFound</Code>"), std::string::npos);
  EXPECT_EQ(asked.status, 404);
  EXPECT_EQ(asked.header("x-ms-error-code"), "BlobNotFound");
  EXPECT_EQ(asked.body, "");
  EXPECT_EQ(get(container("other") + "/x").header("x-ms-error-code"), "ContainerNotFound");
  EXPECT_EQ(get("/blob/nobody/azureml/x").header("x-ms-error-code"), "ContainerNotFound");
}

TEST_F(BlobTest, ABlobIsReplacedWhole) {
  put_blob("a", "one", {{"x-ms-meta-k", "v"}});
  const std::string first = head("a").header("ETag");
  clock.advance(1min);
  put_blob("a", "three");

  const Answer read = get_blob("a");

  EXPECT_EQ(read.body, "three");
  EXPECT_NE(read.header("ETag"), first);
  EXPECT_EQ(read.header("x-ms-meta-k"), "");
  EXPECT_EQ(read.header("x-ms-creation-time"), to_http_date(clock.now().wall - 1min));
}

TEST_F(BlobTest, OnlyOneOfTwoFindsTheNameFree) {
  EXPECT_EQ(put_blob("a", "one", {{"If-None-Match", "*"}}).status, 201);

  const Answer second = put_blob("a", "two", {{"If-None-Match", "*"}});

  EXPECT_EQ(second.status, 409);
  EXPECT_EQ(second.header("x-ms-error-code"), "BlobAlreadyExists");
  EXPECT_EQ(get_blob("a").body, "one");
}

TEST_F(BlobTest, TwoAtOnceFindTheNameFreeOnlyOnce) {
  std::optional<Answer> first, second;
  const Sent sent{
      .method = "PUT", .target = url("a"), .body = "x", .headers = {{"If-None-Match", "*"}}};
  send_later(sent, first);
  send_later(sent, second);
  settle();

  EXPECT_EQ(first->status, 201);
  EXPECT_EQ(second->status, 409);
}

TEST_F(BlobTest, ConditionsAreKept) {
  const std::string tag = put_blob("a", "one").header("ETag");

  EXPECT_EQ(get_blob("a", {{"If-Match", tag}}).status, 200);
  EXPECT_EQ(get_blob("a", {{"If-Match", "\"0xother\""}}).status, 412);
  EXPECT_EQ(get_blob("a", {{"If-None-Match", tag}}).status, 304);
  EXPECT_EQ(get_blob("a", {{"If-None-Match", "\"x\", " + tag}}).status, 304);
  EXPECT_EQ(put_blob("a", "two", {{"If-Match", "\"0xother\""}}).status, 412);
  EXPECT_EQ(put_blob("b", "two", {{"If-Match", "*"}}).status, 412);
  EXPECT_EQ(put_blob("a", "two", {{"If-Match", tag}}).status, 201);
}

TEST_F(BlobTest, AContentThatDoesNotMatchItsHashIsRefused) {
  const std::string right = "XUFAKrxLKna5cZ2REBfFkg==";
  EXPECT_EQ(put_blob("a", "hello", {{"Content-MD5", right}}).status, 201);
  EXPECT_EQ(put_blob("a", "hellO", {{"Content-MD5", right}}).header("x-ms-error-code"),
            "Md5Mismatch");
  EXPECT_EQ(put_blob("a", "hellO", {{"x-ms-blob-content-md5", right}}).status, 400);
  EXPECT_EQ(put_blob("a", "hello", {{"Content-MD5", "nonsense"}}).header("x-ms-error-code"),
            "InvalidMd5");
  EXPECT_EQ(get_blob("a").body, "hello");
}

TEST_F(BlobTest, OnlyBlockBlobsAndProperNamesAreTaken) {
  EXPECT_EQ(send({.method = "PUT", .target = url("a"), .headers = {{"x-ms-blob-type", "PageBlob"}}})
                .status,
            400);
  EXPECT_EQ(put_blob("folder/", "x").header("x-ms-error-code"), "InvalidResourceName");
  EXPECT_EQ(get_blob("folder/").header("x-ms-error-code"), "BlobNotFound");
  EXPECT_EQ(put_blob("a/../b", "x").status, 400);
  EXPECT_EQ(put_blob("a", "x", {{"x-ms-copy-source", "http://x"}}).status, 501);
  EXPECT_EQ(send({.method = "PUT", .target = url("a") + "?comp=lease"}).status, 501);
}

TEST_F(BlobTest, RangesAreServed) {
  put_blob("a", "0123456789");

  const Answer part = get_blob("a", {{"Range", "bytes=2-4"}});
  const Answer azure = get_blob("a", {{"Range", "bytes=2-4"}, {"x-ms-range", "bytes=8-"}});
  const Answer beyond = get_blob("a", {{"x-ms-range", "bytes=10-"}});

  EXPECT_EQ(part.status, 206);
  EXPECT_EQ(part.body, "234");
  EXPECT_EQ(part.header("Content-Range"), "bytes 2-4/10");
  EXPECT_EQ(part.header("Content-MD5"), "");
  EXPECT_EQ(azure.body, "89");
  EXPECT_EQ(beyond.status, 416);
  EXPECT_EQ(beyond.header("x-ms-error-code"), "InvalidRange");
}

TEST_F(BlobTest, ABlobCannotRunAsAPageOfOurs) {
  put_blob("a", "<script>", {{"x-ms-blob-content-type", "text/html"}});

  EXPECT_EQ(get_blob("a").header("Content-Security-Policy"), "default-src 'none'; sandbox");
  EXPECT_EQ(get_blob("a").header("Content-Disposition"), "attachment");
  EXPECT_EQ(get_blob("a").header("X-Content-Type-Options"), "nosniff");
}

TEST_F(BlobTest, DeletedIsGone) {
  put_blob("a", "x");

  EXPECT_EQ(send({.method = "DELETE", .target = url("a")}).status, 202);
  EXPECT_EQ(get_blob("a").status, 404);
  EXPECT_EQ(send({.method = "DELETE", .target = url("a")}).status, 404);
}

// ---- Metadata ----------------------------------------------------------------------------------

TEST_F(BlobTest, MetadataComesBackAsItWasSpelled) {
  put_blob("a", "x", {{"X-Ms-Meta-Name", "Ünder"}, {"x-ms-meta-upload_status", "started"}});
  const Answer set = send({.method = "PUT",
                           .target = url("a") + "?comp=metadata",
                           .headers = {{"x-ms-meta-Upload_Status", "completed"}}});
  const Answer read = send({.method = "HEAD", .target = url("a") + "?comp=metadata"});

  EXPECT_EQ(set.status, 200);
  const bool is_spelled = std::ranges::any_of(
      read.headers, [](const auto& header) { return header.first == "x-ms-meta-Upload_Status"; });
  EXPECT_TRUE(is_spelled);
  EXPECT_EQ(read.header("x-ms-meta-upload_status"), "completed");
  EXPECT_EQ(read.header("x-ms-meta-name"), "");
  EXPECT_EQ(get_blob("a").body, "x");
}

TEST_F(BlobTest, MetadataThatXmlCannotNameIsRefused) {
  EXPECT_EQ(put_blob("a", "x", {{"x-ms-meta-a-b", "v"}}).header("x-ms-error-code"),
            "InvalidMetadata");
  EXPECT_EQ(put_blob("a", "x", {{"x-ms-meta-1", "v"}}).status, 400);
  EXPECT_EQ(put_blob("a", "x", {{"x-ms-meta-k", std::string(9000, 'v')}}).status, 400);
  EXPECT_EQ(send({.method = "PUT", .target = url("none") + "?comp=metadata"}).status, 404);
}

// ---- Blocks ------------------------------------------------------------------------------------

TEST_F(BlobTest, BlocksBecomeABlobInTheOrderOfTheList) {
  EXPECT_EQ(put_block("big", "1", "first ").status, 201);
  EXPECT_EQ(put_block("big", "2", "second ").status, 201);
  EXPECT_EQ(put_block("big", "3", "never").status, 201);
  EXPECT_EQ(get_blob("big").status, 404);

  const Answer made = commit("big", {"2", "1", "2"}, {{"x-ms-blob-content-type", "text/x"}});
  const Answer read = get_blob("big");

  EXPECT_EQ(made.status, 201);
  EXPECT_EQ(read.body, "second first second ");
  EXPECT_EQ(read.header("Content-Type"), "text/x");
  EXPECT_EQ(head("big").head_length, 20u);
}

TEST_F(BlobTest, ABlocksMd5IsCheckedWhenTheClientClaimsOne) {
  const std::string right = "XUFAKrxLKna5cZ2REBfFkg==";

  const Answer unclaimed = put_block("a", "one", "hello");
  const Answer claimed = put_block("a", "two", "hello", {{"Content-MD5", right}});
  const Answer wrong = put_block("a", "three", "hellO", {{"Content-MD5", right}});

  EXPECT_EQ(unclaimed.status, 201);
  EXPECT_EQ(unclaimed.header("Content-MD5"), "");
  EXPECT_EQ(claimed.header("Content-MD5"), right);
  EXPECT_EQ(wrong.header("x-ms-error-code"), "Md5Mismatch");
}

TEST_F(BlobTest, ARangeMaySpanBlocks) {
  for (const std::string id : {"a", "b", "c", "d"}) put_block("big", id, std::string(5, id[0]));
  commit("big", {"a", "b", "c", "d"});

  EXPECT_EQ(get_blob("big", {{"Range", "bytes=3-12"}}).body, "aabbbbbccc");
  EXPECT_EQ(get_blob("big", {{"Range", "bytes=5-9"}}).body, "bbbbb");
  EXPECT_EQ(get_blob("big", {{"Range", "bytes=-6"}}).body, "cddddd");
  EXPECT_EQ(get_blob("big").body, "aaaaabbbbbcccccddddd");
}

TEST_F(BlobTest, AListMayBeSentAgainWhenItsAnswerWasLost) {
  put_block("big", "1", "x");

  EXPECT_EQ(commit("big", {"1"}).status, 201);
  EXPECT_EQ(commit("big", {"1"}).status, 201);
  EXPECT_EQ(get_blob("big").body, "x");
}

TEST_F(BlobTest, AListOfUnknownBlocksChangesNothing) {
  put_blob("big", "old");
  put_block("other", "1", "x");

  const Answer refused = commit("big", {"1"});

  EXPECT_EQ(refused.status, 400);
  EXPECT_EQ(refused.header("x-ms-error-code"), "InvalidBlockList");
  EXPECT_EQ(get_blob("big").body, "old");
}

TEST_F(BlobTest, WritingTheBlobWholeForgetsItsBlocks) {
  put_block("big", "1", "x");
  put_blob("big", "whole");

  EXPECT_EQ(commit("big", {"1"}).status, 400);
}

TEST_F(BlobTest, BlocksHaveProperIdsAndContent) {
  EXPECT_EQ(put_block("a", "", "x").status, 400);
  EXPECT_EQ(put_block("a", std::string(65, 'i'), "x").header("x-ms-error-code"), "InvalidBlockId");
  EXPECT_EQ(put_block("a", "1", "").status, 400);
  EXPECT_EQ(
      send({.method = "PUT", .target = url("a") + "?comp=block&blockid=!", .body = "x"}).status,
      400);
  EXPECT_EQ(send({.method = "PUT", .target = url("a") + "?comp=blocklist", .body = "<x/>"}).status,
            400);
}

// ---- Lists -------------------------------------------------------------------------------------

TEST_F(BlobTest, ListsAreSortedAndComeInPages) {
  for (const char* path : {"b", "a/2", "a/1", "c", "a/10"}) put_blob(path, "x");

  EXPECT_EQ(list(container()).names, (Names{"a/1", "a/10", "a/2", "b", "c"}));
  EXPECT_EQ(list(container() + "?prefix=a%2F1").names, (Names{"a/1", "a/10"}));

  Names seen;
  std::string marker;
  do {
    const Listed page = list(container() + "?maxresults=2&marker=" + percent_encode(marker));
    EXPECT_LE(page.names.size(), 2u);
    seen.insert(seen.end(), page.names.begin(), page.names.end());
    marker = page.next;
  } while (!marker.empty());
  EXPECT_EQ(seen, (Names{"a/1", "a/10", "a/2", "b", "c"}));
}

TEST_F(BlobTest, ADelimiterFoldsFolders) {
  for (const char* path : {"a/1", "a/2/x", "a/2/y", "b/1", "b/2", "c"}) put_blob(path, "x");

  const Listed top = list(container() + "?delimiter=%2F");
  EXPECT_EQ(top.names, Names{"c"});
  EXPECT_EQ(top.prefixes, (Names{"a/", "b/"}));
  EXPECT_EQ(top.next, "");

  const Listed below = list(container() + "?delimiter=%2F&prefix=a%2F");
  EXPECT_EQ(below.names, Names{"a/1"});
  EXPECT_EQ(below.prefixes, Names{"a/2/"});

  Names seen;
  std::string marker;
  do {
    const Listed page =
        list(container() + "?maxresults=1&delimiter=%2F&marker=" + percent_encode(marker));
    EXPECT_EQ(page.names.size() + page.prefixes.size(), 1u);
    seen.insert(seen.end(), page.names.begin(), page.names.end());
    seen.insert(seen.end(), page.prefixes.begin(), page.prefixes.end());
    marker = page.next;
  } while (!marker.empty());
  EXPECT_EQ(seen, (Names{"a/", "b/", "c"}));
}

TEST_F(BlobTest, TheXmlListIsTheOneStorageClientsRead) {
  put_blob("a", "abc", {{"x-ms-meta-k", "v"}});

  const Answer answer = get(container() + "?restype=container&comp=list&include=metadata&prefix=a");

  EXPECT_EQ(answer.header("Content-Type"), "application/xml");
  EXPECT_NE(answer.body.find("<Name>a</Name>"), std::string::npos);
  EXPECT_NE(answer.body.find("<Metadata><k>v</k></Metadata>"), std::string::npos);
  EXPECT_NE(answer.body.find("<NextMarker></NextMarker>"), std::string::npos);
}

TEST_F(BlobTest, ListsRefuseNonsense) {
  for (const char* query : {"maxresults=0", "maxresults=x", "marker=%21", "prefix=%FF"}) {
    const Answer answer = get(container() + "?restype=container&comp=list&" + query);
    EXPECT_EQ(answer.header("x-ms-error-code"), "InvalidQueryParameterValue") << query;
  }
}

TEST_F(BlobTest, AFolderMayBeAddressedAsAContainer) {
  put_blob("up/1/src/main.py", "x");
  put_blob("up/10/src/other.py", "x");

  EXPECT_EQ(list(container() + "/up/1").names, Names{"src/main.py"});
  EXPECT_EQ(list(container() + "/up/1?prefix=src%2Fm").names, Names{"src/main.py"});
  EXPECT_EQ(list(container() + "/up/1?delimiter=%2F").prefixes, Names{"src/"});
  EXPECT_EQ(get(container() + "/up/1?restype=container").status, 200);
}

TEST_F(BlobTest, ContainersAreThereAlready) {
  EXPECT_EQ(get(container() + "?restype=container").status, 200);
  EXPECT_EQ(send({.method = "PUT", .target = container() + "?restype=container"}).status, 409);
  EXPECT_EQ(get(container()).status, 400);
}

// ---- The log of a job that runs ----------------------------------------------------------------

TEST_F(BlobTest, ARunningJobsLogStandsWhereItsBlobWillBe) {
  const model::JobKey key = running("train");
  ASSERT_TRUE(logs.append(key, 1, 0, "line 1\nline 2\n"));
  const std::string path = container("azureml") + "/" + log_blob(key).path;
  const std::string listing = container("azureml") + "?prefix=ExperimentRun%2Fdcid.train";

  EXPECT_EQ(get(path).body, "line 1\nline 2\n");
  EXPECT_EQ(send({.target = path, .headers = {{"Range", "bytes=7-"}}}).body, "line 2\n");
  EXPECT_EQ(send({.method = "HEAD", .target = path}).head_length, 14u);
  EXPECT_EQ(list(listing).names, Names{log_blob(key).path});

  finish(key, "the whole log");
  EXPECT_EQ(get(path).body, "the whole log");
  EXPECT_EQ(list(listing).names, Names{log_blob(key).path});
}

TEST_F(BlobTest, AGrowingLogTakesItsPlaceAmongTheBlobs) {
  const model::JobKey key = running("train");
  ASSERT_TRUE(logs.append(key, 1, 0, "x"));
  const std::string root = container("azureml") + "/ExperimentRun/dcid.train/";
  for (const char* name : {"outputs/a", "outputs/b", "zz"}) {
    send({.method = "PUT", .target = root + name, .body = "x"});
  }
  const std::string prefix = "?prefix=ExperimentRun%2Fdcid.train%2F&maxresults=1&marker=";

  Names seen;
  std::string marker;
  do {
    const Listed page = list(container("azureml") + prefix + percent_encode(marker));
    seen.insert(seen.end(), page.names.begin(), page.names.end());
    marker = page.next;
  } while (!marker.empty());

  const std::string start = "ExperimentRun/dcid.train/";
  EXPECT_EQ(seen, (Names{start + "outputs/a", start + "outputs/b", start + "user_logs/std_log.txt",
                         start + "zz"}));
}

}  // namespace
}  // namespace berth::server
