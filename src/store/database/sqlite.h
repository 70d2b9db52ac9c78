// SPDX-License-Identifier: Apache-2.0
// SQLite's C interface with owners and Results. A Database and all that comes from it belong to one
// thread at a time.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace berth::store {

/// What a statement is given. Text is not copied: it must outlive the Cursor.
using Value = std::variant<std::int64_t, std::string_view, double>;
using Values = std::initializer_list<Value>;

/// A statement put together from parts, with what its question marks stand for, in order.
struct Sql {
  std::string text{};
  std::vector<Value> values{};

  void add(std::string_view more) { text += more; }
  void add(std::string_view more, Value value) {
    text += more;
    values.push_back(value);
  }
};

/// The rows of a running statement. While one is held, the same SQL must not be run again.
class Cursor {
 public:
  Cursor(sqlite3* database, sqlite3_stmt* statement) : database_(database), statement_(statement) {}

  /// False when there are no more rows.
  Result<bool> next();
  /// Valid until the next next().
  std::string_view text(int column) const;
  std::int64_t integer(int column) const;
  double real(int column) const;
  bool is_null(int column) const;

 private:
  struct Reset {
    void operator()(sqlite3_stmt* statement) const;
  };
  sqlite3* database_;
  std::unique_ptr<sqlite3_stmt, Reset> statement_;
};

class Database {
 public:
  /// Committing: with a log that is written in few, large pieces (gathered_log.h).
  enum class Mode { ReadOnly, ReadWrite, Committing };
  static Result<Database> open(const std::string& path, Mode mode);

  /// Statements without values, several separated by ';'.
  Status execute(const char* script);

  /// Starts a statement, which is prepared once and kept. Fails when the SQL is wrong.
  Result<Cursor> query(std::string_view sql, Values values = {});
  Result<Cursor> query(const Sql& sql);
  /// Runs a statement that yields no rows.
  Status run(std::string_view sql, Values values = {});
  /// The number in the first column of the first row; `otherwise` when there is no row.
  Result<std::int64_t> integer(std::string_view sql, Values values = {},
                               std::int64_t otherwise = 0);

  /// From any thread: the statement that runs fails.
  void interrupt();

  /// Whether a transaction is open: SQLite rolls back by itself after some failures.
  bool in_transaction() const;
  /// Restart: what comes next is written to the log's beginning. Truncate: its file is empty, too.
  enum class Checkpoint { Restart, Truncate };
  /// Moves the log into the database file and begins it anew. False when somebody reads what is in
  /// it, and still does after `patience`: then what can be moved is moved.
  Result<bool> checkpoint(Checkpoint how, Duration patience);
  /// How long the log was after the last commit.
  int log_pages() const { return *log_pages_; }

  /// The database's file grows by whole chunks of so many bytes from now on.
  void grow_by(std::int64_t bytes);
  /// Gives the database's file room for so many bytes, before they are written to it.
  Status reach(std::int64_t bytes);

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  using Prepared = std::unique_ptr<sqlite3_stmt, Finalize>;

  explicit Database(sqlite3* database) : database_(database) {}
  Result<sqlite3_stmt*> prepared(std::string_view sql);
  Result<Cursor> start(std::string_view sql, std::span<const Value> values);

  std::unique_ptr<int> log_pages_ = std::make_unique<int>(0);  // SQLite keeps its address.
  std::unique_ptr<sqlite3, Close> database_;
  std::map<std::string, Prepared, std::less<>> statements_;  // After: finalized before the close.
};

}  // namespace berth::store
