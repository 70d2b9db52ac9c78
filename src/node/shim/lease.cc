// SPDX-License-Identifier: Apache-2.0
#include "node/shim/lease.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>

namespace berth::node {
namespace {

constexpr const char* kName = "/lease";
constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
// Sleeping does not count the time a machine is suspended, and the deadline does.
constexpr Duration kLongestLook(500);
constexpr Duration kForever = std::chrono::hours(24);

/// Twice, so that one who reads while it is written notices.
struct Stored {
  std::int64_t deadline = 0;
  std::int64_t complement = 0;
};

/// What cannot be read has lapsed: nobody could say otherwise.
Deadline read_deadline(int file) {
  constexpr int kTries = 100;
  for (int tries = 0; tries < kTries; ++tries) {
    Stored stored;
    if (::pread(file, &stored, sizeof stored, 0) != sizeof stored) break;
    if (stored.deadline != ~stored.complement) continue;
    if (stored.deadline == kNever) return std::nullopt;
    return Duration(stored.deadline);
  }
  return Duration(0);
}

}  // namespace

Result<LeaseFile> LeaseFile::make(const std::string& work_root) {
  LeaseFile made;
  const std::string path = work_root + kName;
  made.file_ =
      io::Descriptor(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!made.file_) return fail(io::error_from_errno(errno, "make the file of the lease"));
  TRY(made.set(Duration(0)));
  return made;
}

Status LeaseFile::set(const Deadline& deadline) {
  const std::int64_t value = deadline ? deadline->count() : kNever;
  const Stored stored{value, ~value};
  if (::pwrite(file_.get(), &stored, sizeof stored, 0) == sizeof stored) return Done{};
  return fail(io::error_from_errno(errno, "write the lease"));
}

LeaseWatch::LeaseWatch(const std::string& attempt_directory)
    : file_(::open((attempt_directory + "/../../.." + kName).c_str(),
                   O_RDONLY | O_CLOEXEC | O_NOFOLLOW)) {
  if (file_) deadline_ = read_deadline(file_.get());
}

bool LeaseWatch::has_lapsed(Duration now) {
  if (file_) deadline_ = read_deadline(file_.get());
  return deadline_ && now >= *deadline_;
}

Duration LeaseWatch::pause(Duration now) const {
  if (!file_) return kForever;
  if (!deadline_) return kLongestLook;
  return std::clamp(*deadline_ - now, Duration(1), kLongestLook);
}

}  // namespace berth::node
