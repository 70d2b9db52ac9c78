// SPDX-License-Identifier: Apache-2.0
#include "io/files/file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/temporary_directory.h"

namespace berth::io {
namespace {

bool exists(const std::string& path) { return ::access(path.c_str(), F_OK) == 0; }

unsigned mode_of(const std::string& path) {
  struct stat found {};
  EXPECT_EQ(::stat(path.c_str(), &found), 0);
  return found.st_mode & 07777u;
}

TEST(File, ADescriptorClosesWhatItOwnsOnce) {
  int pipe_ends[2];
  ASSERT_EQ(::pipe2(pipe_ends, O_CLOEXEC), 0);
  Descriptor reader(pipe_ends[0]);
  {
    Descriptor writer(pipe_ends[1]);
    const Descriptor moved = std::move(writer);
    EXPECT_FALSE(writer);
    EXPECT_TRUE(moved);
  }

  char byte = 0;
  EXPECT_EQ(::read(reader.get(), &byte, 1), 0) << "the write end is still open";
}

TEST(File, ErrnoBecomesACodeCallersCanActOn) {
  EXPECT_EQ(error_from_errno(ENOSPC, "write").code, Code::OutOfSpace);
  EXPECT_EQ(error_from_errno(EDQUOT, "write").code, Code::OutOfSpace);
  EXPECT_EQ(error_from_errno(ENOENT, "open").code, Code::NotFound);
  EXPECT_EQ(error_from_errno(EEXIST, "make").code, Code::Conflict);
  EXPECT_EQ(error_from_errno(EIO, "read 'x'").message, "cannot read 'x': Input/output error");
}

TEST(File, ATemporaryFileVanishesUnlessKept) {
  TemporaryDirectory directory;
  std::string path;
  {
    auto file = TemporaryFile::make(directory.path());
    ASSERT_TRUE(file);
    path = file->path();
    EXPECT_TRUE(exists(path));
    EXPECT_EQ(mode_of(path), 0600u);
    TemporaryFile moved = std::move(*file);
    EXPECT_TRUE(exists(moved.path()));
  }

  EXPECT_FALSE(exists(path));
}

TEST(File, AKeptTemporaryFileReplacesItsTarget) {
  TemporaryDirectory directory;
  ASSERT_TRUE(write_file(directory / "target", "old"));
  {
    auto file = TemporaryFile::make(directory.path());
    ASSERT_TRUE(file);
    ASSERT_TRUE(file->write("new"));
    ASSERT_TRUE(file->sync());
    ASSERT_TRUE(file->persist(directory / "target"));
  }

  EXPECT_EQ(*read_file(directory / "target"), "new");
  EXPECT_EQ(list_tree(directory.path())->size(), 1u);
}

TEST(File, WritesAndReadsWholeFilesOfAnyBytes) {
  TemporaryDirectory directory;
  const std::string bytes("a\0b\xff", 4);

  ASSERT_TRUE(write_file(directory / "f", bytes, 0640));

  EXPECT_EQ(*read_file(directory / "f"), bytes);
  EXPECT_EQ(mode_of(directory / "f"), 0640u);
  EXPECT_EQ(read_file(directory / "none").error().code, Code::NotFound);
}

TEST(File, RefusesToReadMoreThanTheLimit) {
  TemporaryDirectory directory;
  ASSERT_TRUE(write_file(directory / "f", "12345"));

  EXPECT_TRUE(read_file(directory / "f", 5));
  EXPECT_EQ(read_file(directory / "f", 4).error().code, Code::TooLarge);
}

TEST(File, MakesMissingDirectoriesAndAcceptsPresentOnes) {
  TemporaryDirectory directory;

  EXPECT_TRUE(make_directories(directory / "a/b/c"));
  EXPECT_TRUE(make_directories(directory / "a/b/c"));
  EXPECT_EQ(mode_of(directory / "a/b"), 0700u);

  ASSERT_TRUE(write_file(directory / "file", ""));
  EXPECT_FALSE(make_directories(directory / "file"));
  EXPECT_FALSE(make_directories(directory / "file/below"));
}

TEST(File, ALockIsHeldByOneAtATime) {
  TemporaryDirectory directory;
  {
    const auto first = FileLock::try_lock(directory / "lock");
    ASSERT_TRUE(first);
    const auto second = FileLock::try_lock(directory / "lock");
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::Conflict);
  }

  EXPECT_TRUE(FileLock::try_lock(directory / "lock"));
  EXPECT_TRUE(FileLock::lock(directory / "lock"));
}

TEST(File, WritingToAFullDeviceIsOutOfSpace) {
  const Descriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  if (!full) GTEST_SKIP() << "no /dev/full here";

  EXPECT_EQ(write_all(full.get(), "x").error().code, Code::OutOfSpace);
}

}  // namespace
}  // namespace berth::io
