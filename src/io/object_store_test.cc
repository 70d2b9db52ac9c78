// SPDX-License-Identifier: Apache-2.0
#include "io/object_store.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "base/digest.h"
#include "base/text.h"
#include "io/temporary_directory.h"

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

}  // namespace
}  // namespace berth::io
