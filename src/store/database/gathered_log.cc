// SPDX-License-Identifier: Apache-2.0
#include "store/database/gathered_log.h"

#include <sqlite3.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <new>
#include <span>

#include "base/check.h"

namespace berth::store {
namespace {

constexpr const char* kName = "berth-gathering";
/// More than nearly every commit has. SQLite's own file system loses count from 128 KiB on.
constexpr std::size_t kMost = 124u << 10;

sqlite3_vfs& machine() {
  static sqlite3_vfs* const found = sqlite3_vfs_find(nullptr);
  return *found;
}

/// The log of one connection. SQLite gives it memory, and behind it that for the machine's file.
class Log {
 public:
  explicit Log(sqlite3_file* file) : file_(file) {}

  bool has_memory() const { return pieces_ != nullptr; }

  int write(std::span<const std::byte> piece, sqlite3_int64 offset) {
    const bool follows = offset == begin_ + static_cast<sqlite3_int64>(size_);
    if (size_ > 0 && (!follows || size_ + piece.size() > kMost)) {
      if (const int result = hand_on(); result != SQLITE_OK) return result;
    }
    if (piece.size() > kMost) {
      return file_->pMethods->xWrite(file_, piece.data(), static_cast<int>(piece.size()), offset);
    }
    if (size_ == 0) begin_ = offset;
    std::memcpy(pieces_.get() + size_, piece.data(), piece.size());
    size_ += piece.size();
    return SQLITE_OK;
  }

  /// What could not be written belongs to a commit that fails with it.
  int hand_on() {
    if (size_ == 0) return SQLITE_OK;
    const int size = static_cast<int>(size_);
    size_ = 0;
    return file_->pMethods->xWrite(file_, pieces_.get(), size, begin_);
  }

  sqlite3_file* file() const { return file_; }

 private:
  sqlite3_file* file_;
  std::unique_ptr<std::byte[]> pieces_{new (std::nothrow) std::byte[kMost]};
  sqlite3_int64 begin_ = 0;  ///< Where the pieces belong in the file.
  std::size_t size_ = 0;
};

/// As SQLite knows it.
struct LogFile {
  sqlite3_file base;
  Log log;
};
static_assert(offsetof(LogFile, base) == 0);
static_assert(sizeof(LogFile) % 8 == 0, "SQLite aligns files to eight bytes");

Log& log_of(sqlite3_file* file) { return reinterpret_cast<LogFile*>(file)->log; }

/// Everything but a write: first the file gets what it has not got yet.
template <auto kMethod, typename... Argument>
int after_pieces(sqlite3_file* file, Argument... arguments) {
  Log& log = log_of(file);
  if (const int result = log.hand_on(); result != SQLITE_OK) return result;
  return (log.file()->pMethods->*kMethod)(log.file(), arguments...);
}

int write_piece(sqlite3_file* file, const void* data, int size, sqlite3_int64 offset) {
  return log_of(file).write({static_cast<const std::byte*>(data), static_cast<std::size_t>(size)},
                            offset);
}

int close_log(sqlite3_file* file) {
  const int result = after_pieces<&sqlite3_io_methods::xClose>(file);
  reinterpret_cast<LogFile*>(file)->~LogFile();
  return result;
}

int sector_size(sqlite3_file* file) {
  sqlite3_file* const own = log_of(file).file();
  return own->pMethods->xSectorSize(own);
}

int characteristics(sqlite3_file* file) {
  sqlite3_file* const own = log_of(file).file();
  return own->pMethods->xDeviceCharacteristics(own);
}

/// Of the first version: what came later is for the database's own file.
sqlite3_io_methods log_methods() {
  using Methods = sqlite3_io_methods;
  sqlite3_io_methods methods{};
  methods.iVersion = 1;
  methods.xClose = close_log;
  methods.xRead = after_pieces<&Methods::xRead, void*, int, sqlite3_int64>;
  methods.xWrite = write_piece;
  methods.xTruncate = after_pieces<&Methods::xTruncate, sqlite3_int64>;
  methods.xSync = after_pieces<&Methods::xSync, int>;
  methods.xFileSize = after_pieces<&Methods::xFileSize, sqlite3_int64*>;
  methods.xLock = after_pieces<&Methods::xLock, int>;
  methods.xUnlock = after_pieces<&Methods::xUnlock, int>;
  methods.xCheckReservedLock = after_pieces<&Methods::xCheckReservedLock, int*>;
  methods.xFileControl = after_pieces<&Methods::xFileControl, int, void*>;
  methods.xSectorSize = sector_size;
  methods.xDeviceCharacteristics = characteristics;
  return methods;
}

int open_file(sqlite3_vfs*, const char* name, sqlite3_file* file, int flags, int* out_flags) {
  if ((flags & SQLITE_OPEN_WAL) == 0) {
    return machine().xOpen(&machine(), name, file, flags, out_flags);
  }
  auto* const own = reinterpret_cast<sqlite3_file*>(reinterpret_cast<LogFile*>(file) + 1);
  own->pMethods = nullptr;
  file->pMethods = nullptr;  // Unless it is open SQLite does not close it.
  const int result = machine().xOpen(&machine(), name, own, flags, out_flags);
  if (result != SQLITE_OK) return result;
  static const sqlite3_io_methods kMethods = log_methods();
  auto* const made = new (file) LogFile{.base = {.pMethods = &kMethods}, .log = Log(own)};
  if (made->log.has_memory()) return SQLITE_OK;
  close_log(file);
  file->pMethods = nullptr;
  return SQLITE_NOMEM;
}

sqlite3_vfs gathering() {
  sqlite3_vfs made = machine();
  made.pNext = nullptr;
  made.zName = kName;
  made.szOsFile += static_cast<int>(sizeof(LogFile));
  made.xOpen = open_file;
  return made;
}

}  // namespace

const char* gathering_file_system() {
  static sqlite3_vfs made = gathering();
  static const int registered = sqlite3_vfs_register(&made, 0);
  CHECK(registered == SQLITE_OK, "SQLite takes another file system");
  return kName;
}

}  // namespace berth::store
