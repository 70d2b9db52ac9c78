// SPDX-License-Identifier: Apache-2.0
// A store in a temporary directory, for tests.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/digest.h"
#include "base/text.h"
#include "io/files/object_store.h"
#include "io/files/temporary_directory.h"
#include "io/loop.h"
#include "store/sqlite/sqlite_store.h"

namespace berth::store {

class StoreFixture : public testing::Test {
 protected:
  StoreFixture() { reopen(); }

  const std::string& directory() const { return directory_.path(); }

  void reopen() {
    store.reset();
    auto opened = SqliteStore::open(directory(), loop, objects);
    ASSERT_TRUE(opened) << opened.error().message;
    store = std::move(*opened);
  }

  /// Until some callback calls loop.stop().
  void run_loop() { loop.run(); }

  /// Commits and waits for the answer.
  Status try_commit(Batch batch) {
    Status answer = fail(Code::Internal, "no answer");
    store->commit(std::move(batch), [&](const Status& status) {
      answer = status;
      loop.stop();
    });
    run_loop();
    return answer;
  }
  void commit(Batch batch) {
    const Status answer = try_commit(std::move(batch));
    EXPECT_TRUE(answer) << answer.error().message;
  }

  static model::Job job(std::int64_t sequence, const std::string& name,
                        model::JobStatus status = model::JobStatus::Queued) {
    model::Job job{.key = {{"w"}, name}, .sequence = sequence, .status = status};
    command_of(job.spec.edit()).command = "true";
    return job;
  }
  static model::Asset asset(const std::string& name, const std::string& version) {
    return {.workspace = {"w"}, .name = name, .version = version};
  }
  static AssetQuery assets_named(const std::string& name) {
    return {.workspace = {"w"}, .name = name};
  }

  /// A small object that is really there.
  Piece object(const std::string& content) {
    const std::string name = to_hex(sha256(content));
    auto file = io::TemporaryFile::make(directory());
    EXPECT_TRUE(file && file->write(content) && objects.adopt(std::move(*file), name));
    return {.sha256 = name, .size = content.size()};
  }
  Blob blob(const std::string& path) {
    return {.key = {{"w"}, "c", path}, .pieces = {object(path)}, .size = path.size()};
  }

 private:
  io::TemporaryDirectory directory_;

 protected:
  io::Loop loop;
  io::ObjectStore objects = io::ObjectStore::open(directory_ / "objects").value();
  std::unique_ptr<SqliteStore> store;
};

}  // namespace berth::store
