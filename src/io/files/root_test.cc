// SPDX-License-Identifier: Apache-2.0
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/beneath.h"
#include "io/files/file.h"
#include "io/files/temporary_directory.h"

namespace berth::io {
namespace {

class RootTest : public testing::Test {
 protected:
  RootTest() {
    EXPECT_TRUE(make_directories(directory / "root/in"));
    EXPECT_TRUE(make_directories(directory / "outside"));
    EXPECT_TRUE(write_file(directory / "root/in/file", "inside"));
    EXPECT_TRUE(write_file(directory / "outside/secret", "secret"));
    EXPECT_EQ(::symlink("../outside", (directory / "root/link").c_str()), 0);
    EXPECT_EQ(::symlink("../outside/secret", (directory / "root/file_link").c_str()), 0);
    EXPECT_EQ(::symlink("in", (directory / "root/inner_link").c_str()), 0);
    root = std::move(*Root::open(directory / "root"));
  }

  bool exists(const std::string& name) const {
    struct stat found {};
    return ::lstat((directory / name).c_str(), &found) == 0;
  }

  TemporaryDirectory directory;
  Root root;
};

constexpr std::string_view kEscapes[] = {
    "",
    "..",
    "../outside/secret",
    "in/../../outside/secret",
    "/etc/passwd",
    "./in",
    "in//file",
    "link/secret",
    "file_link",
    "inner_link/file",
    "in/..",
    "in/./file",
    std::string_view("in\0x", 4),
};

TEST_F(RootTest, OpensWhatIsInside) {
  const auto file = root.open_for_reading("in/file");
  ASSERT_TRUE(file);
  char buffer[16] = {};
  EXPECT_EQ(::read(file->get(), buffer, sizeof buffer), 6);
  EXPECT_NE(::fcntl(file->get(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST_F(RootTest, NothingOpensAnythingOutside) {
  for (const std::string_view path : kEscapes) {
    EXPECT_FALSE(root.open_for_reading(path)) << path;
    EXPECT_FALSE(root.open_for_writing(path, O_TRUNC)) << path;
  }
  EXPECT_EQ(*read_file(directory / "outside/secret"), "secret");
}

TEST_F(RootTest, TheWayWithoutOpenat2IsAsStrict) {
  EXPECT_TRUE(open_beneath_by_segment(root.fd(), "in/file", O_RDONLY));
  for (const std::string_view path : kEscapes) {
    EXPECT_FALSE(open_beneath_by_segment(root.fd(), path, O_RDONLY)) << path;
  }
}

TEST_F(RootTest, WritingMakesParentsButNotThroughLinks) {
  ASSERT_TRUE(root.open_for_writing("new/deep/file", O_TRUNC));
  EXPECT_TRUE(exists("root/new/deep/file"));

  EXPECT_FALSE(root.open_for_writing("link/new/file", O_TRUNC));
  EXPECT_FALSE(root.make_directories("link/new"));
  EXPECT_FALSE(root.make_directories("../new"));
  EXPECT_FALSE(exists("outside/new"));
}

TEST_F(RootTest, RemovesFilesAndIsContentWhenThereIsNone) {
  EXPECT_TRUE(root.remove("in/file"));
  EXPECT_FALSE(exists("root/in/file"));
  EXPECT_TRUE(root.remove("in/file"));
  EXPECT_TRUE(root.remove("no/such/folder"));
  EXPECT_FALSE(root.remove("link/secret"));
}

TEST_F(RootTest, RemovingATreeRemovesLinksAndNotWhatTheyPointTo) {
  EXPECT_EQ(::symlink("../../outside", (directory / "root/in/link").c_str()), 0);

  EXPECT_TRUE(root.remove_tree("in"));
  EXPECT_TRUE(root.remove_tree("link"));
  EXPECT_TRUE(root.remove_tree("never-there"));

  EXPECT_FALSE(exists("root/in"));
  EXPECT_FALSE(exists("root/link"));
  EXPECT_TRUE(exists("outside/secret"));
  EXPECT_FALSE(root.remove_tree("../outside"));
}

TEST_F(RootTest, RemovesTreesDeeperThanThereAreDescriptors) {
  int at = ::openat(root.fd(), "in", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  for (int depth = 0; depth < 3000; ++depth) {
    ASSERT_EQ(::mkdirat(at, "d", 0700), 0);
    const int next = ::openat(at, "d", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ::close(at);
    at = next;
  }
  ::close(at);

  EXPECT_TRUE(root.remove_tree("in"));
  EXPECT_FALSE(exists("root/in"));
}

TEST_F(RootTest, RemovesReadOnlyDirectories) {
  ASSERT_TRUE(root.open_for_writing("in/locked/file", O_TRUNC));
  ASSERT_EQ(::chmod((directory / "root/in/locked").c_str(), 0), 0);

  EXPECT_TRUE(root.remove_tree("in"));
  EXPECT_FALSE(exists("root/in"));
}

class ListTreeTest : public RootTest {
 protected:
  std::vector<std::string> paths() {
    std::vector<std::string> found;
    const auto listed = list_tree(directory / "root",
                                  [this](std::string_view path) { skipped.emplace_back(path); });
    EXPECT_TRUE(listed);
    if (listed) {
      for (const FileEntry& entry : *listed) found.push_back(entry.path);
    }
    std::ranges::sort(skipped);
    return found;
  }
  std::vector<std::string> skipped{};
};

TEST_F(ListTreeTest, FollowsLinksOnlyInside) {
  EXPECT_EQ(paths(), (std::vector<std::string>{"in/file", "inner_link/file"}));
  EXPECT_EQ(skipped, (std::vector<std::string>{"file_link", "link"}));
}

TEST_F(ListTreeTest, CyclesEnd) {
  ASSERT_EQ(::symlink("..", (directory / "root/in/up").c_str()), 0);

  EXPECT_EQ(paths(), (std::vector<std::string>{"in/file", "inner_link/file"}));
}

TEST_F(ListTreeTest, SkipsWhatIsNoFile) {
  ASSERT_EQ(::mkfifo((directory / "root/in/fifo").c_str(), 0600), 0);
  ASSERT_EQ(::symlink("nowhere", (directory / "root/in/broken").c_str()), 0);

  EXPECT_EQ(paths(), (std::vector<std::string>{"in/file", "inner_link/file"}));
  EXPECT_TRUE(std::ranges::find(skipped, "in/fifo") != skipped.end());
  EXPECT_TRUE(std::ranges::find(skipped, "in/broken") != skipped.end());
}

TEST_F(ListTreeTest, LinksThatMultiplyATreeAreRefused) {
  for (const char* const level : {"1", "2"}) {
    const std::string folder = directory / ("root/" + std::string(level));
    ASSERT_TRUE(make_directories(folder));
    for (int link = 0; link < 11; ++link) {
      const std::string path = folder + "/" + std::to_string(link);
      ASSERT_EQ(::symlink(level[0] == '1' ? "../2" : "../3", path.c_str()), 0);
    }
  }
  for (int file = 0; file < 900; ++file) {
    ASSERT_TRUE(root.open_for_writing("3/" + std::to_string(file), 0));
  }

  const auto listed = list_tree(directory / "root");
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, Code::TooLarge);
}

TEST(ListTree, OfSomethingThatIsNotThereIsNotFound) {
  EXPECT_EQ(list_tree("/no/such/folder").error().code, Code::NotFound);
}

}  // namespace
}  // namespace berth::io
