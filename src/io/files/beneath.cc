// SPDX-License-Identifier: Apache-2.0
#include "io/files/beneath.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>

#include "base/text.h"

namespace berth::io {
namespace {

tl::unexpected<Error> failed(std::string_view relative) {
  return fail(error_from_errno(errno, fmt::format("open '{}'", relative)));
}

int openat2(int directory, const std::string& path, int flags, unsigned mode) {
  open_how how{};
  how.flags = static_cast<unsigned>(flags | O_CLOEXEC);
  how.mode = (flags & O_CREAT) != 0 ? mode : 0;
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
  return static_cast<int>(::syscall(SYS_openat2, directory, path.c_str(), &how, sizeof how));
}

}  // namespace

Result<std::vector<std::string_view>> checked_segments(std::string_view relative) {
  if (relative.ends_with('/')) relative.remove_suffix(1);
  std::vector<std::string_view> segments = split(relative, '/');
  for (const std::string_view segment : segments) {
    const bool is_bad = segment.empty() || segment == "." || segment == ".." ||
                        segment.find('\0') != std::string_view::npos;
    if (is_bad) {
      return fail(Code::InvalidArgument, fmt::format("'{}' is not a path inside", relative));
    }
  }
  return segments;
}

Result<Descriptor> open_beneath(int directory, std::string_view relative, int flags,
                                unsigned mode) {
  TRY(checked_segments(relative));
  const std::string path(relative);
  constexpr int kMostTries = 16;  // EAGAIN: something was renamed while the kernel resolved.
  for (int attempt = 0; attempt < kMostTries; ++attempt) {
    Descriptor opened(openat2(directory, path, flags, mode));
    if (opened) return opened;
    if (errno != EAGAIN && errno != EINTR) break;
  }
  // EPERM: a sandbox that does not know the call yet.
  if (errno == ENOSYS || errno == EPERM) {
    return open_beneath_by_segment(directory, relative, flags, mode);
  }
  return failed(relative);
}

Result<Descriptor> open_beneath_by_segment(int directory, std::string_view relative, int flags,
                                           unsigned mode) {
  const std::vector<std::string_view> segments = TRY(checked_segments(relative));
  Descriptor parent;
  int at = directory;
  for (std::size_t index = 0; index + 1 < segments.size(); ++index) {
    const std::string name(segments[index]);
    Descriptor next(::openat(at, name.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!next) return failed(relative);
    parent = std::move(next);
    at = parent.get();
  }
  const std::string name(segments.back());
  Descriptor opened(::openat(at, name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!opened) return failed(relative);
  return opened;
}

}  // namespace berth::io
