// SPDX-License-Identifier: Apache-2.0
#include "node/files/job_user.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <grp.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <memory>

#include "io/files/file.h"

namespace berth::node {
namespace {

constexpr int kDirectoryFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t kPassage = 0711;  ///< Who knows the way may go through; nobody else may look.
constexpr std::string_view kOurs = "user_logs";
constexpr int kDeepest = 200;

tl::unexpected<Error> failed(std::string_view doing) {
  return fail(io::error_from_errno(errno, doing));
}

/// What is in the directory, besides "." and "..".
Result<std::vector<std::string>> names_in(int directory) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(
      ::fdopendir(::fcntl(directory, F_DUPFD_CLOEXEC, 0)), ::closedir);
  if (!entries) return failed("read a directory");
  std::vector<std::string> names;
  while (const dirent* entry = ::readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  return names;
}

Status give(int directory, const std::string& name, const JobUser& user, int depth);

Status give_contents(int directory, const JobUser& user, int depth) {
  if (depth > kDeepest) return fail(Code::TooLarge, "folders are nested too deep");
  for (const std::string& name : TRY(names_in(directory))) TRY(give(directory, name, user, depth));
  return Done{};
}

/// A folder last: while it is ours nobody else can put anything into it.
Status give(int directory, const std::string& name, const JobUser& user, int depth) {
  const io::Descriptor folder(::openat(directory, name.c_str(), kDirectoryFlags));
  if (folder) TRY(give_contents(folder.get(), user, depth + 1));
  if (::fchownat(directory, name.c_str(), user.uid, user.gid, AT_SYMLINK_NOFOLLOW) != 0) {
    return failed(fmt::format("give '{}' to {}", name, user.name));
  }
  return Done{};
}

}  // namespace

Result<JobUser> find_job_user(const std::string& name) {
  std::vector<char> memory(16 * 1024);
  passwd entry{};
  passwd* found = nullptr;
  const int reason = ::getpwnam_r(name.c_str(), &entry, memory.data(), memory.size(), &found);
  if (found == nullptr) {
    if (reason != 0 && reason != ENOENT) {
      return fail(io::error_from_errno(reason, fmt::format("look up the user '{}'", name)));
    }
    return fail(Code::NotFound, fmt::format("this machine has no user '{}'", name));
  }
  if (entry.pw_uid == 0) {
    return fail(Code::Forbidden, fmt::format("jobs do not run as root ('{}')", name));
  }
  JobUser user{.name = name,
               .uid = entry.pw_uid,
               .gid = entry.pw_gid,
               .home = entry.pw_dir,
               .shell = entry.pw_shell};
  int count = 64;
  user.groups.resize(static_cast<std::size_t>(count));
  if (::getgrouplist(name.c_str(), user.gid, user.groups.data(), &count) < 0) {
    user.groups.resize(static_cast<std::size_t>(count));
    ::getgrouplist(name.c_str(), user.gid, user.groups.data(), &count);
  }
  user.groups.resize(static_cast<std::size_t>(count));
  return user;
}

Status hand_over(const AttemptPaths& paths, const JobUser& user) {
  const io::Descriptor attempt(::open(paths.directory.c_str(), kDirectoryFlags));
  if (!attempt) return failed("open the attempt's directory");
  for (const std::string& name : TRY(names_in(attempt.get()))) {
    struct stat found {};
    const bool is_folder =
        ::fstatat(attempt.get(), name.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISDIR(found.st_mode);
    if (is_folder && name != kOurs) TRY(give(attempt.get(), name, user, 0));
  }
  for (const char* const above : {".", "..", "../.."}) {  // <workspace>/<job>/<attempt>
    if (::fchmodat(attempt.get(), above, kPassage, 0) != 0) return failed("open the way");
  }
  return Done{};
}

bool become(const JobUser& user) {
  // System calls themselves: the C library's would speak to threads that are not there.
  return ::syscall(SYS_setgroups, user.groups.size(), user.groups.data()) == 0 &&
         ::syscall(SYS_setresgid, user.gid, user.gid, user.gid) == 0 &&
         ::syscall(SYS_setresuid, user.uid, user.uid, user.uid) == 0 &&
         ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
}

std::map<std::string, std::string> environment_of(const JobUser& user,
                                                  const std::map<std::string, std::string>& base) {
  std::map<std::string, std::string> variables = {
      {"HOME", user.home}, {"LOGNAME", user.name}, {"SHELL", user.shell}, {"USER", user.name}};
  variables.insert(base.begin(), base.end());  // Those above stay.
  return variables;
}

}  // namespace berth::node
