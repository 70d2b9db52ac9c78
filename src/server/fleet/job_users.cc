// SPDX-License-Identifier: Apache-2.0
#include "server/fleet/job_users.h"

#include <fmt/format.h>
#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <vector>

#include "io/files/file.h"
#include "wire/yaml/document.h"

namespace berth::server {
namespace {

constexpr mode_t kPassage = 0711;

/// The file decides who runs as whom.
Status check_file(const std::string& file) {
  struct stat found {};
  if (::stat(file.c_str(), &found) != 0) {
    return fail(io::error_from_errno(errno, fmt::format("read '{}'", file)));
  }
  if (found.st_uid == 0 && (found.st_mode & 022u) == 0) return Done{};
  return fail(Code::Forbidden,
              fmt::format("'{}' must belong to root and be writable by nobody else", file));
}

Status check_unix_user(const std::string& name) {
  std::vector<char> memory(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  (void)::getpwnam_r(name.c_str(), &entry, memory.data(), memory.size(), &found);
  if (found == nullptr) {
    return fail(Code::NotFound, fmt::format("this machine has no user '{}'", name));
  }
  if (found->pw_uid == 0) return fail(Code::Forbidden, "jobs do not run as root");
  return Done{};
}

}  // namespace

Result<std::string> JobUsers::unix_user_of(const std::string& berth_user) const {
  const auto found = names_.find(berth_user);
  if (found != names_.end()) return found->second;
  return fail(Code::Forbidden,
              fmt::format("no Unix user is set for the jobs of '{}'; the operator does that in the "
                          "file of 'berth server --job-users'",
                          berth_user));
}

Result<JobUsers> load_job_users(const std::string& file) {
  if (::geteuid() != 0) {
    return fail(Code::Forbidden, "--job-users needs a server that runs as root");
  }
  TRY(check_file(file));
  const wire::yaml::Node root = TRY(wire::yaml::load(file));
  TRY(wire::yaml::check_mapping(root, "job users"));
  std::map<std::string, std::string> names;
  for (const auto& [berth_user, node] : root.members) {
    const std::string unix_user = TRY(wire::yaml::as_text(node, berth_user));
    const Status known = check_unix_user(unix_user);
    if (!known) return wire::yaml::error_at(node.mark, known.error().message);
    names[berth_user] = unix_user;
  }
  return JobUsers(std::move(names));
}

Result<std::string> open_job_directory(const std::string& home) {
  const std::filesystem::path directory = home + "-jobs";
  TRY(io::make_directories(directory, kPassage));
  if (::chmod(directory.c_str(), kPassage) != 0) {  // Whatever our umask says.
    return fail(io::error_from_errno(errno, fmt::format("open '{}'", directory.string())));
  }
  for (auto above = directory; above != above.root_path(); above = above.parent_path()) {
    struct stat found {};
    if (::stat(above.c_str(), &found) == 0 && (found.st_mode & S_IXOTH) != 0) continue;
    return fail(Code::Forbidden,
                fmt::format("jobs of other users cannot reach '{}', since '{}' is closed to them; "
                            "choose another --home or open it (chmod o+x)",
                            directory.string(), above.string()));
  }
  return directory.string();
}

}  // namespace berth::server
