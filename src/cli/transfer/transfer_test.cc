// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/transfer.h"

#include <gtest/gtest.h>

#include "cli/testing_folder.h"
#include "cli/testing_server.h"
#include "io/files/temporary_directory.h"

namespace berth::cli {
namespace {

/// Keeps what is put and gives it back.
struct Blobs {
  std::map<std::string, std::string> content{};
  std::map<std::string, std::string> blocks{};

  io::Reply answer(const io::Request& request) {
    const std::string& path = request.head.path;
    if (request.head.method == "PUT") return put(path, request);
    const auto found = content.find(path);
    if (found == content.end()) return testing_error(404, "BlobNotFound");
    return {.content_type = "application/octet-stream", .body = found->second};
  }

  io::Reply put(const std::string& path, const io::Request& request) {
    if (request.head.query.find("comp=block&") != std::string::npos) {
      blocks[request.head.query] = request.body;
    } else if (request.head.query.find("comp=blocklist") != std::string::npos) {
      for (const auto& [id, bytes] : blocks) content[path] += bytes;
    } else {
      content[path] = request.body;
    }
    return {.status = 201};
  }
};

class TransferTest : public testing::Test {
 protected:
  Status upload(const std::vector<std::string>& names) {
    std::vector<Upload> uploads;
    for (const std::string& name : names) {
      uploads.push_back({.source = folder.path() + "/" + name, .url = server.url() + "/" + name});
    }
    return upload_all(uploads, {.console = console, .what = "uploading"});
  }

  Status download(const std::vector<Download>& downloads) {
    const auto root = io::Root::open(folder.path());
    return root ? download_all(downloads, *root, {.console = console, .what = "downloading"})
                : Status(tl::unexpect, root.error());
  }

  Console console{};
  TestingFolder folder{};
  Blobs blobs{};
  TestingServer server{[this](const io::Request& request) { return blobs.answer(request); }};
};

TEST_F(TransferTest, SendsEveryFile) {
  std::vector<std::string> names;
  for (int i = 0; i < 50; ++i) {
    names.push_back(fmt::format("file{}", i));
    folder.write(names.back(), fmt::format("content {}", i));
  }
  folder.write("empty", "");
  names.emplace_back("empty");

  ASSERT_TRUE(upload(names));

  EXPECT_EQ(server.on_loop([&] { return blobs.content.size(); }), 51u);
  EXPECT_EQ(server.on_loop([&] { return blobs.content["/file17"]; }), "content 17");
}

TEST_F(TransferTest, SendsALargeFileInBlocks) {
  std::string large(65u << 20, 'x');
  large[20u << 20] = 'y';
  folder.write("large", large);

  ASSERT_TRUE(upload({"large"}));

  EXPECT_TRUE(server.on_loop([&] { return blobs.content["/large"] == large; }));
  EXPECT_EQ(server.on_loop([&] { return blobs.blocks.size(); }), 5u);
}

TEST_F(TransferTest, NamesTheFileThatFails) {
  folder.write("here", "x");

  const Status uploaded = upload({"here", "missing"});

  ASSERT_FALSE(uploaded);
  EXPECT_NE(uploaded.error().message.find("missing"), std::string::npos);
}

TEST_F(TransferTest, WritesWhatItGets) {
  server.on_loop([&] { return blobs.content["/b"] = std::string("bytes\0\xff", 7); });

  ASSERT_TRUE(download({{.url = server.url() + "/b", .path = "a/b/c.bin"}}));

  EXPECT_EQ(folder.read("a/b/c.bin"), std::string("bytes\0\xff", 7));
}

TEST_F(TransferTest, NeverWritesOutsideItsFolder) {
  server.on_loop([&] { return blobs.content["/b"] = "bytes"; });
  const io::TemporaryDirectory elsewhere;
  ASSERT_EQ(symlink(elsewhere.path().c_str(), (folder.path() + "/link").c_str()), 0);

  EXPECT_FALSE(download({{.url = server.url() + "/b", .path = "../escaped"}}));
  EXPECT_FALSE(download({{.url = server.url() + "/b", .path = "link/escaped"}}));
  EXPECT_FALSE(std::filesystem::exists(elsewhere / "escaped"));
}

TEST_F(TransferTest, SaysWhyADownloadFailed) {
  const Status downloaded = download({{.url = server.url() + "/none", .path = "x"}});

  ASSERT_FALSE(downloaded);
  EXPECT_EQ(downloaded.error().code, Code::NotFound);
}

}  // namespace
}  // namespace berth::cli
