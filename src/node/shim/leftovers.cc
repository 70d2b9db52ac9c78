// SPDX-License-Identifier: Apache-2.0
#include "node/shim/leftovers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>

#include "base/digest.h"
#include "base/log.h"
#include "base/text.h"
#include "io/process/cgroup.h"
#include "node/shim/process_tree.h"

namespace berth::node {
namespace {

constexpr Duration kLook(10);
constexpr int kMostLooks = 1000;

void kill_group(const io::Cgroup& group, const std::string& marker) {
  constexpr int kMostRounds = 100;  // Processes fork while we look.
  for (int round = 0; round < kMostRounds; ++round) {
    group.kill();
    const std::vector<io::ProcessIdentity> left = processes_marked(marker);
    for (const io::ProcessIdentity& process : left) (void)io::send_signal(process, SIGKILL);
    if (left.empty() && group.is_empty()) break;
    ::usleep(10'000);
  }
  group.remove();
}

/// The lock of an attempt, after which nobody begins it. A shim that has it is killed; one that has
/// not said yet who it is says so, or finds that its agent is gone.
Result<io::FileLock> take_from_shim(const AttemptPaths& paths) {
  for (int look = 0; look < kMostLooks; ++look) {
    const auto shim = read_record<ShimRecord>(paths.shim);
    if (shim) (void)io::send_signal(shim->process, SIGKILL);
    Result<io::FileLock> lock = io::FileLock::lock_within(paths.lock, kLook);
    if (lock) return lock;
  }
  return fail(Code::Unavailable, fmt::format("'{}' does not end", paths.directory));
}

}  // namespace

std::string group_name(const AttemptPaths& paths) {
  // Hashed: job names are longer and wider than what a directory of the kernel's may be called.
  return to_hex(sha256(marker_of(paths))).substr(0, 24);
}

void kill_leftovers(const AttemptPaths& paths, RuntimeOf runtime_of) {
  const auto shim = read_record<ShimRecord>(paths.shim);
  if (shim) kill_group(io::Cgroup::adopt(shim->cgroups), marker_of(paths));
  // It may have died between making its group and saying so.
  kill_group(io::Cgroup::find(io::own_hierarchies(), group_name(paths)), marker_of(paths));
  const auto record = read_record<LaunchRecord>(paths.launch);
  const Status cleaned = record ? runtime_of(record->launch).clean_up(paths) : Status(Done{});
  if (!cleaned) log::warning("'{}': {}", paths.directory, cleaned.error().message);
}

Status sweep(const std::string& work_root) {
  const io::FileLock no_agent = TRY(io::FileLock::try_lock(work_root + "/agent.lock"));
  for (const std::string& directory : find_attempts(work_root)) {
    const AttemptPaths paths(work_root + "/" + directory);
    const io::FileLock no_shim = TRY(take_from_shim(paths));
    kill_leftovers(paths);
    log::info("removing '{}', which is nobody's", directory);
    remove_set_aside(work_root, TRY(set_aside(work_root, directory)));
  }
  for (const std::string& path : find_leavings(work_root)) remove_set_aside(work_root, path);
  return Done{};
}

}  // namespace berth::node
