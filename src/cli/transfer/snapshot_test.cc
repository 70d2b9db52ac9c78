// SPDX-License-Identifier: Apache-2.0
#include "cli/transfer/snapshot.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "base/digest.h"
#include "base/text.h"
#include "cli/testing_folder.h"

namespace berth::cli {
namespace {

std::vector<std::string> paths_of(const TestingFolder& folder) {
  const auto snapshot = take_snapshot(folder.path(), {}, [](std::string_view) {});
  EXPECT_TRUE(snapshot) << (snapshot ? "" : snapshot.error().message);
  std::vector<std::string> paths;
  if (snapshot) {
    for (const SnapshotFile& file : snapshot->files) paths.push_back(file.path);
  }
  return paths;
}

using Paths = std::vector<std::string>;

TEST(Snapshot, AmlignoreWinsOverGitignore) {
  const TestingFolder folder;
  folder.write("train.py", "x");
  folder.write("data.csv", "x");
  folder.write("notes.md", "x");
  folder.write(".gitignore", "*.csv\n");
  EXPECT_EQ(paths_of(folder), (Paths{".gitignore", "notes.md", "train.py"}));

  folder.write(".amlignore", "*.md\n.*ignore\n");
  EXPECT_EQ(paths_of(folder), (Paths{"data.csv", "train.py"}));
}

TEST(Snapshot, OnlyTheRulesOfTheFolderItselfCount) {
  const TestingFolder folder;
  folder.write("sub/.gitignore", "*.py\n");
  folder.write("sub/a.py", "x");

  EXPECT_EQ(paths_of(folder), (Paths{"sub/.gitignore", "sub/a.py"}));
}

TEST(Snapshot, LeavesOutLinksThatLeadAwayAndSaysSo) {
  const TestingFolder folder;
  folder.write("a.txt", "x");
  ASSERT_EQ(symlink("a.txt", (folder.path() + "/inside").c_str()), 0);
  ASSERT_EQ(symlink("/etc/passwd", (folder.path() + "/outside").c_str()), 0);
  std::string warned;

  const auto snapshot =
      take_snapshot(folder.path(), {}, [&](std::string_view text) { warned += text; });

  ASSERT_TRUE(snapshot);
  ASSERT_EQ(snapshot->files.size(), 2u);
  EXPECT_EQ(snapshot->files[1].path, "inside");
  EXPECT_NE(warned.find("'outside'"), std::string::npos);
}

TEST(Snapshot, LeavesOutAStateDirectoryAndSaysSo) {
  const TestingFolder folder;
  folder.write("train.py", "x");
  folder.write("notes/owner.token", "only called so");
  for (const char* name : {"owner.token", "installation.id", "secrets/signing.key", "berth.db"}) {
    folder.write(std::string("home/") + name, "x");
  }
  folder.write("home-made/a.py", "x");
  std::string warned;

  const auto snapshot =
      take_snapshot(folder.path(), {}, [&](std::string_view text) { warned += text; });

  ASSERT_TRUE(snapshot);
  EXPECT_EQ(paths_of(folder), (Paths{"home-made/a.py", "notes/owner.token", "train.py"}));
  EXPECT_NE(warned.find("/home/'"), std::string::npos) << warned;
}

TEST(Snapshot, OfOneFileIsThatFile) {
  const TestingFolder folder;
  folder.write("train.py", "print()");

  const auto snapshot = take_snapshot(folder.path() + "/train.py", {}, [](std::string_view) {});

  ASSERT_TRUE(snapshot);
  ASSERT_EQ(snapshot->files.size(), 1u);
  EXPECT_EQ(snapshot->files[0].path, "train.py");
  EXPECT_EQ(snapshot->bytes, 7u);
}

TEST(Snapshot, RefusesMoreThanItsLimits) {
  const TestingFolder folder;
  folder.write("a", "1234");
  folder.write("b", "1234");

  EXPECT_FALSE(take_snapshot(folder.path(), {.files = 1}, [](std::string_view) {}));
  EXPECT_FALSE(take_snapshot(folder.path(), {.bytes = 7}, [](std::string_view) {}));
  EXPECT_TRUE(take_snapshot(folder.path(), {.files = 2, .bytes = 8}, [](std::string_view) {}));
}

TEST(Snapshot, OfNothingSaysWhatIsMissing) {
  const auto snapshot = take_snapshot("/nowhere/at/all", {}, [](std::string_view) {});

  ASSERT_FALSE(snapshot);
  EXPECT_NE(snapshot.error().message.find("/nowhere/at/all"), std::string::npos);
}

TEST(ContentHash, IsThatOfAlgorithm202208) {
  const TestingFolder folder;
  folder.write("b.txt", "bb");
  folder.write("A/x.py", "a");
  folder.write("c", "");
  const auto snapshot = take_snapshot(folder.path(), {}, [](std::string_view) {});
  ASSERT_TRUE(snapshot);

  EXPECT_EQ(*content_hash(*snapshot), to_hex(sha256("3#A/x.py#1#b.txt#2#c#0abb")));
}

TEST(Snapshot, AFileThatNoBlobCanBeNamedAfterIsNamedBeforeAnythingIsSent) {
  for (const char* name : {"a\\b", "a\nb", "a\xff"}) {
    const TestingFolder folder;
    folder.write(name, "x");

    const auto snapshot = take_snapshot(folder.path(), {}, [](std::string_view) {});

    ASSERT_FALSE(snapshot) << name;
    EXPECT_NE(snapshot.error().message.find("rename it"), std::string::npos)
        << snapshot.error().message;

    folder.write(".amlignore", "a*\n");
    EXPECT_EQ(paths_of(folder), Paths{".amlignore"});
  }
}

}  // namespace
}  // namespace berth::cli
