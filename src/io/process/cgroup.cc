// SPDX-License-Identifier: Apache-2.0
#include "io/process/cgroup.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <map>
#include <memory>

#include "base/text.h"
#include "io/files/file.h"
#include "io/process/process.h"

namespace berth::io {
namespace {

using Kind = CgroupHierarchy::Kind;

/// Control files take one write and are never made.
bool write_control(const std::string& path, std::string_view text) {
  const Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  return file && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool make_directory(const std::string& path) {
  return ::mkdir(path.c_str(), 0755) == 0 || errno == EEXIST;
}

std::uint64_t read_number(std::string_view text) {
  std::uint64_t number = 0;
  text = trim(text);
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// The value of a line "key value" of a control file; 0 when there is none.
std::uint64_t find_counter(std::string_view text, std::string_view key) {
  for (const std::string_view line : split(text, '\n')) {
    if (line.starts_with(key) && line.substr(key.size()).starts_with(' ')) {
      return read_number(line.substr(key.size()));
    }
  }
  return 0;
}

std::uint64_t read_counter(const std::string& path, std::string_view key) {
  const Result<std::string> text = read_file(path, 64 * 1024);
  return text ? find_counter(*text, key) : 0;
}

constexpr const char* kKillFiles[] = {"/memory.events", "/memory.oom_control"};

bool has_word(std::string_view list, std::string_view word) {
  const auto words = split(list, ',');
  return std::ranges::find(words, word) != words.end();
}

std::optional<Kind> kind_of(std::string_view file_system, std::string_view options) {
  if (file_system == "cgroup2") return Kind::Unified;
  if (file_system != "cgroup") return std::nullopt;
  if (has_word(options, "memory")) return Kind::Memory;
  if (has_word(options, "pids")) return Kind::Pids;
  if (has_word(options, "cpu")) return Kind::Cpu;
  return std::nullopt;
}

/// This process's path in each hierarchy, from lines "4:memory:/path" and "0::/path".
std::map<Kind, std::string_view> own_paths(std::string_view groups) {
  std::map<Kind, std::string_view> paths;
  for (const std::string_view line : split(groups, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const auto kind = controllers.empty() ? Kind::Unified : kind_of("cgroup", controllers);
    if (kind) paths[*kind] = line.substr(second + 1);
  }
  return paths;
}

/// Where a group's path is visible under a mount of part of the tree; empty when it is not.
std::string below_mount(std::string_view mount_point, std::string_view mount_root,
                        std::string_view path) {
  if (path.find("..") != std::string_view::npos) return {};
  if (mount_root != "/") {
    if (!path.starts_with(mount_root)) return {};
    path.remove_prefix(mount_root.size());
  }
  if (path == "/") path = "";
  return std::string(mount_point) + std::string(path);
}

void set_memory_limit(const std::string& directory, std::uint64_t limit) {
  const std::string bytes = std::to_string(limit);
  if (write_control(directory + "/memory.max", bytes)) {
    write_control(directory + "/memory.swap.max", "0");  // The limit is of memory, not of RAM.
  } else if (write_control(directory + "/memory.limit_in_bytes", bytes)) {
    write_control(directory + "/memory.memsw.limit_in_bytes", bytes);
  }
}

std::optional<std::string> make_group(const CgroupHierarchy& hierarchy, const std::string& name) {
  const std::string parent = hierarchy.own_directory + "/berth";
  const std::string directory = parent + "/" + name;
  if (!make_directory(parent)) return std::nullopt;
  if (hierarchy.kind == Kind::Unified) {
    // Refused when the own group has processes of its own, which is usual; then there is still
    // kill.
    write_control(hierarchy.own_directory + "/cgroup.subtree_control", "+memory");
    write_control(parent + "/cgroup.subtree_control", "+memory");
  }
  if (!make_directory(directory)) return std::nullopt;
  return directory;
}

std::string parent_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

/// Version 2: in the group itself, once its parents hand the controller on.
bool limit_cpu_of(const std::string& group, const std::string& quota, const std::string& period) {
  if (::access((group + "/cgroup.controllers").c_str(), F_OK) != 0) return false;
  const std::string parent = parent_of(group);
  write_control(parent_of(parent) + "/cgroup.subtree_control", "+cpu");
  write_control(parent + "/cgroup.subtree_control", "+cpu");
  return write_control(group + "/cpu.max", quota + " " + period);
}

bool limit_processes_of(const std::string& group, const std::string& most) {
  const std::string file = group + "/pids.max";
  if (write_control(file, most)) return true;
  if (::access((group + "/cgroup.controllers").c_str(), F_OK) != 0) return false;
  const std::string parent = parent_of(group);
  write_control(parent_of(parent) + "/cgroup.subtree_control", "+pids");
  write_control(parent + "/cgroup.subtree_control", "+pids");
  return write_control(file, most);
}

std::vector<std::string> subdirectories(const std::string& directory) {
  std::vector<std::string> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(::opendir(directory.c_str()), ::closedir);
  while (const dirent* entry = entries ? ::readdir(entries.get()) : nullptr) {
    const std::string_view name = entry->d_name;
    if (entry->d_type == DT_DIR && name != "." && name != "..") {
      found.push_back(directory + "/" + std::string(name));
    }
  }
  return found;
}

void collect_members(const std::string& directory, std::vector<pid_t>& members) {
  if (const Result<std::string> text = read_file(directory + "/cgroup.procs")) {
    for (const std::string_view line : split(*text, '\n')) {
      if (const auto pid = static_cast<pid_t>(read_number(line)); pid > 0) members.push_back(pid);
    }
  }
  for (const std::string& child : subdirectories(directory)) collect_members(child, members);
}

void remove_group(const std::string& directory) {
  for (const std::string& child : subdirectories(directory)) remove_group(child);
  constexpr int kTries = 20;  // Members that have just died may count for a moment more.
  for (int attempt = 0; attempt < kTries; ++attempt) {
    if (::rmdir(directory.c_str()) == 0 || errno != EBUSY) return;
    ::usleep(2'000);
  }
}

}  // namespace

std::vector<CgroupHierarchy> parse_hierarchies(std::string_view mounts, std::string_view groups) {
  const std::map<Kind, std::string_view> paths = own_paths(groups);
  std::map<Kind, std::string> found;
  for (const std::string_view line : split(mounts, '\n')) {
    const std::size_t separator = line.find(" - ");
    if (separator == std::string_view::npos) continue;
    const auto front = split(line.substr(0, separator), ' ');
    const auto back = split(line.substr(separator + 3), ' ');
    if (front.size() < 5 || back.size() < 3) continue;
    const auto kind = kind_of(back[0], back[2]);
    if (!kind || !paths.contains(*kind)) continue;
    const std::string directory = below_mount(front[4], front[3], paths.at(*kind));
    if (!directory.empty()) found.emplace(*kind, directory);
  }
  std::vector<CgroupHierarchy> hierarchies;
  for (const auto& [kind, directory] : found) hierarchies.push_back({kind, directory});
  return hierarchies;
}

std::vector<CgroupHierarchy> own_hierarchies() {
  const Result<std::string> mounts = read_file("/proc/self/mountinfo");
  const Result<std::string> groups = read_file("/proc/self/cgroup");
  if (!mounts || !groups) return {};
  return parse_hierarchies(*mounts, *groups);
}

Result<Cgroup> Cgroup::make(const std::string& name, std::optional<std::uint64_t> memory_limit) {
  return make(own_hierarchies(), name, memory_limit);
}

Result<Cgroup> Cgroup::make(const std::vector<CgroupHierarchy>& hierarchies,
                            const std::string& name, std::optional<std::uint64_t> memory_limit) {
  Cgroup group;
  for (const CgroupHierarchy& hierarchy : hierarchies) {
    if (hierarchy.kind == Kind::Cpu) continue;  // Only where there is something to limit.
    if (auto directory = make_group(hierarchy, name)) {
      group.directories_.push_back(std::move(*directory));
      group.homes_.push_back(hierarchy.own_directory);
    }
  }
  if (group.directories_.empty()) {
    return fail(Code::NotSupported, "this process may not make control groups");
  }
  if (memory_limit) {
    for (const std::string& directory : group.directories_) {
      set_memory_limit(directory, *memory_limit);
    }
  }
  return group;
}

void Cgroup::limit_cpu(const std::string& name, double cores) {
  constexpr double kPeriod = 100'000;  // Microseconds, in all of which it may use so many.
  constexpr double kLeast = 1'000;
  const std::string period = std::to_string(static_cast<std::int64_t>(kPeriod));
  const std::string quota =
      std::to_string(static_cast<std::int64_t>(std::max(cores * kPeriod, kLeast)));
  for (const std::string& directory : directories_) {
    if (limit_cpu_of(directory, quota, period)) return;
  }
  for (const CgroupHierarchy& hierarchy : own_hierarchies()) {
    if (hierarchy.kind != Kind::Cpu) continue;
    std::optional<std::string> directory = make_group(hierarchy, name);
    if (!directory) continue;
    write_control(*directory + "/cpu.cfs_period_us", period);
    write_control(*directory + "/cpu.cfs_quota_us", quota);
    directories_.push_back(std::move(*directory));
  }
}

bool Cgroup::limit_processes(std::uint64_t most) const {
  const std::string text = std::to_string(most);
  bool is_limited = false;
  for (const std::string& directory : directories_) {
    is_limited = limit_processes_of(directory, text) || is_limited;
  }
  return is_limited;
}

Cgroup Cgroup::adopt(std::vector<std::string> directories) {
  Cgroup group;
  group.directories_ = std::move(directories);
  return group;
}

Cgroup Cgroup::find(const std::vector<CgroupHierarchy>& hierarchies, const std::string& name) {
  Cgroup group;
  for (const CgroupHierarchy& hierarchy : hierarchies) {
    std::string directory = hierarchy.own_directory + "/berth/" + name;
    if (::access(directory.c_str(), F_OK) == 0) group.directories_.push_back(std::move(directory));
  }
  return group;
}

void Cgroup::enter() const {
  for (const std::string& directory : directories_) write_control(directory + "/cgroup.procs", "0");
}

void Cgroup::leave() const {
  for (const std::string& directory : homes_) write_control(directory + "/cgroup.procs", "0");
}

bool Cgroup::is_empty() const { return members().empty(); }

std::vector<pid_t> Cgroup::members() const {
  std::vector<pid_t> members;
  for (const std::string& directory : directories_) collect_members(directory, members);
  std::ranges::sort(members);
  const auto repeated = std::ranges::unique(members);
  members.erase(repeated.begin(), repeated.end());
  std::erase(members, ::getpid());
  return members;
}

void Cgroup::kill() const {
  leave();
  for (const std::string& directory : directories_) write_control(directory + "/cgroup.kill", "1");
  for (const pid_t pid : members()) {
    if (const Result<ProcessIdentity> member = identify(pid)) (void)send_signal(*member, SIGKILL);
  }
}

std::uint64_t Cgroup::out_of_memory_kills() const {
  std::uint64_t kills = 0;
  for (const std::string& directory : directories_) {
    for (const char* const file : kKillFiles) {
      kills = std::max(kills, read_counter(directory + file, "oom_kill"));
    }
  }
  return kills;
}

KillCounter::KillCounter(const Cgroup& group) {
  for (const std::string& directory : group.directories()) {
    for (const char* const name : kKillFiles) {
      Descriptor file(::open((directory + name).c_str(), O_RDONLY | O_CLOEXEC));
      if (file) files_.push_back(std::move(file));
    }
  }
}

std::uint64_t KillCounter::read() const {
  std::uint64_t kills = 0;
  for (const Descriptor& file : files_) {
    char text[1024];
    const ssize_t size = ::pread(file.get(), text, sizeof text, 0);
    if (size <= 0) continue;
    const std::string_view counters(text, static_cast<std::size_t>(size));
    kills = std::max(kills, find_counter(counters, "oom_kill"));
  }
  return kills;
}

MemoryUse Cgroup::memory_use() const {
  MemoryUse use{.out_of_memory_kills = out_of_memory_kills()};
  for (const std::string& directory : directories_) {
    for (const char* const file : {"/memory.peak", "/memory.max_usage_in_bytes"}) {
      const Result<std::string> text = read_file(directory + file, 4096);
      if (text) use.peak_bytes = std::max(use.peak_bytes, read_number(*text));
    }
  }
  return use;
}

void Cgroup::remove() const {
  for (const std::string& directory : directories_) remove_group(directory);
}

void remove_stale_groups(const std::vector<CgroupHierarchy>& hierarchies,
                         const std::function<bool(std::string_view)>& is_stale) {
  for (const CgroupHierarchy& hierarchy : hierarchies) {
    for (const std::string& directory : subdirectories(hierarchy.own_directory + "/berth")) {
      const std::string_view name = std::string_view(directory).substr(directory.rfind('/') + 1);
      if (is_stale(name)) ::rmdir(directory.c_str());
    }
  }
}

}  // namespace berth::io
