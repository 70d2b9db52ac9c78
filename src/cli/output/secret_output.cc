// SPDX-License-Identifier: Apache-2.0
#include "cli/output/secret_output.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace berth::cli {
namespace {

constexpr mode_t kOthers = 077;

}  // namespace

void protect_output(const Console& console) {
  struct stat found {};
  if (::fstat(console.out_fd, &found) != 0 || !S_ISREG(found.st_mode)) return;
  if ((found.st_mode & kOthers) == 0) return;
  const bool is_new = found.st_size == 0 && found.st_uid == ::geteuid() && found.st_nlink == 1;
  if (is_new && ::fchmod(console.out_fd, found.st_mode & 07777 & ~kOthers) == 0) return;
  console.warning(
      fmt::format("what is printed holds a token, and others can read the file that it goes to "
                  "(mode {:04o})",
                  found.st_mode & 07777));
}

Result<SecretFile> SecretFile::make(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code failed;
  if (fs::exists(path, failed) && !fs::is_regular_file(fs::symlink_status(path, failed))) {
    return fail(Code::InvalidArgument, fmt::format("'{}' is there and is not a file", path));
  }
  const std::string folder = fs::path(path).parent_path().string();
  return SecretFile(path, TRY(io::TemporaryFile::make(folder.empty() ? "." : folder)));
}

Status SecretFile::keep(std::string_view secret) {
  TRY(file_.write(fmt::format("{}\n", secret)));
  TRY(file_.sync());
  return file_.persist(path_);
}

}  // namespace berth::cli
