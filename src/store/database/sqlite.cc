// SPDX-License-Identifier: Apache-2.0
#include "store/database/sqlite.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>

#include "base/check.h"
#include "store/database/gathered_log.h"
#include "store/database/like.h"

namespace berth::store {
namespace {

constexpr std::size_t kMostStatements = 256;
constexpr int kPatience = 5'000;  // Milliseconds for a lock of somebody else's.

Code code_of(sqlite3* database, int result) {
  const int primary = result & 0xff;
  if (primary == SQLITE_FULL) return Code::OutOfSpace;
  if (primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB) return Code::Internal;
  // After a sync that failed nobody knows what is on the disk, whatever the reason was.
  if (result == SQLITE_IOERR_FSYNC || result == SQLITE_IOERR_DIR_FSYNC) return Code::Internal;
  const int error_number = database == nullptr ? 0 : sqlite3_system_errno(database);
  if (primary == SQLITE_IOERR && error_number == EIO) return Code::Internal;
  const bool no_room = error_number == ENOSPC || error_number == EDQUOT;
  return primary == SQLITE_IOERR && no_room ? Code::OutOfSpace : Code::Unavailable;
}

tl::unexpected<Error> failure(sqlite3* database, int result) {
  if ((result & 0xff) == SQLITE_INTERRUPT) {
    return fail(Code::Unavailable,
                "this takes longer than the database can stand still for it while others change "
                "it; ask for less, or later");
  }
  const char* message = database == nullptr ? sqlite3_errstr(result) : sqlite3_errmsg(database);
  return fail(code_of(database, result), fmt::format("database: {} ({})", message, result));
}

int bind(sqlite3_stmt* statement, int index, const Value& value) {
  if (const auto* number = std::get_if<std::int64_t>(&value)) {
    return sqlite3_bind_int64(statement, index, *number);
  }
  if (const auto* real = std::get_if<double>(&value)) {
    return sqlite3_bind_double(statement, index, *real);
  }
  const std::string_view text = std::get<std::string_view>(value);
  // A null pointer would bind NULL instead of an empty text.
  return sqlite3_bind_text64(statement, index, text.data() == nullptr ? "" : text.data(),
                             text.size(), SQLITE_STATIC, SQLITE_UTF8);
}

std::string_view text_of(sqlite3_value* value) {
  const auto* text = sqlite3_value_text(value);
  const int size = sqlite3_value_bytes(value);
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)};
}

template <bool heeds_case>
void sql_is_like(sqlite3_context* context, int, sqlite3_value** arguments) {
  for (int index = 0; index < 2; ++index) {
    if (sqlite3_value_type(arguments[index]) == SQLITE_NULL) return sqlite3_result_null(context);
  }
  const bool matches = is_like(text_of(arguments[0]), text_of(arguments[1]), heeds_case);
  sqlite3_result_int(context, matches ? 1 : 0);
}

void add_functions(sqlite3* database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  sqlite3_create_function(database, "is_like", 2, kFlags, nullptr, sql_is_like<true>, nullptr,
                          nullptr);
  sqlite3_create_function(database, "is_ilike", 2, kFlags, nullptr, sql_is_like<false>, nullptr,
                          nullptr);
}

int note_log_pages(void* pages, sqlite3*, const char*, int count) {
  *static_cast<int*>(pages) = count;
  return SQLITE_OK;
}

}  // namespace

void Cursor::Reset::operator()(sqlite3_stmt* statement) const {
  sqlite3_reset(statement);
  sqlite3_clear_bindings(statement);
}

Result<bool> Cursor::next() {
  const int result = sqlite3_step(statement_.get());
  if (result == SQLITE_ROW) return true;
  if (result == SQLITE_DONE) return false;
  return failure(database_, sqlite3_extended_errcode(database_));
}

std::string_view Cursor::text(int column) const {
  const auto* text = sqlite3_column_text(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return {reinterpret_cast<const char*>(text), static_cast<std::size_t>(size)};
}

std::int64_t Cursor::integer(int column) const {
  return sqlite3_column_int64(statement_.get(), column);
}

double Cursor::real(int column) const { return sqlite3_column_double(statement_.get(), column); }

bool Cursor::is_null(int column) const {
  return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL;
}

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }
void Database::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

Result<Database> Database::open(const std::string& path, Mode mode) {
  const int flags =
      mode == Mode::ReadOnly ? SQLITE_OPEN_READONLY : SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  const char* const file_system = mode == Mode::Committing ? gathering_file_system() : nullptr;
  sqlite3* raw = nullptr;
  const int result = sqlite3_open_v2(path.c_str(), &raw, flags | SQLITE_OPEN_NOMUTEX, file_system);
  Database database(raw);
  if (result != SQLITE_OK) {
    Error error = failure(raw, result).value();
    error.message = fmt::format("cannot open '{}': {}", path, error.message);
    return fail(std::move(error));
  }
  sqlite3_extended_result_codes(raw, 1);
  // Nothing else may set a hook, as "PRAGMA wal_autocheckpoint" does: the writer goes by this one.
  sqlite3_wal_hook(raw, note_log_pages, database.log_pages_.get());
  sqlite3_busy_timeout(raw, kPatience);
  add_functions(raw);
  return database;
}

Status Database::execute(const char* script) {
  const int result = sqlite3_exec(database_.get(), script, nullptr, nullptr, nullptr);
  if (result == SQLITE_OK) return Done{};
  return failure(database_.get(), result);
}

Result<sqlite3_stmt*> Database::prepared(std::string_view sql) {
  if (const auto found = statements_.find(sql); found != statements_.end()) {
    CHECK(!sqlite3_stmt_busy(found->second.get()), "a statement is not run inside itself");
    return found->second.get();
  }
  sqlite3_stmt* statement = nullptr;
  const int result = sqlite3_prepare_v3(database_.get(), sql.data(), static_cast<int>(sql.size()),
                                        SQLITE_PREPARE_PERSISTENT, &statement, nullptr);
  if (result != SQLITE_OK) return failure(database_.get(), result);
  // Searches are put together from what users ask: there is no end to their texts.
  if (statements_.size() >= kMostStatements) {
    std::erase_if(statements_,
                  [](const auto& each) { return !sqlite3_stmt_busy(each.second.get()); });
  }
  statements_.emplace(sql, Prepared(statement));
  return statement;
}

Result<Cursor> Database::query(std::string_view sql, Values values) {
  return start(sql, std::span(values.begin(), values.size()));
}

Result<Cursor> Database::query(const Sql& sql) { return start(sql.text, sql.values); }

Result<Cursor> Database::start(std::string_view sql, std::span<const Value> values) {
  sqlite3_stmt* statement = TRY(prepared(sql));
  Cursor cursor(database_.get(), statement);
  int index = 0;
  for (const Value& value : values) {
    const int result = bind(statement, ++index, value);
    if (result != SQLITE_OK) return failure(database_.get(), result);
  }
  return cursor;
}

Status Database::run(std::string_view sql, Values values) {
  Cursor cursor = TRY(query(sql, values));
  TRY(cursor.next());
  return Done{};
}

Result<std::int64_t> Database::integer(std::string_view sql, Values values,
                                       std::int64_t otherwise) {
  Cursor cursor = TRY(query(sql, values));
  return TRY(cursor.next()) ? cursor.integer(0) : otherwise;
}

void Database::interrupt() { sqlite3_interrupt(database_.get()); }

bool Database::in_transaction() const { return sqlite3_get_autocommit(database_.get()) == 0; }

Result<bool> Database::checkpoint(Checkpoint how, Duration patience) {
  sqlite3* const database = database_.get();
  const int mode =
      how == Checkpoint::Truncate ? SQLITE_CHECKPOINT_TRUNCATE : SQLITE_CHECKPOINT_RESTART;
  sqlite3_busy_timeout(database, static_cast<int>(patience.count()));
  const int result = sqlite3_wal_checkpoint_v2(database, nullptr, mode, nullptr, nullptr);
  sqlite3_busy_timeout(database, kPatience);
  if (result == SQLITE_OK) *log_pages_ = 0;
  if (result == SQLITE_OK) return true;
  if ((result & 0xff) == SQLITE_BUSY) return false;
  return failure(database, sqlite3_extended_errcode(database));
}

void Database::grow_by(std::int64_t bytes) {
  int chunk = static_cast<int>(bytes);
  sqlite3_file_control(database_.get(), nullptr, SQLITE_FCNTL_CHUNK_SIZE, &chunk);
}

Status Database::reach(std::int64_t bytes) {
  sqlite3_int64 size = bytes;
  const int result = sqlite3_file_control(database_.get(), nullptr, SQLITE_FCNTL_SIZE_HINT, &size);
  if (result == SQLITE_OK) return Done{};
  // SQLite does not say why. It only asks for room here: that is what there is not.
  return fail(Code::OutOfSpace, fmt::format("database: no room to grow ({})", result));
}

}  // namespace berth::store
