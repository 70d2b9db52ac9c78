// SPDX-License-Identifier: Apache-2.0
#include "node/remote.h"

#include <dirent.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <memory>

#include "base/log.h"
#include "base/text.h"
#include "io/address.h"
#include "io/files/file.h"
#include "io/process/process.h"
#include "io/process/signals.h"
#include "node/agent.h"
#include "node/files/attempt_files.h"
#include "target/surroundings.h"

namespace berth::node {
namespace {

using target::Environment;

constexpr std::string_view kPrefix = "berth-node-";

std::string variable(const Environment& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

/// A directory that only this user can enter, and that goes with this object.
class OwnDirectory {
 public:
  static Result<OwnDirectory> make(const std::string& base) {
    TRY(io::make_directories(base));
    std::string path = fmt::format("{}/{}XXXXXX", base, kPrefix);
    if (::mkdtemp(path.data()) == nullptr) {
      return fail(io::error_from_errno(errno, fmt::format("make a directory in '{}'", base)));
    }
    return OwnDirectory(base, path);
  }
  ~OwnDirectory() {
    if (path_.empty()) return;
    if (const auto root = io::Root::open(base_)) {
      (void)root->remove_tree(path_.substr(base_.size() + 1));
    }
  }
  OwnDirectory(OwnDirectory&& other) noexcept
      : base_(std::move(other.base_)), path_(std::exchange(other.path_, {})) {}

  std::string operator/(std::string_view name) const { return fmt::format("{}/{}", path_, name); }

 private:
  OwnDirectory(std::string base, std::string path)
      : base_(std::move(base)), path_(std::move(path)) {}

  std::string base_;
  std::string path_;
};

/// Nobody's: not an agent's, and no job of one is still running there.
bool is_abandoned(const std::string& directory, WallTime now) {
  struct stat found {};
  if (::lstat(directory.c_str(), &found) != 0 || !S_ISDIR(found.st_mode) ||
      found.st_uid != ::geteuid()) {
    return false;
  }
  // One that has just been made is not locked yet.
  if (now - WallTime(std::chrono::seconds(found.st_mtime)) < std::chrono::hours(1)) return false;
  const std::string work = directory + "/work";
  const auto is_free = [](const std::string& lock) {
    return ::access(lock.c_str(), F_OK) != 0 || io::FileLock::try_lock(lock).has_value();
  };
  if (!is_free(work + "/agent.lock")) return false;
  return std::ranges::all_of(find_attempts(work), [&](const std::string& attempt) {
    return is_free(AttemptPaths(work + "/" + attempt).lock);
  });
}

std::string address_towards(const io::ServerAddress& server) {
  Result<std::string> address = io::local_address_towards(server);
  if (address) return *std::move(address);
  log::warning("{}", address.error().message);
  char name[256] = {};
  ::gethostname(name, sizeof name - 1);
  return name;
}

}  // namespace

void remove_abandoned(const std::string& base, WallTime now) {
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(base.c_str()), ::closedir);
  const auto root = io::Root::open(base);
  while (const dirent* entry = entries && root ? ::readdir(entries.get()) : nullptr) {
    const std::string name = entry->d_name;
    if (name.starts_with(kPrefix) && is_abandoned(base + "/" + name, now)) {
      log::info("removing '{}', which a killed agent left", name);
      (void)root->remove_tree(name);
    }
  }
}

Status run_remote_node(const RemoteArguments& arguments) {
  // Until there is somebody to hear them, and again while we tidy up: a site that takes its machine
  // back would else end us half way, and our files would stay.
  const io::SignalMask held = io::SignalMask::hold({SIGTERM, SIGINT});
  const Environment environment = io::current_environment();
  const io::ServerAddress server = TRY(io::parse_https_address(arguments.server));
  const std::string token = TRY(io::read_file(arguments.token_file, 4096));
  const std::string authority = TRY(io::read_file(arguments.authority_file, 64 * 1024));
  std::string base = arguments.work_directory;
  if (base.empty()) base = variable(environment, "TMPDIR");
  if (base.empty()) base = "/tmp";
  remove_abandoned(base, SystemClock().now().wall);
  const OwnDirectory directory = TRY(OwnDirectory::make(base));
  TRY(replace_file(directory / "ca.pem", authority));
  const target::Surroundings surroundings = target::surroundings_of(environment);
  AgentOptions options{.id = arguments.id,
                       .work_root = directory / "work",
                       .slots = arguments.slots,
                       .address = address_towards(server),
                       .ends_at = surroundings.ends_at};
  options.remote = RemoteServer{.address = server,
                                .token = std::string(trim(token)),
                                .authority = authority,
                                .authority_file = directory / "ca.pem"};
  TRY(run_agent(options));
  // In good order: nobody will want to know what was said at the start.
  if (!surroundings.left_behind.empty()) ::unlink(surroundings.left_behind.c_str());
  return Done{};
}

}  // namespace berth::node
