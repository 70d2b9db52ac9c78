// SPDX-License-Identifier: Apache-2.0
#include "io/files/object_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <map>
#include <thread>
#include <vector>

#include "base/digest.h"
#include "base/text.h"
#include "io/files/temporary_directory.h"

namespace berth::io {
namespace {

class ObjectStoreTest : public testing::Test {
 protected:
  std::string put(std::string_view bytes) {
    auto file = TemporaryFile::make(directory.path());
    EXPECT_TRUE(file->write(bytes));
    EXPECT_TRUE(file->sync());
    const std::string name = to_hex(sha256(bytes));
    EXPECT_TRUE(objects.adopt(std::move(*file), name));
    EXPECT_TRUE(objects.sync(name));
    return name;
  }

  TemporaryDirectory directory;
  ObjectStore objects = *ObjectStore::open(directory / "objects");
};

TEST_F(ObjectStoreTest, KeepsContentByItsHash) {
  const std::string name = put("hello");

  EXPECT_TRUE(objects.open_object(name));
  EXPECT_EQ(*read_file(objects.path_of(name)), "hello");
  EXPECT_EQ(objects.path_of(name), directory / ("objects/" + name));
}

TEST_F(ObjectStoreTest, TheSameContentTwiceIsOneFileAndLeavesNoTemporaryOne) {
  put("same");
  put("same");

  EXPECT_EQ(list_tree(directory.path())->size(), 1u);
}

TEST_F(ObjectStoreTest, OnlyWhatIsNewIsSynced) {
  const std::string name = put("new");
  ASSERT_TRUE(Root::open(directory.path())->remove_tree("objects"));

  EXPECT_TRUE(objects.sync(name)) << "nothing to do, so it cannot notice";

  ASSERT_TRUE(make_directories(directory / "objects"));
  auto file = TemporaryFile::make(directory.path());
  ASSERT_TRUE(objects.adopt(std::move(*file), std::string(64, 'a')));
  ASSERT_TRUE(Root::open(directory.path())->remove_tree("objects"));
  EXPECT_FALSE(objects.sync(name));
}

TEST_F(ObjectStoreTest, ObjectsAreReadOnly) {
  struct stat found {};
  ASSERT_EQ(::stat(objects.path_of(put("x")).c_str(), &found), 0);
  EXPECT_EQ(found.st_mode & 07777u, 0400u);
}

TEST_F(ObjectStoreTest, UnknownAndImpossibleNamesAreErrors) {
  EXPECT_EQ(objects.open_object(std::string(64, 'a')).error().code, Code::NotFound);
  EXPECT_FALSE(objects.open_object("../../../etc/passwd"));
  EXPECT_FALSE(objects.open_object(""));
}

class SweepTest : public ObjectStoreTest {
 protected:
  /// An object whose rows have come and gone.
  std::string unused(std::string_view bytes) {
    const std::string name = put(bytes);
    objects.need({name}).reset();
    return name;
  }
  bool remove(const std::string& name) { return objects.remove_unused(name, false)->is_removed; }
  bool exists(const std::string& name) { return objects.open_object(name).has_value(); }
};

TEST_F(SweepTest, WhatNobodyUsesGoesAndItsSizeIsTold) {
  const std::string name = unused("hello");
  objects.begin_sweep();
  EXPECT_EQ(objects.remove_unused(name, true)->size, 5u);
  EXPECT_TRUE(exists(name)) << "a trial only tells";
  EXPECT_TRUE(remove(name));
  EXPECT_FALSE(exists(name));
  EXPECT_FALSE(remove(name)) << "and it is not there twice";
}

TEST_F(SweepTest, WithoutASweepNothingGoes) {
  const std::string name = unused("hello");
  EXPECT_FALSE(remove(name));
  objects.begin_sweep();
  objects.end_sweep();
  EXPECT_FALSE(remove(name));
}

TEST_F(SweepTest, AnObjectThatIsAdoptedAgainStays) {
  const std::string name = unused("same");
  objects.begin_sweep();
  put("same");
  EXPECT_FALSE(remove(name));
  EXPECT_TRUE(exists(name));
}

TEST_F(SweepTest, AnObjectWhoseRowsAreOnTheirWayStays) {
  const std::string name = unused("same");
  auto needed = objects.need({name});
  objects.begin_sweep();
  EXPECT_FALSE(remove(name));
  needed.reset();
  EXPECT_FALSE(remove(name)) << "the rows that were read before may not have shown it";
  objects.end_sweep();
  objects.begin_sweep();
  EXPECT_TRUE(remove(name));
}

TEST_F(SweepTest, AnObjectThatCameIntoUseForAMomentDuringTheSweepStays) {
  const std::string name = unused("same");
  objects.begin_sweep();
  objects.need({name}).reset();
  EXPECT_FALSE(remove(name));
}

TEST_F(SweepTest, AnUploadThatNobodyEverNamedGoesWithTheSecondSweep) {
  const std::string name = put("refused");
  objects.begin_sweep();
  EXPECT_FALSE(remove(name));
  objects.end_sweep();
  objects.begin_sweep();
  EXPECT_TRUE(remove(name));
}

TEST_F(SweepTest, WhatAReaderHasOpenCanBeReadToItsEnd) {
  const std::string name = unused("hello");
  const auto open = objects.open_object(name);
  objects.begin_sweep();
  ASSERT_TRUE(remove(name));
  char text[5] = {};
  EXPECT_EQ(::pread((*open)->get(), text, 5, 0), 5);
}

TEST_F(SweepTest, EverythingInTheDirectoryIsListed) {
  const std::string name = put("x");
  ASSERT_TRUE(write_file(objects.directory() + "/.half-written", "x"));
  std::map<std::string, bool> listed;
  ASSERT_TRUE(objects.list(
      [&](std::string_view each, bool is_object) { listed.emplace(each, is_object); }));
  EXPECT_EQ(listed, (std::map<std::string, bool>{{name, true}, {".half-written", false}}));
}

/// Same content, over and over, from several threads, while another removes what nobody uses.
TEST_F(SweepTest, WhoHasAnObjectInUseNeverMissesIt) {
  std::atomic<bool> is_over = false;
  std::atomic<int> missed = 0;
  std::jthread sweeper([&] {
    while (!is_over) {
      objects.begin_sweep();
      for (const char* bytes : {"a", "b", "c"}) {
        (void)objects.remove_unused(to_hex(sha256(bytes)), false);
      }
      objects.end_sweep();
    }
  });
  {
    std::vector<std::jthread> users;
    for (int user = 0; user < 3; ++user) {
      users.emplace_back([&, user] {
        const std::string bytes(1, static_cast<char>('a' + user % 2));
        const std::string name = to_hex(sha256(bytes));
        for (int round = 0; round < 300; ++round) {
          const auto hold = objects.need({name});
          auto file = TemporaryFile::make(directory.path());
          const bool is_put = file && file->write(bytes) && objects.adopt(std::move(*file), name);
          if (!is_put || !exists(name)) ++missed;
        }
      });
    }
  }
  is_over = true;
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace berth::io
