// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/log_store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>

#include "base/digest.h"
#include "base/log.h"
#include "base/text.h"

namespace berth::server {

using model::JobKey;

struct LogStore::Live {
  int attempt = 0;
  std::uint64_t size = 0;
  std::shared_ptr<const io::Descriptor> file;
  /// It may be an object as well, under a second name: nothing may be added any more.
  bool is_sealed = false;
};

LogStore::LogStore(std::string directory, const io::ObjectStore& objects, io::Offload& disk)
    : directory_(std::move(directory)), objects_(objects), disk_(disk) {}

LogStore::~LogStore() = default;

// Both parts are checked names, so the path stays below the directory.
std::string LogStore::path_of(const JobKey& job, int attempt) const {
  return fmt::format("{}/{}/{}/{}", directory_, job.workspace.text, job.name, attempt);
}

Result<LogStore::Live*> LogStore::find_or_make(const JobKey& job, int attempt) {
  std::shared_ptr<Live>& live = live_[job];
  if (live && live->attempt == attempt) return live.get();
  if (live && live->attempt > attempt) {
    return fail(Code::Conflict, "a newer attempt has begun");
  }
  const std::string path = path_of(job, attempt);
  TRY(io::make_directories(path.substr(0, path.rfind('/'))));
  const int fd = ::open(path.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (fd < 0) return fail(io::error_from_errno(errno, "open the live log"));
  auto file = std::make_shared<const io::Descriptor>(fd);
  struct stat facts {};
  if (::fstat(fd, &facts) != 0)
    return fail(io::error_from_errno(errno, "read the live log's size"));
  live = std::make_shared<Live>(Live{attempt, static_cast<std::uint64_t>(facts.st_size),
                                     std::move(file), facts.st_nlink > 1});
  return live.get();
}

Result<std::uint64_t> LogStore::append(const JobKey& job, int attempt, std::uint64_t offset,
                                       std::string_view bytes) {
  if (bytes.empty() && !live_.contains(job)) return 0;  // Only asks; a job may never say a word.
  Live* live = TRY(find_or_make(job, attempt));
  const bool is_known = offset > live->size || offset + bytes.size() <= live->size;
  if (is_known || live->is_sealed) return live->size;
  bytes.remove_prefix(live->size - offset);
  const Status written = io::write_all(live->file->get(), bytes);
  if (!written) {
    // A part may have been written; what counts is what is there.
    struct stat facts {};
    if (::fstat(live->file->get(), &facts) == 0) {
      live->size = static_cast<std::uint64_t>(facts.st_size);
    }
    return fail(written.error());
  }
  live->size += bytes.size();
  return live->size;
}

std::optional<std::string> LogStore::read(const JobKey& job, std::uint64_t offset,
                                          std::size_t limit) const {
  const auto found = live_.find(job);
  if (found == live_.end() || !found->second) return std::nullopt;
  const Live& live = *found->second;
  if (offset >= live.size) return std::string();
  std::string bytes(std::min<std::uint64_t>(limit, live.size - offset), '\0');
  const ssize_t got =
      ::pread(live.file->get(), bytes.data(), bytes.size(), static_cast<off_t>(offset));
  bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  return bytes;
}

std::optional<io::FileRange> LogStore::open(const JobKey& job) const {
  const auto found = live_.find(job);
  if (found == live_.end() || !found->second) return std::nullopt;
  return io::FileRange{found->second->file, 0, found->second->size};
}

namespace {

struct Sealed {
  std::vector<store::Piece> pieces{};
  std::shared_ptr<void> hold{};  ///< Until the rows that name the pieces are handed over.
};

/// Hands all of the log over, piece by piece; how long it is.
Result<std::uint64_t> read_all(const io::Descriptor& log,
                               const std::function<Status(std::string_view)>& take) {
  std::string buffer(1 << 20, '\0');
  std::uint64_t size = 0;
  while (true) {
    const ssize_t got = ::pread(log.get(), buffer.data(), buffer.size(), static_cast<off_t>(size));
    if (got < 0) return fail(io::error_from_errno(errno, "read the live log"));
    if (got == 0) return size;
    const std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    TRY(take(bytes));
    size += bytes.size();
  }
}

Status copy_into_object(const io::Descriptor& log, const io::ObjectStore& objects,
                        const std::string& name) {
  io::TemporaryFile copy = TRY(io::TemporaryFile::make(objects.directory()));
  TRY(read_all(log, [&](std::string_view bytes) { return copy.write(bytes); }));
  TRY(copy.sync());
  return objects.adopt(std::move(copy), name);
}

/// A second name for the file instead of a copy; only where both are on one file system.
Status link_as_object(const std::string& path, const io::ObjectStore& objects,
                      const std::string& name) {
  io::TemporaryFile place = TRY(io::TemporaryFile::make(objects.directory()));
  ::unlink(place.path().c_str());
  if (::link(path.c_str(), place.path().c_str()) != 0) {
    return fail(io::error_from_errno(errno, "link the live log"));
  }
  return objects.adopt(std::move(place), name);
}

/// Makes the log an object, which needs no room where both are on one disk: the disk may be full,
/// and the end of a job that filled it must not wait. The live file stays until the commit that
/// names the object.
Result<Sealed> make_object(const io::Descriptor& log, const std::string& path,
                           const io::ObjectStore& objects) {
  Digest digest;
  const std::uint64_t size = TRY(read_all(log, [&](std::string_view bytes) -> Status {
    digest.update(bytes);
    return Done{};
  }));
  if (size == 0) return Sealed{};
  const std::string name = to_hex(digest.finish());
  std::shared_ptr<void> hold = objects.need({name});
  if (::fsync(log.get()) != 0) return fail(io::error_from_errno(errno, "sync the live log"));
  if (!link_as_object(path, objects, name)) TRY(copy_into_object(log, objects, name));
  return Sealed{{{name, size}}, std::move(hold)};
}

}  // namespace

void LogStore::seal(const JobKey& job, int attempt,
                    std::function<void(Result<std::vector<store::Piece>>)> done) {
  if (!live_.contains(job)) return done(std::vector<store::Piece>{});
  Result<Live*> live = find_or_make(job, attempt);
  if (!live) return done(fail(live.error()));
  (*live)->is_sealed = true;
  disk_.run([file = (*live)->file, path = path_of(job, attempt), &objects = objects_,
             done = std::move(done)] {
    Result<Sealed> sealed = make_object(*file, path, objects);
    return [sealed = std::move(sealed), done] {
      if (sealed) return done(sealed->pieces);
      done(fail(sealed.error()));
    };
  });
}

void LogStore::drop(const JobKey& job, int attempt) {
  const auto found = live_.find(job);
  if (found == live_.end()) return;  // Nothing was ever said.
  if (found->second && found->second->attempt == attempt) live_.erase(found);
  remove(job, attempt);
}

void LogStore::remove(const JobKey& job, int attempt) const {
  const std::string path = path_of(job, attempt);
  ::unlink(path.c_str());
  ::rmdir(path.substr(0, path.rfind('/')).c_str());  // Stays when a newer attempt is in it.
}

Status LogStore::recover(const std::function<bool(const JobKey&, int)>& is_live) {
  namespace fs = std::filesystem;
  std::error_code failed;
  std::vector<std::pair<JobKey, int>> found;
  for (const auto& workspace : fs::directory_iterator(directory_, failed)) {
    for (const auto& job : fs::directory_iterator(workspace.path(), failed)) {
      for (const auto& log : fs::directory_iterator(job.path(), failed)) {
        int attempt = 0;
        const std::string name = log.path().filename();
        std::from_chars(name.data(), name.data() + name.size(), attempt);
        found.push_back({{{workspace.path().filename()}, job.path().filename()}, attempt});
      }
      ::rmdir(job.path().c_str());  // A crash left it empty.
    }
  }
  for (const auto& [job, attempt] : found) {
    if (is_live(job, attempt)) {
      TRY(find_or_make(job, attempt));
    } else {
      remove(job, attempt);
    }
  }
  return Done{};
}

}  // namespace berth::server
