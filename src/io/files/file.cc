// SPDX-License-Identifier: Apache-2.0
#include "io/files/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <system_error>
#include <thread>

#include "base/random.h"

namespace berth::io {
namespace {

Code code_of(int error_number) {
  switch (error_number) {
    case ENOSPC:
    case EDQUOT: return Code::OutOfSpace;
    case ENOENT: return Code::NotFound;
    case EEXIST:
    case ENOTDIR:
    case EISDIR:
    case ENOTEMPTY: return Code::Conflict;
    case ELOOP:
    case EXDEV:
    case ENAMETOOLONG: return Code::InvalidArgument;
    case EFBIG: return Code::TooLarge;
    case EAGAIN:
    case EMFILE:
    case ENFILE:
    case ENOMEM: return Code::Unavailable;
    default: return Code::Internal;
  }
}

tl::unexpected<Error> failed(std::string_view verb, const std::string& path) {
  const int error_number = errno;
  return fail(error_from_errno(error_number, fmt::format("{} '{}'", verb, path)));
}

std::string parent_of(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

bool is_directory(const std::string& path) {
  struct stat found {};
  return ::stat(path.c_str(), &found) == 0 && S_ISDIR(found.st_mode);
}

}  // namespace

Descriptor& Descriptor::operator=(Descriptor&& other) noexcept {
  if (this != &other) {
    reset();
    fd_ = other.release();
  }
  return *this;
}

int Descriptor::release() { return std::exchange(fd_, -1); }

void Descriptor::reset() {
  if (fd_ >= 0) ::close(std::exchange(fd_, -1));
}

Error error_from_errno(int error_number, std::string_view doing_what) {
  return {code_of(error_number),
          fmt::format("cannot {}: {}", doing_what, std::generic_category().message(error_number)),
          {}};
}

Result<TemporaryFile> TemporaryFile::make(const std::string& directory) {
  TemporaryFile made;
  std::string path = fmt::format("{}/.tmp-{}", directory, random_hex(16));
  made.file_ = Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made.file_) return failed("create", path);
  made.path_ = std::move(path);
  return made;
}

TemporaryFile::TemporaryFile(TemporaryFile&& other) noexcept
    : path_(std::exchange(other.path_, {})), file_(std::move(other.file_)) {}

TemporaryFile& TemporaryFile::operator=(TemporaryFile&& other) noexcept {
  if (this != &other) {
    if (!path_.empty()) ::unlink(path_.c_str());
    path_ = std::exchange(other.path_, {});
    file_ = std::move(other.file_);
  }
  return *this;
}

TemporaryFile::~TemporaryFile() {
  if (!path_.empty()) ::unlink(path_.c_str());
}

Status TemporaryFile::write(std::string_view bytes) { return write_all(file_.get(), bytes); }

Status TemporaryFile::sync() {
  if (::fsync(file_.get()) != 0) return failed("sync", path_);
  return Done{};
}

Status TemporaryFile::persist(const std::string& target) {
  if (::rename(path_.c_str(), target.c_str()) != 0) return failed("rename to", target);
  path_.clear();
  return Done{};
}

Result<std::string> read_file(const std::string& path, std::uint64_t limit) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return failed("open", path);
  std::string bytes;
  char buffer[64 * 1024];
  while (true) {
    const ssize_t count = ::read(file.get(), buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read", path);
    if (count == 0) return bytes;
    if (bytes.size() + static_cast<std::size_t>(count) > limit) {
      return fail(Code::TooLarge, fmt::format("'{}' is larger than {} bytes", path, limit));
    }
    bytes.append(buffer, static_cast<std::size_t>(count));
  }
}

Status write_file(const std::string& path, std::string_view bytes, unsigned mode) {
  const std::string directory = parent_of(path);
  TemporaryFile file = TRY(TemporaryFile::make(directory));
  if (::fchmod(file.fd(), mode) != 0) return failed("set the mode of", file.path());
  TRY(file.write(bytes));
  TRY(file.sync());
  TRY(file.persist(path));
  return sync_directory(directory);
}

Status make_directories(const std::string& path, unsigned mode) {
  if (path.empty() || ::mkdir(path.c_str(), mode) == 0) return Done{};
  if (errno == EEXIST && is_directory(path)) return Done{};
  if (errno != ENOENT) return failed("make the directory", path);
  const std::string parent = parent_of(path);
  if (parent == path || parent == ".") return failed("make the directory", path);
  TRY(make_directories(parent, mode));
  if (::mkdir(path.c_str(), mode) == 0 || is_directory(path)) return Done{};
  return failed("make the directory", path);
}

Status sync_directory(const std::string& path) {
  const Descriptor directory(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) return failed("open", path);
  if (::fsync(directory.get()) != 0) return failed("sync", path);
  return Done{};
}

Status write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return fail(error_from_errno(errno, "write"));
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return Done{};
}

namespace {

Result<Descriptor> lock_file(const std::string& path, int operation) {
  Descriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!file) return failed("open", path);
  while (::flock(file.get(), operation) != 0) {
    if (errno == EWOULDBLOCK) {
      return fail(Code::Conflict, fmt::format("'{}' is locked by another process", path));
    }
    if (errno != EINTR) return failed("lock", path);
  }
  return file;
}

}  // namespace

Result<FileLock> FileLock::try_lock(const std::string& path) {
  return FileLock(TRY(lock_file(path, LOCK_EX | LOCK_NB)));
}

Result<FileLock> FileLock::lock_within(const std::string& path, Duration patience) {
  constexpr Duration kPause(20);
  while (true) {
    Result<FileLock> locked = try_lock(path);
    const bool is_taken = !locked && locked.error().code == Code::Conflict;
    if (!is_taken || patience <= Duration(0)) return locked;
    std::this_thread::sleep_for(kPause);
    patience -= kPause;
  }
}

Result<FileLock> FileLock::lock(const std::string& path) {
  return FileLock(TRY(lock_file(path, LOCK_EX)));
}

}  // namespace berth::io
