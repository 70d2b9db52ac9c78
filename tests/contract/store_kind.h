// SPDX-License-Identifier: Apache-2.0
// The stores that the contract is tried on, each with how a test waits for it.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <type_traits>

#include "base/digest.h"
#include "base/text.h"
#include "io/files/file.h"
#include "io/files/object_store.h"
#include "io/files/temporary_directory.h"
#include "io/loop.h"
#include "store/fake_store.h"
#include "store/sqlite/sqlite_store.h"

namespace berth::contract {

class Sqlite {
 public:
  store::Store& store() { return *store_; }
  /// Until all that was handed over is answered.
  void settle() {
    store_->flush();
    loop_.post([this] { loop_.stop(); });
    loop_.run();
  }
  /// Of an object that is there.
  store::Piece piece() {
    const std::string content = "content";
    const std::string name = to_hex(sha256(content));
    auto file = io::TemporaryFile::make(directory_.path());
    EXPECT_TRUE(file && file->write(content) && objects_.adopt(std::move(*file), name));
    return {.sha256 = name, .size = content.size()};
  }

 private:
  io::TemporaryDirectory directory_;
  io::Loop loop_;
  io::ObjectStore objects_ = io::ObjectStore::open(directory_ / "objects").value();
  std::unique_ptr<store::SqliteStore> store_ =
      store::SqliteStore::open(directory_.path(), loop_, objects_).value();
};

class InMemory {
 public:
  store::Store& store() { return store_; }
  void settle() { store_.complete(); }
  store::Piece piece() { return {.sha256 = "any", .size = 7}; }

 private:
  store::FakeStore store_;
};

using StoreKinds = testing::Types<Sqlite, InMemory>;
struct StoreKindNames {
  template <typename Kind>
  static std::string GetName(int) {
    return std::is_same_v<Kind, Sqlite> ? "Sqlite" : "InMemory";
  }
};
}  // namespace berth::contract
