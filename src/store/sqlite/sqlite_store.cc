// SPDX-License-Identifier: Apache-2.0
#include "store/sqlite/sqlite_store.h"

#include <fcntl.h>

#include <cerrno>

#include "io/files/disk_room.h"
#include "io/files/file.h"
#include "store/database/log_check.h"
#include "store/database/schema.h"
#include "store/sqlite/documents.h"
#include "store/sqlite/entity_rows.h"
#include "store/sqlite/objects_of.h"

namespace berth::store {
namespace {

/// Made by us, because SQLite would let others read it; its log takes over the mode.
Status make_file(const std::string& path) {
  const io::Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (file) return Done{};
  return fail(io::error_from_errno(errno, fmt::format("open '{}'", path)));
}

/// What an older server may have left is longer; all of it is moved at the start.
constexpr std::uint64_t kLongestLog = 64u << 20;
constexpr Duration kPatience = std::chrono::seconds(5);  // With a reader of another process.

/// FULL: a commit is on disk when it returns. The writer looks after the length of the log itself
/// (SQLite would not say when that fails), by the hook that Database sets: nothing here may set
/// another, as "PRAGMA wal_autocheckpoint" does.
Result<Database> open_writer(const std::string& path) {
  TRY(make_file(path));
  Database database = TRY(Database::open(path, Database::Mode::Committing));
  TRY(database.execute("PRAGMA synchronous = FULL; PRAGMA journal_mode = WAL;"));
  TRY(migrate(database));
  // A log begins anew with every server: what a crash left at its end cannot add up (log_check.h).
  // On a full disk its file stays: the room that it has is all that there may be.
  const bool keeps_file = io::room_taken(path + "-wal") <= kLongestLog &&
                          Room::is_full(path.substr(0, path.rfind('/')));
  const auto begun = database.checkpoint(
      keeps_file ? Database::Checkpoint::Restart : Database::Checkpoint::Truncate, kPatience);
  if (!begun && begun.error().code == Code::Internal) return fail(begun.error());
  return database;
}

constexpr int kCacheKib = 16384;
/// What is loaded is read once, in the order of the file.
constexpr int kCacheKibToLoad = 1024;

Status set_cache(Database& database, int kib) {
  return database.execute(fmt::format("PRAGMA cache_size = -{}", kib).c_str());
}

Result<Database> open_reader(const std::string& path) {
  Database database = TRY(Database::open(path, Database::Mode::ReadWrite));
  TRY(database.execute("PRAGMA query_only = 1"));
  TRY(set_cache(database, kCacheKib));
  return database;
}

Result<std::int64_t> last_sequence_in(Database& reader) {
  return reader.integer("SELECT value FROM meta WHERE key = 'last_sequence'");
}

/// A server must not go on with half of what it knew, nor make the damage worse.
template <typename T>
Result<T> with_advice(Result<T> result, const std::string& path) {
  if (result || result.error().code != Code::Internal) return result;
  return fail(Code::Internal,
              fmt::format("'{}' is damaged and was left as it is: {}. Restore a backup, or salvage "
                          "what can be read with \"sqlite3 '{}' .recover\"; docs/reliability.md "
                          "says how",
                          path, result.error().message, path));
}

}  // namespace

Result<std::unique_ptr<Store>> Store::open(const std::string& directory, io::Loop& loop,
                                           const io::ObjectStore& objects, Broken on_broken) {
  return TRY(SqliteStore::open(directory, loop, objects, std::move(on_broken)));
}

Result<std::unique_ptr<SqliteStore>> SqliteStore::open(const std::string& directory, io::Loop& loop,
                                                       const io::ObjectStore& objects,
                                                       Broken on_broken) {
  TRY(io::make_directories(directory));
  const std::string path = directory + "/berth.db";
  Connections connections = TRY(with_advice(connect(directory, path), path));
  return std::unique_ptr<SqliteStore>(new SqliteStore(
      std::move(connections),
      {.loop = loop, .objects = objects, .path = path, .on_broken = std::move(on_broken)}));
}

Result<SqliteStore::Connections> SqliteStore::connect(const std::string& directory,
                                                      const std::string& path) {
  TRY(check_log(path + "-wal"));
  TRY(check_version(path));
  Database writer = TRY(open_writer(path));
  TRY(io::sync_directory(directory));
  Database reader = TRY(open_reader(path));
  Database searcher = TRY(open_reader(path));
  Database inspector = TRY(open_reader(path));
  const std::int64_t last_sequence = TRY(last_sequence_in(reader));
  return Connections{std::move(writer), std::move(reader), std::move(searcher),
                     std::move(inspector), last_sequence};
}

SqliteStore::SqliteStore(Connections connections, Writer::Parts parts)
    : path_(parts.path),
      objects_(parts.objects),
      reader_(std::move(connections.reader)),
      experiments_(connections.last_sequence),
      searches_(std::move(connections.searcher), parts.loop),
      inspections_(std::move(connections.inspector), parts.loop) {
  parts.make_way = [this](bool is_last_resort) {
    Writer::Held held;
    held.push_back(searches_.way().clear());
    if (is_last_resort) held.push_back(inspections_.way().clear());
    return held;
  };
  writer_ = std::make_unique<Writer>(std::move(connections.writer), std::move(parts));
}

void SqliteStore::commit(Batch batch, Committed done) {
  const std::uint64_t number = overlay_->add(batch);
  // From here until the rows are on disk, nothing else says that these objects are needed.
  auto needed = objects_.need(objects_of(batch));
  experiments_.note(batch);
  writer_->submit(std::move(batch), [overlay = overlay_, number, needed = std::move(needed),
                                     done = std::move(done)](const Status& status) mutable {
    needed.reset();
    overlay->settle(number);
    if (done) done(status);
  });
}

Result<core::State> SqliteStore::load() { return with_advice(load_snapshot(), path_); }

/// One snapshot for all tables.
Result<core::State> SqliteStore::load_snapshot() {
  TRY(set_cache(reader_, kCacheKibToLoad));
  TRY(reader_.run("BEGIN"));
  Result<core::State> state = load_rows();
  const Status ended = reader_.run("COMMIT");
  TRY(set_cache(reader_, kCacheKib));
  if (state && !ended) return fail(ended.error());
  return state;
}

Result<core::State> SqliteStore::load_rows() {
  core::State state;
  Status loaded = Done{};
  core::for_each_entity([&]<typename T>() {
    if (loaded) loaded = load_entities<T>(reader_, state);
  });
  TRY(loaded);
  return state;
}

Result<std::int64_t> SqliteStore::last_sequence() { return last_sequence_in(reader_); }

Result<std::int64_t> SqliteStore::last_node_sequence() {
  return reader_.integer("SELECT value FROM meta WHERE key = 'last_node_sequence'");
}

Result<std::string> SqliteStore::experiment_of(const model::Job& job) {
  if (std::optional<std::string> known = experiments_.find(job)) return *std::move(known);
  const auto run = TRY(tracking_.run(job.key));
  if (!run) return std::string(model::kDefaultExperimentId);
  experiments_.learn(job, run->experiment);
  return run->experiment;
}

Result<std::vector<model::Usage>> SqliteStore::usage(const UsageQuery& query) {
  return read_documents<model::Usage>(TRY(
      reader_.query("SELECT doc FROM usage WHERE workspace = ? AND ended_at >= ? AND ended_at < ? "
                    "ORDER BY ended_at LIMIT ?",
                    {query.workspace.text, query.from.time_since_epoch().count(),
                     query.to.time_since_epoch().count(),
                     static_cast<std::int64_t>(std::min<std::size_t>(query.limit, 1'000'000))})));
}

}  // namespace berth::store
